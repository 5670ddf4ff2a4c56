// Package kaiqueues checks the queues of KAI Scheduler in a deploy folder against
// the schema that the API server uses.
package kaiqueues

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"path"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed queue.yaml
var definition []byte

// Check checks every object of KAI Scheduler's API under kubernetes/ against the
// schema of a Queue. Other kinds are errors.
func Check(folder fs.FS) []error {
	c, err := newChecker()
	if err != nil {
		return []error{err}
	}
	var errs []error
	err = fs.WalkDir(folder, "kubernetes", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			for _, err := range c.document(document) {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return errs
}

type checker struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

func newChecker() (checker, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict(definition, &v1); err != nil {
		return checker{}, err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props,
		nil); err != nil {
		return checker{}, err
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return checker{}, err
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	return checker{structural, validator}, err
}

func (c checker) document(document []byte) []error {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return []error{err}
	}
	var object map[string]any
	if err := kubejson.Unmarshal(encoded, &object); err != nil {
		return []error{err}
	}
	version, _ := object["apiVersion"].(string)
	if path.Dir(version) != "scheduling.run.ai" {
		return nil
	}
	if version != "scheduling.run.ai/v2" || object["kind"] != "Queue" {
		return []error{fmt.Errorf("unexpected %s %v", version, object["kind"])}
	}
	var errs []error
	unknown := pruning.PruneWithOptions(object, c.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, field := range unknown {
		errs = append(errs, fmt.Errorf("no field %s of a Queue", field))
	}
	for _, err := range validation.ValidateCustomResource(nil, object, c.validator) {
		errs = append(errs, err)
	}
	return errs
}
