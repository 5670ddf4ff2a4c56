package admission

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// Definition is a CRD of Kueue, with the schema of its version v1beta2.
type Definition struct {
	CRD    *apiextensionsv1.CustomResourceDefinition
	Schema *structuralschema.Structural

	properties *apiextensions.JSONSchemaProps
}

// Definitions reads the CRDs of Kueue's release, by kind. It omits CRDs without version v1beta2. It
// runs go, because the CRDs are files of Kueue's module.
func Definitions() (map[string]Definition, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/*.yaml"))
	if err != nil {
		return nil, err
	}
	out := map[string]Definition{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			return nil, err
		}
		for _, v := range crd.Spec.Versions {
			if v.Name != kueue.SchemeGroupVersion.Version {
				continue
			}
			d := Definition{CRD: crd, properties: &apiextensions.JSONSchemaProps{}}
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
				v.Schema.OpenAPIV3Schema, d.properties, nil); err != nil {
				return nil, err
			}
			if d.Schema, err = structuralschema.NewStructural(d.properties); err != nil {
				return nil, err
			}
			out[crd.Spec.Names.Kind] = d
		}
	}
	return out, nil
}
