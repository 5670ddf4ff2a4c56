// Package kueueconfig checks the configuration of Kueue's controller in a deploy
// folder as the controller itself reads it. A folder goes in; the mistakes in it
// come out.
package kueueconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/owners"
)

const (
	file    = "kubernetes/system/kueue-configuration.yaml"
	key     = "controller_manager_config.yaml"
	flavors = "kubernetes/resource-flavors.yaml"
)

// Check checks the configuration in a deploy folder. Kueue must decode it strictly
// and know its feature gates. It may differ from Kueue's defaults only in the
// frameworks, the metrics, the concurrency of the release, the managed jobs, the
// resources that are not counted, and how long Kueue waits for pods. The managed
// jobs must be those of the teams' namespaces. A folder without Kueue's flavors has
// no Kueue, and nothing to check. If others run Kueue, the folder must not have a
// configuration.
func Check(folder fs.FS) []error {
	if _, err := fs.Stat(folder, flavors); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if owners.OthersRunKueue(folder) {
		if _, err := fs.Stat(folder, file); err == nil {
			return []error{fmt.Errorf("%s: others run Kueue, and the folder changes its configuration", file)}
		}
		return nil
	}
	configMap, err := readConfigMap(folder)
	if err != nil {
		return []error{err}
	}
	got, err := load([]byte(configMap.Data[key]))
	if err != nil {
		return []error{fmt.Errorf("%s: %s: %w", file, key, err)}
	}
	want, err := load([]byte("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"))
	if err != nil {
		return []error{err}
	}

	var errs []error
	errorf := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(file+": "+format, args...))
	}
	if configMap.Namespace != configapi.DefaultNamespace || configMap.Name != "kueue-manager-config" {
		errorf("Kueue does not read ConfigMap %s/%s", configMap.Namespace, configMap.Name)
	}
	if !slices.Contains(got.Integrations.Frameworks, "batch/job") ||
		!slices.Contains(got.Integrations.Frameworks, "jobset.x-k8s.io/jobset") {
		errorf("frameworks %q lack Jobs or JobSets", got.Integrations.Frameworks)
	}
	if !got.Metrics.EnableClusterQueueResources {
		errorf("metrics of quota and usage are off")
	}
	// Use a copy, because the gates belong to the whole process.
	if err := utilfeature.DefaultMutableFeatureGate.DeepCopy().SetFromMap(got.FeatureGates); err != nil {
		errorf("feature gates: %w", err)
	}
	if !got.FeatureGates[string(features.UnadmittedWorkloadsObservability)] {
		errorf("metrics of why workloads wait are off")
	}
	if w := got.WaitForPodsReady; *w.BlockAdmission || w.RecoveryTimeout.Duration == 0 ||
		w.RecoveryTimeout.Duration > w.Timeout.Duration {
		errorf("waits for pods wrongly: one team holds up the others, or a lost pod is waited for longer than all at " +
			"the start")
	}
	if got.Resources == nil ||
		!slices.Equal(got.Resources.ExcludeResourcePrefixes, []string{string(corev1.ResourceEphemeralStorage)}) {
		errorf("resources %v: jobs that request ephemeral storage, and no others, need one that is not counted",
			got.Resources)
	}
	errs = append(errs, checkNamespaces(folder, got)...)

	want.Integrations.Frameworks = got.Integrations.Frameworks
	want.Metrics.EnableClusterQueueResources = got.Metrics.EnableClusterQueueResources
	want.FeatureGates = got.FeatureGates
	want.WaitForPodsReady = got.WaitForPodsReady
	want.Controller = got.Controller
	want.Resources = got.Resources
	want.ManageJobsWithoutQueueName = got.ManageJobsWithoutQueueName
	want.ManagedJobsNamespaceSelector = got.ManagedJobsNamespaceSelector
	if !reflect.DeepEqual(want, got) {
		errorf("differs from Kueue's defaults (-defaults +file):\n%s", cmp.Diff(want, got))
	}
	return errs
}

// readConfigMap returns the ConfigMap with the configuration. A folder for a GitOps tool
// has it in gitops/, or only its text, as a value of the chart that makes the ConfigMap.
func readConfigMap(folder fs.FS) (*corev1.ConfigMap, error) {
	var configMap corev1.ConfigMap
	text, err := fs.ReadFile(folder, file)
	if err == nil {
		if err := yaml.UnmarshalStrict(text, &configMap); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return &configMap, nil
	}
	if _, none := fs.Stat(folder, "gitops"); none != nil {
		return nil, err
	}
	configMap.Namespace, configMap.Name = configapi.DefaultNamespace, "kueue-manager-config"
	err = fs.WalkDir(folder, "gitops", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var fields any
			if err := yaml.Unmarshal(document, &fields); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, name := range []string{key, "controllerManagerConfigYaml"} {
				if value, found := findValue(fields, name); found {
					configMap.Data = map[string]string{key: value}
				}
			}
		}
		return nil
	})
	return &configMap, err
}

// findValue returns the text with a key, in value or below it, and reports whether there
// is one.
func findValue(value any, key string) (string, bool) {
	switch value := value.(type) {
	case map[string]any:
		if text, ok := value[key].(string); ok {
			return text, true
		}
		for _, child := range value {
			if text, found := findValue(child, key); found {
				return text, true
			}
		}
	case []any:
		for _, child := range value {
			if text, found := findValue(child, key); found {
				return text, true
			}
		}
	}
	return "", false
}

// load decodes a configuration as Kueue does (Kueue: pkg/config.fromFile),
// with its defaults.
func load(text []byte) (*configapi.Configuration, error) {
	scheme := runtime.NewScheme()
	if err := configapi.AddToScheme(scheme); err != nil {
		return nil, err
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	configuration := &configapi.Configuration{}
	if err := runtime.DecodeInto(codecs.UniversalDecoder(), text, configuration); err != nil {
		return nil, err
	}
	return configuration, nil
}

// checkNamespaces checks that jobs are managed only in the teams' namespaces.
func checkNamespaces(folder fs.FS, configuration *configapi.Configuration) []error {
	if !configuration.ManageJobsWithoutQueueName {
		return []error{fmt.Errorf("%s: jobs without a queue are not managed", file)}
	}
	selector, err := metav1.LabelSelectorAsSelector(configuration.ManagedJobsNamespaceSelector)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", file, err)}
	}
	var errs []error
	for _, name := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault, configapi.DefaultNamespace} {
		if selector.Matches(labels.Set{corev1.LabelMetadataName: name}) {
			errs = append(errs, fmt.Errorf("%s: jobs in %s are managed", file, name))
		}
	}
	teams, err := fs.Glob(folder, "kubernetes/teams/*.yaml")
	if err != nil {
		return append(errs, err)
	}
	for _, team := range teams {
		text, err := fs.ReadFile(folder, team)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		document, _, _ := bytes.Cut(text, []byte("\n---\n"))
		var namespace corev1.Namespace
		if err := yaml.UnmarshalStrict(document, &namespace); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", team, err))
			continue
		}
		if !selector.Matches(labels.Set(namespace.Labels)) {
			errs = append(errs, fmt.Errorf("%s: jobs in %s are not managed", team, namespace.Name))
		}
	}
	return errs
}
