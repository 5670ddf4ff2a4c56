package dashboards

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/GoogleCloudPlatform/prometheus-engine/manifests"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	kubestrict "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// checkScraping checks a file of objects that let Managed Prometheus scrape a
// controller.
func checkScraping(content []byte) []error {
	var errs []error
	documents := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	secrets := map[string]bool{} // readable, by namespace/name
	var wanted []string
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(errs, err)
		}
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return append(errs, err)
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "kustomize.config.k8s.io/v1beta1 Kustomization":
		case "v1 ServiceAccount":
			errs = append(errs, strict(document, &corev1.ServiceAccount{})...)
		case "v1 Secret":
			secret := &corev1.Secret{}
			errs = append(errs, strict(document, secret)...)
			secrets[secret.Namespace+"/"+secret.Name] = true
		case "rbac.authorization.k8s.io/v1 ClusterRoleBinding":
			errs = append(errs, strict(document, &rbacv1.ClusterRoleBinding{})...)
		case "rbac.authorization.k8s.io/v1 Role":
			errs = append(errs, strict(document, &rbacv1.Role{})...)
		case "rbac.authorization.k8s.io/v1 RoleBinding":
			errs = append(errs, strict(document, &rbacv1.RoleBinding{})...)
		case "monitoring.googleapis.com/v1 PodMonitoring":
			token, podErrs := checkPodMonitoring(document)
			errs = append(errs, podErrs...)
			if token != "" {
				wanted = append(wanted, token)
			}
		default:
			errs = append(errs, fmt.Errorf("unexpected %s %s", kind.APIVersion, kind.Kind))
		}
	}
	for _, token := range wanted {
		if !secrets[token] {
			errs = append(errs, fmt.Errorf("PodMonitoring uses Secret %s, which the file does not have", token))
		}
	}
	return errs
}

// strict decodes a document like an API server that validates fields: it refuses
// duplicate and unknown keys, and distinguishes upper and lower case.
func strict(document []byte, into any) []error {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return []error{err}
	}
	errs, err := kubestrict.UnmarshalStrict(encoded, into)
	if err != nil {
		errs = append(errs, err)
	}
	return errs
}

// checkPodMonitoring checks an object against the CRD that Managed Prometheus ships,
// like an API server. It returns the Secret that the object reads, or "".
func checkPodMonitoring(document []byte) (token string, errs []error) {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return "", []error{err}
	}
	// The API server's own decoder: rules in CEL tell integers from floats.
	var object map[string]any
	if err := kubejson.Unmarshal(encoded, &object); err != nil {
		return "", []error{err}
	}
	props, err := podMonitoringSchema()
	if err != nil {
		return "", []error{err}
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return "", []error{err}
	}
	unknown := pruning.PruneWithOptions(object, structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, fmt.Errorf("PodMonitoring has no field %s", path))
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return "", append(errs, err)
	}
	for _, err := range validation.ValidateCustomResource(nil, object, validator) {
		errs = append(errs, err)
	}
	rules, _ := cel.NewValidator(structural, true, math.MaxInt64).
		Validate(context.Background(), field.NewPath(""), structural, object, nil, math.MaxInt64)
	for _, err := range rules {
		errs = append(errs, err)
	}

	var secret struct {
		Metadata struct{ Namespace string }
		Spec     struct {
			Endpoints []struct {
				Authorization struct {
					Credentials struct{ Secret struct{ Name string } }
				}
			}
		}
	}
	if err := yaml.Unmarshal(document, &secret); err != nil || len(secret.Spec.Endpoints) != 1 {
		return "", append(errs, fmt.Errorf("PodMonitoring: want one endpoint"))
	}
	name := secret.Spec.Endpoints[0].Authorization.Credentials.Secret.Name
	if name == "" {
		return "", errs
	}
	return secret.Metadata.Namespace + "/" + name, errs
}

// podMonitoringSchema finds the schema of PodMonitoring v1 among the CRDs of
// prometheus-engine.
func podMonitoringSchema() (*apiextensions.JSONSchemaProps, error) {
	documents := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests.CRDManifest)))
	for {
		document, err := documents.Read()
		if err != nil {
			return nil, fmt.Errorf("no CRD of PodMonitoring v1: %w", err)
		}
		if !strings.Contains(string(document), "kind: CustomResourceDefinition") {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(document, &crd); err != nil {
			return nil, err
		}
		if crd.Spec.Names.Kind != "PodMonitoring" {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if version.Name == "v1" {
				var props apiextensions.JSONSchemaProps
				err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
					version.Schema.OpenAPIV3Schema, &props, nil)
				return &props, err
			}
		}
	}
}
