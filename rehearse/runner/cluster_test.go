package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/batchwright/batchwright/rehearse/admission"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgo "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	controllers "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The types here are a cluster in memory: controller-runtime's fake client is the API
// server, and a real manager with a real cache of informers runs the controllers.

// apis are the types of the cluster.
var apis = func() *runtime.Scheme {
	out := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, batchv1.AddToScheme, nodev1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme,
		kueue.AddToScheme,
	} {
		utilruntime.Must(add(out))
	}
	return out
}()

// definition is a CRD of Kueue.
type definition struct {
	admission.Definition
	types managedfields.TypeConverter // decides what server-side apply merges
}

// definitions reads the CRDs of Kueue's release, by kind.
var definitions = sync.OnceValues(func() (map[string]definition, error) {
	crds, err := admission.Definitions()
	if err != nil {
		return nil, err
	}
	out := map[string]definition{}
	for kind, d := range crds {
		api, err := builder.BuildOpenAPIV3(d.CRD, kueue.SchemeGroupVersion.Version,
			builder.Options{StripValueValidation: true})
		if err != nil {
			return nil, err
		}
		types, err := managedfields.NewTypeConverter(api.Components.Schemas, false)
		if err != nil {
			return nil, err
		}
		out[kind] = definition{d, types}
	}
	return out, nil
})

// api is the client of the controllers: they read what the informers have seen.
type api struct {
	client.WithWatch
	reader client.Reader
}

func (a api) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return a.reader.Get(ctx, key, o, opts...)
}

func (a api) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return a.reader.List(ctx, list, opts...)
}

// newServer returns an API server in memory. uid gives the UIDs of objects.
func newServer(t testing.TB, mapper meta.RESTMapper, uid func(client.Object) types.UID) client.WithWatch {
	t.Helper()
	kinds, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	var converters []managedfields.TypeConverter
	for _, d := range kinds {
		converters = append(converters, d.types)
	}
	converters = append(converters, clientgo.NewTypeConverter(apis), managedfields.NewDeducedTypeConverter())
	return fake.NewClientBuilder().WithScheme(apis).WithRESTMapper(mapper).
		WithTypeConverters(converters...).
		WithStatusSubresource(&kueue.Workload{}, &kueue.ClusterQueue{}, &kueue.LocalQueue{}, &kueue.Cohort{},
			&kueue.AdmissionCheck{}, &batchv1.Job{}).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			kind, err := apiutil.GVKForObject(o, apis)
			if err != nil {
				return err
			}
			if d, ok := kinds[kind.Kind]; ok && kind.Group == kueue.SchemeGroupVersion.Group {
				if err := applyDefaults(o, d.Schema); err != nil {
					return err
				}
			}
			o.SetUID(uid(o))
			o.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
			return c.Create(ctx, o, opts...)
		},
		Patch: func(
			ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption,
		) error {
			if empty, err := isEmpty(o, patch); err != nil {
				return err
			} else if empty {
				return c.Get(ctx, client.ObjectKeyFromObject(o), o)
			}
			return c.Patch(ctx, o, patch, opts...)
		},
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, resource string, o client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			stored := o.DeepCopyObject().(client.Object)
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
				return err
			}
			if same, err := sameStatus(stored, o); same || err != nil {
				return err
			}
			return c.SubResource(resource).Update(ctx, o, opts...)
		},
	}).Build()
}

// sameStatus reports whether an update of the status changes nothing. An API server ignores
// such an update; the fake client would tell it to all watchers.
func sameStatus(a, b client.Object) (bool, error) {
	if b.GetResourceVersion() != "" && a.GetResourceVersion() != b.GetResourceVersion() {
		return false, nil
	}
	var status [2]struct{ Status json.RawMessage }
	for i, o := range []client.Object{a, b} {
		raw, err := json.Marshal(o)
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(raw, &status[i]); err != nil {
			return false, err
		}
	}
	return bytes.Equal(status[0].Status, status[1].Status), nil
}

// isEmpty reports whether a merge patch names a version and changes nothing. An API server
// ignores such a patch too.
func isEmpty(o client.Object, patch client.Patch) (bool, error) {
	if patch.Type() != types.MergePatchType {
		return false, nil
	}
	raw, err := patch.Data(o)
	if err != nil {
		return false, err
	}
	var changes map[string]map[string]any
	if err := json.Unmarshal(raw, &changes); err != nil {
		return false, err
	}
	delete(changes["metadata"], "resourceVersion")
	return len(changes) == 0 || len(changes) == 1 && len(changes["metadata"]) == 0, nil
}

// applyDefaults fills in the defaults of a CRD.
func applyDefaults(o client.Object, defaults *schema.Structural) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	defaulting.Default(fields, defaults)
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	reflect.ValueOf(o).Elem().SetZero()
	return json.Unmarshal(raw, o)
}

// informerSource lists and watches objects of one type for an informer.
type informerSource struct{ *toolscache.ListWatch }

// IsWatchListSemanticsUnSupported makes informers list and then watch.
func (informerSource) IsWatchListSemanticsUnSupported() bool { return true }

// manager is a real manager whose events go nowhere.
type manager struct{ ctrl.Manager }

func (manager) GetEventRecorder(string) events.EventRecorder { return &events.FakeRecorder{} }

// newManager returns a manager whose cache follows the server.
func newManager(t testing.TB, server client.WithWatch, mapper meta.RESTMapper) manager {
	t.Helper()
	newInformer := func(
		_ toolscache.ListerWatcher, o runtime.Object, _ time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		list := func() client.ObjectList {
			kind, err := apiutil.GVKForObject(o, apis)
			if err != nil {
				panic(err)
			}
			out, err := apis.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err != nil {
				panic(err)
			}
			return out.(client.ObjectList)
		}
		return toolscache.NewSharedIndexInformer(informerSource{&toolscache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
				out := list()
				return out, server.List(ctx, out)
			},
			WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return server.Watch(ctx, list())
			},
		}}, o, 0, indexers)
	}
	m, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme:         apis,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Cache:          cache.Options{NewInformer: newInformer},
		NewClient: func(_ *rest.Config, options client.Options) (client.Client, error) {
			return api{server, options.Cache.Reader}, nil
		},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             controllers.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return manager{m}
}

// newMapper returns the resources of all kinds that the controllers know.
func newMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range apis.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		switch kind.Kind {
		case "Namespace", "Node", "PriorityClass", "RuntimeClass", "ResourceFlavor", "ClusterQueue", "Cohort",
			"AdmissionCheck", "WorkloadPriorityClass", "Topology", "DeviceClass", "ResourceSlice":
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	return mapper
}
