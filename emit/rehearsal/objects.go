package rehearsal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// configurationPath and configurationKey are the place of Kueue's configuration in a
// deploy folder: a file with a ConfigMap, and a key of the ConfigMap. With a GitOps tool
// the configuration is in gitOpsFolder: in such a ConfigMap, or as the value chartKey of
// Kueue's chart, in an object of the tool.
const (
	configurationPath = "kubernetes/system/kueue-configuration.yaml"
	configurationKey  = "controller_manager_config.yaml"
	gitOpsFolder      = "gitops/"
	chartKey          = "controllerManagerConfigYaml"
)

// kueueKinds and kaiKinds are the kinds of the objects that an engine gets, in the order in
// which it gets them: each kind comes after the kinds that it refers to.
var (
	kueueKinds = []string{
		"Namespace", "PriorityClass", "WorkloadPriorityClass", "ProvisioningRequestConfig", "AdmissionCheck",
		"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue",
	}
	kaiKinds = []string{"Namespace", "PriorityClass", "Queue"}
)

// object is a Kubernetes object: what identifies it, and all of it as JSON.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`

	text json.RawMessage
}

// Objects returns what Scenario.Objects holds for a platform: the scheduler's objects that its
// engine needs. tree is the platform's deploy folder, as package folder builds it.
func Objects(p *ir.Platform, tree emit.Tree) ([]json.RawMessage, error) {
	return ir.Choose(p.Scheduler, kueueObjects, kaiObjects)(p, tree)
}

// kueueObjects returns Kueue's configuration, then the objects of kueueKinds. If somebody
// else installs Kueue, the folder has no configuration, and the rehearsal uses Kueue's
// defaults.
func kueueObjects(p *ir.Platform, tree emit.Tree) ([]json.RawMessage, error) {
	found, err := objectsOf(kueueKinds, tree)
	if err != nil {
		return nil, err
	}
	for q := range p.ClusterQueues() {
		if len(q.Checks) > 0 {
			return nil, Unplayable(fmt.Sprintf("the jobs of ClusterQueue %s must pass AdmissionCheck %s of others, "+
				"which a rehearsal cannot play", q.ClusterQueue, q.Checks[0].Name))
		}
	}
	classes, err := existingClasses(p)
	found = append(classes, found...)
	if err != nil || !p.InstallsKueue() {
		return found, err
	}
	configuration, err := findConfiguration(tree)
	return append([]json.RawMessage{configuration}, found...), err
}

// existingClasses returns the PriorityClasses of others that the tiers name.
func existingClasses(p *ir.Platform) (out []json.RawMessage, err error) {
	known := map[string]bool{}
	for _, c := range p.PriorityClasses {
		if !c.Existing || known[c.Name] {
			continue
		}
		known[c.Name] = true
		text, err := classObject(c.Name, int(c.Value))
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// classObject returns a PriorityClass that is not in the folder.
func classObject(name string, value int) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
		"metadata": map[string]string{"name": name}, "value": value,
	})
}

// findConfiguration returns the configuration from the file or the folder that holds it.
func findConfiguration(tree emit.Tree) (json.RawMessage, error) {
	for _, f := range tree {
		if f.Path != configurationPath && !strings.HasPrefix(f.Path, gitOpsFolder) {
			continue
		}
		objects, err := decodeDocuments(f.Path, f.Content)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			var fields any
			if err := json.Unmarshal(o.text, &fields); err != nil {
				return nil, fmt.Errorf("rehearsal: %s: %w", f.Path, err)
			}
			text := cmp.Or(findText(fields, configurationKey), findText(fields, chartKey))
			if text == "" {
				continue
			}
			configuration, err := yaml.ToJSON([]byte(text))
			if err != nil {
				return nil, fmt.Errorf("rehearsal: %s: %w", f.Path, err)
			}
			return configuration, nil
		}
	}
	return nil, errors.New("rehearsal: the folder has no configuration of Kueue")
}

// findText returns the text with a key, in value or below it, "" if there is none.
func findText(value any, key string) string {
	switch value := value.(type) {
	case map[string]any:
		if text, ok := value[key].(string); ok {
			return text
		}
		for _, child := range value {
			if text := findText(child, key); text != "" {
				return text
			}
		}
	case []any:
		for _, child := range value {
			if text := findText(child, key); text != "" {
				return text
			}
		}
	}
	return ""
}

// kaiObjects returns the PriorityClasses that KAI Scheduler's chart installs, then the
// objects of kaiKinds. The platform uses the configuration of the chart.
func kaiObjects(p *ir.Platform, tree emit.Tree) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, class := range p.Scheduler.Facts().Classes {
		text, err := classObject(class.Name, class.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	found, err := objectsOf(kaiKinds, tree)
	return append(out, found...), err
}

// objectsOf returns the objects of the folder kubernetes/ whose kind is one of kinds, by
// kind, namespace and name.
func objectsOf(kinds []string, tree emit.Tree) ([]json.RawMessage, error) {
	var found []object
	for _, f := range tree {
		if !strings.HasPrefix(f.Path, "kubernetes/") || path.Ext(f.Path) != ".yaml" {
			continue
		}
		objects, err := decodeDocuments(f.Path, f.Content)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if slices.Contains(kinds, o.Kind) {
				found = append(found, o)
			}
		}
	}
	slices.SortFunc(found, func(a, b object) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Metadata.Namespace, b.Metadata.Namespace), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	var out []json.RawMessage
	for _, o := range found {
		out = append(out, o.text)
	}
	return out, nil
}

// decodeDocuments returns the objects of a YAML file, in their order.
func decodeDocuments(name string, content []byte) ([]object, error) {
	var out []object
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var o object
		if err == nil {
			o.text, err = yaml.ToJSON(document)
		}
		if err == nil {
			err = json.Unmarshal(o.text, &o)
		}
		if err != nil {
			return nil, fmt.Errorf("rehearsal: %s: %w", name, err)
		}
		out = append(out, o)
	}
}
