package terraform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// address is the address of the provider that the double replaces, as Terraform
// writes it.
const address = "registry.terraform.io/hashicorp/google"

// schemas holds the schemas of a provider, its resources and its data sources.
type schemas struct {
	provider        *tfprotov5.Schema
	resources, data map[string]*tfprotov5.Schema // by type
}

// parseSchemas reads the output of terraform providers schema -json for the
// provider. The schemas lack whatever the output lacks, such as descriptions.
func parseSchemas(content []byte) (schemas, error) {
	var doc struct {
		Providers map[string]struct {
			Provider  jsonSchema            `json:"provider"`
			Resources map[string]jsonSchema `json:"resource_schemas"`
			Data      map[string]jsonSchema `json:"data_source_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		return schemas{}, err
	}
	p, ok := doc.Providers[address]
	if !ok {
		return schemas{}, fmt.Errorf("no schema of %s", address)
	}
	return schemas{provider: p.Provider.schema(), resources: allSchemas(p.Resources), data: allSchemas(p.Data)}, nil
}

func allSchemas(in map[string]jsonSchema) map[string]*tfprotov5.Schema {
	out := map[string]*tfprotov5.Schema{}
	for name, s := range in {
		out[name] = s.schema()
	}
	return out
}

type jsonSchema struct {
	Version int64     `json:"version"`
	Block   jsonBlock `json:"block"`
}

func (s jsonSchema) schema() *tfprotov5.Schema {
	return &tfprotov5.Schema{Version: s.Version, Block: s.Block.block()}
}

type jsonBlock struct {
	Attributes map[string]struct {
		Type       jsonType `json:"type"`
		Required   bool     `json:"required"`
		Optional   bool     `json:"optional"`
		Computed   bool     `json:"computed"`
		Sensitive  bool     `json:"sensitive"`
		Deprecated bool     `json:"deprecated"`
		WriteOnly  bool     `json:"write_only"`
	} `json:"attributes"`
	Blocks map[string]struct {
		Nesting  jsonNesting `json:"nesting_mode"`
		MinItems int64       `json:"min_items"`
		MaxItems int64       `json:"max_items"`
		Block    jsonBlock   `json:"block"`
	} `json:"block_types"`
	Deprecated bool `json:"deprecated"`
}

func (b jsonBlock) block() *tfprotov5.SchemaBlock {
	out := &tfprotov5.SchemaBlock{Deprecated: b.Deprecated}
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		a := b.Attributes[name]
		out.Attributes = append(out.Attributes, &tfprotov5.SchemaAttribute{
			Name: name, Type: a.Type.Type, Required: a.Required, Optional: a.Optional, Computed: a.Computed,
			Sensitive: a.Sensitive, Deprecated: a.Deprecated, WriteOnly: a.WriteOnly,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		n := b.Blocks[name]
		out.BlockTypes = append(out.BlockTypes, &tfprotov5.SchemaNestedBlock{
			TypeName: name, Block: n.Block.block(), Nesting: n.Nesting.mode, MinItems: n.MinItems, MaxItems: n.MaxItems,
		})
	}
	return out
}

type jsonType struct{ tftypes.Type }

func (t *jsonType) UnmarshalJSON(content []byte) (err error) {
	//lint:ignore SA1019 it is for types that Terraform printed, and these are
	t.Type, err = tftypes.ParseJSONType(content)
	return err
}

type jsonNesting struct {
	mode tfprotov5.SchemaNestedBlockNestingMode
}

func (n *jsonNesting) UnmarshalText(text []byte) error {
	switch string(text) {
	case "single":
		n.mode = tfprotov5.SchemaNestedBlockNestingModeSingle
	case "list":
		n.mode = tfprotov5.SchemaNestedBlockNestingModeList
	case "set":
		n.mode = tfprotov5.SchemaNestedBlockNestingModeSet
	default:
		return fmt.Errorf("blocks nested by %s are not known here", text)
	}
	return nil
}
