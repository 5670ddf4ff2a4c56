package blueprint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// jsonSchema is a JSON Schema of draft 7, which editors support better than later
// drafts. A zero field is omitted.
type jsonSchema struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`

	AnyOf []*jsonSchema `json:"anyOf,omitempty"`
	Type  string        `json:"type,omitempty"`
	Enum  []string      `json:"enum,omitempty"`

	Pattern string `json:"pattern,omitempty"`
	// PatternErrorMessage is the message that editors show instead of the pattern.
	// Source: vscode-json-languageservice, src/jsonSchema.ts.
	PatternErrorMessage string `json:"patternErrorMessage,omitempty"`

	Minimum json.Number `json:"minimum,omitempty"`
	Maximum json.Number `json:"maximum,omitempty"`

	Items    *jsonSchema `json:"items,omitempty"`
	MinItems int         `json:"minItems,omitempty"`

	Required      []string               `json:"required,omitempty"`
	MinProperties int                    `json:"minProperties,omitempty"`
	MaxProperties int                    `json:"maxProperties,omitempty"`
	Properties    map[string]*jsonSchema `json:"properties,omitempty"`
	// PatternProperties describe the entities of a map.
	PatternProperties map[string]*jsonSchema `json:"patternProperties,omitempty"`
	// AdditionalProperties is false, or a *jsonSchema for all other properties.
	AdditionalProperties any `json:"additionalProperties,omitempty"`
}

// JSONSchema returns the grammar of a blueprint as a JSON Schema, for editors of
// YAML and JSON. The schema accepts every blueprint in one file that the compiler
// accepts, and rejects values that do not fit the grammar. It does not contain the
// rules between fields.
func JSONSchema() ([]byte, error) {
	s := jsonSchemaOf(blueprintDefinition(newContext()))
	s.Schema, s.Title = "http://json-schema.org/draft-07/schema#", "blueprint"
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s) // Encode sorts the keys of maps
	return out.Bytes(), err
}

// jsonSchemaOf converts a constraint of the schema. The grammar has no recursion, so
// each part is written out at the place of its use, without references: some editors
// ignore keywords beside a reference.
func jsonSchemaOf(constraint cue.Value) *jsonSchema {
	var s *jsonSchema
	switch constraint.IncompleteKind() {
	case cue.StructKind, cue.BottomKind: // a one-of is bottom by itself
		s = jsonObject(constraint)
	case cue.ListKind:
		list := openList(constraint)
		s = &jsonSchema{Type: "array", Items: jsonSchemaOf(list.LookupPath(cue.MakePath(cue.AnyIndex)))}
		if list.LookupPath(cue.MakePath(cue.Index(0))).Exists() {
			s.MinItems = 1
		}
	default:
		s = jsonScalar(constraint)
	}
	s.Description = strings.Join(docParagraphs(constraint), "\n\n")
	s.Default = defaultOf(constraint)
	return s
}

func jsonObject(constraint cue.Value) *jsonSchema {
	s := &jsonSchema{Type: "object", Required: requiredOf(constraint), AdditionalProperties: false}
	if entity, label := patternOf(constraint); entity.Exists() {
		if names := jsonScalar(label); names.Pattern != "" {
			s.PatternProperties = map[string]*jsonSchema{names.Pattern: jsonSchemaOf(entity)}
		} else {
			s.AdditionalProperties = jsonSchemaOf(entity)
		}
	}
	if constraint.IncompleteKind() == cue.BottomKind {
		s.MinProperties, s.MaxProperties = 1, 1
	}
	for sel, field := range schemaFields(constraint) {
		if s.Properties == nil {
			s.Properties = map[string]*jsonSchema{}
		}
		s.Properties[sel.Unquoted()] = jsonSchemaOf(field)
	}
	return s
}

// jsonScalar converts a constraint on strings, numbers or booleans. Structs and lists can be
// alternatives to them.
func jsonScalar(constraint cue.Value) *jsonSchema {
	var constants, others []cue.Value
	var alternatives []*jsonSchema
	for _, arm := range disjunctionArms(constraint) {
		switch {
		case arm.IncompleteKind() == cue.StructKind:
			alternatives = append(alternatives, jsonObject(arm))
		case arm.IncompleteKind() == cue.ListKind:
			alternatives = append(alternatives, jsonSchemaOf(arm))
		case arm.IsConcrete():
			constants = append(constants, arm)
		default:
			others = append(others, arm)
		}
	}
	var words []string
	for _, c := range constants {
		// A default that the other arm also accepts adds no information.
		text, err := c.String()
		if err == nil && !slices.ContainsFunc(others, func(arm cue.Value) bool { return arm.Unify(c).Err() == nil }) {
			words = append(words, text)
		}
	}
	for _, arm := range others {
		alternatives = append(alternatives, jsonConjuncts(arm))
	}
	if len(words) > 0 {
		alternatives = append(alternatives, &jsonSchema{Type: "string", Enum: words})
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return &jsonSchema{AnyOf: alternatives}
}

// jsonConjuncts converts a conjunction, with the constraints of all its parts.
func jsonConjuncts(constraint cue.Value) *jsonSchema {
	s := &jsonSchema{Type: map[cue.Kind]string{
		cue.StringKind: "string", cue.BoolKind: "boolean", cue.IntKind: "integer",
	}[constraint.IncompleteKind()]}
	if s.Type == "" {
		s.Type = "number"
	}
	visitBounds(constraint, func(op cue.Op, limit cue.Value) {
		switch op {
		case cue.RegexMatchOp:
			s.Pattern, _ = limit.String()
			s.PatternErrorMessage = "want " + describeWanted(constraint)
		case cue.GreaterThanEqualOp:
			s.Minimum = jsonNumber(limit)
		case cue.LessThanEqualOp:
			s.Maximum = jsonNumber(limit)
		}
	})
	return s
}

func jsonNumber(v cue.Value) json.Number {
	text, _ := v.MarshalJSON() // the value of a bound, which is a number
	return json.Number(text)
}
