// Package admission decides for tests whether a cluster with Kueue accepts objects of Kueue. It does
// what an API server does with Kueue's CRDs (unknown fields, defaults, schemas, expressions in CEL),
// and then asks the webhooks of Kueue's release.
package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/webhooks"
)

// Cluster accepts or rejects objects of Kueue.
type Cluster struct{ kinds map[string]kind }

// kind is what a cluster knows about one kind.
type kind struct {
	Definition
	strategy rest.RESTCreateStrategy
	webhook  func(context.Context, *unstructured.Unstructured) error // nil if Kueue has none
}

// New returns a cluster with the CRDs and webhooks of Kueue's release.
func New() (*Cluster, error) {
	definitions, err := Definitions()
	if err != nil {
		return nil, err
	}
	// Source: Kueue 0.19, config/components/webhook/manifests.yaml. The mutating webhooks of these kinds
	// only add a finalizer.
	hooks := map[string]func(context.Context, *unstructured.Unstructured) error{
		"ClusterQueue":   ask[kueue.ClusterQueue](&webhooks.ClusterQueueWebhook{}),
		"Cohort":         ask[kueue.Cohort](&webhooks.CohortWebhook{}),
		"ResourceFlavor": ask[kueue.ResourceFlavor](&webhooks.ResourceFlavorWebhook{}),
	}
	c := &Cluster{kinds: map[string]kind{}}
	for name, d := range definitions {
		validator, _, err := validation.NewSchemaValidator(d.properties)
		if err != nil {
			return nil, err
		}
		strategy := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(),
			d.CRD.Spec.Scope == "Namespaced", kueue.SchemeGroupVersion.WithKind(name), validator, nil, d.Schema, nil,
			nil, nil)
		c.kinds[name] = kind{d, strategy, hooks[name]}
	}
	return c, nil
}

// ask returns a function that lets a webhook decide about a new object.
func ask[T any, P interface {
	*T
	runtime.Object
}](webhook admission.Validator[P]) func(context.Context, *unstructured.Unstructured) error {
	return func(ctx context.Context, o *unstructured.Unstructured) error {
		typed := P(new(T))
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
			return err
		}
		_, err := webhook.ValidateCreate(logr.NewContext(ctx, logr.Discard()), typed)
		return err
	}
}

// Create reports why the cluster does not accept the objects of Kueue among YAML documents. It counts
// the objects, of which it keeps none.
func (c *Cluster) Create(ctx context.Context, documents []byte) (objects int, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4096)
	var rejected []error
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); errors.Is(err, io.EOF) {
			return objects, errors.Join(rejected...)
		} else if err != nil {
			return objects, err
		}
		if o.GroupVersionKind().Group != kueue.SchemeGroupVersion.Group {
			continue
		}
		objects++
		if err := c.create(ctx, o); err != nil {
			rejected = append(rejected, fmt.Errorf("%s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err))
		}
	}
}

func (c *Cluster) create(ctx context.Context, o *unstructured.Unstructured) error {
	k, known := c.kinds[o.GetKind()]
	if !known {
		return errors.New("no such kind")
	}
	unknown := pruning.PruneWithOptions(o.Object, k.Schema, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		return fmt.Errorf("unknown fields: %s", strings.Join(unknown, ", "))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(o.Object, k.Schema)
	defaulting.Default(o.Object, k.Schema)
	rest.FillObjectMetaSystemFields(o)
	if err := rest.BeforeCreate(k.strategy, request.WithNamespace(ctx, o.GetNamespace()), o); err != nil {
		return err
	}
	if k.webhook == nil {
		return nil
	}
	return k.webhook(ctx, o)
}
