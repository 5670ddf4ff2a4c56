package editor

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/catalog"
)

// Kind is the kind of an offer.
type Kind int

// Kinds of offers.
const (
	FieldName  Kind = iota // the name of a field of the schema
	EntityName             // the name of an entity
	Literal                // a value
)

// Offer is a text that can stand at the cursor.
type Offer struct {
	Kind   Kind
	Label  string // the name or the value, without quotes
	Insert string // source that replaces the range of the Completion
	Detail string // a few words
	Doc    string // documentation, "" for none
}

// Completion is the answer to the question what can stand at the cursor. Its offers
// are sorted: the first is the most likely one.
type Completion struct {
	Start, End int // range of the token to replace
	Quoted     bool
	Offers     []Offer
}

// Complete returns what can stand at an offset of a file.
func (e *Editor) Complete(files []File, name string, at int) Completion {
	i := slices.IndexFunc(files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return Completion{}
	}
	t := readText(files)
	_, here := scanFile(files[i], at)
	out := Completion{Start: here.start, End: here.end, Quoted: here.quoted}
	if here.silent || here.quoted && isBehindText(files[i].Content[here.start:here.end], at-here.start) {
		return out
	}
	c := &completion{Editor: e, text: t, file: files[i], cursor: here}
	path := t.resolveTemplate(here.within)
	if here.value {
		path = t.resolveTemplate(here.path)
	}
	field, err := e.schema.Describe(path)
	switch {
	case err != nil:
		return out
	case len(field.Fields) > 0 || field.Names != "":
		out.Offers = c.offerNames(path, field)
	case here.value:
		out.Offers = c.offerLiterals(path, field)
	}
	return out
}

// isBehindText reports whether an offset is behind the closing quote of a token. Editors
// ask there, because they ask whenever somebody types a quote.
func isBehindText(token []byte, at int) bool {
	return at == len(token) && at > 1 && token[at-1] == token[0] && token[at-2] != '\\'
}

// completion is one run of Complete.
type completion struct {
	*Editor
	text   *text
	file   File
	cursor cursor
}

// offerNames returns the names of fields that can stand in a struct or a map.
func (c *completion) offerNames(path []string, field *blueprint.Field) []Offer {
	var out []Offer
	written := c.writtenNames()
	add := func(kind Kind, name, detail, doc string) {
		if !written[name] {
			out = append(out, Offer{kind, name, c.nameSource(name), detail, doc})
		}
	}
	if field.Names == "" {
		for _, required := range []bool{true, false} {
			for _, m := range field.Fields {
				if m.Required == required {
					add(FieldName, m.Name, fieldDetail(m), m.Doc)
				}
			}
		}
		return out
	}
	key := append(slices.Clip(path), "*")
	switch kind := kindAt(namedKeys(), key); {
	case kind != "":
		for _, name := range c.text.entitiesAt(kind, key) {
			add(EntityName, name, kind, "")
		}
	case len(path) == 1 && slices.Contains(entityFields(), path[0]):
		for _, name := range c.text.namesBelow(path[0]) {
			add(EntityName, name, path[0], "")
		}
	case path[len(path)-1] == "accept":
		for _, code := range c.codes {
			if code.Acceptable {
				add(EntityName, code.ID, code.Title, firstParagraph(code.ID))
			}
		}
	case matchesField("cluster.autoProvisioning.accelerators", path):
		for _, name := range catalog.Accelerators() {
			add(EntityName, name, "", "")
		}
	}
	return out
}

// writtenNames returns the names that the file already has in the struct of the cursor,
// except the one at the cursor.
func (c *completion) writtenNames() map[string]bool {
	names := map[string]bool{}
	around := c.cursor.within
	if c.cursor.value {
		around = c.cursor.path
	}
	for _, m := range readMarks(c.file) {
		n := len(m.path) - 1
		if m.label && m.start != c.cursor.start && n >= 0 && slices.Equal(m.path[:n], around) {
			names[m.text] = true
		}
	}
	return names
}

// fieldDetail returns the values of a field in words.
func fieldDetail(m blueprint.Member) string {
	switch {
	case m.Required:
		return m.Accepts + " (required)"
	case m.Default != nil:
		return m.Accepts + " (default: " + string(m.Default) + ")"
	}
	return m.Accepts
}

// nameSource returns the source of a name with its colon, unless the file has the
// colon already.
func (c *completion) nameSource(name string) string {
	source := name
	if isJSON := filepath.Ext(c.file.Name) == ".json"; isJSON || c.cursor.quoted || !ast.IsValidIdent(name) {
		source = strconv.Quote(name)
	}
	rest := strings.TrimLeft(string(c.file.Content[c.cursor.end:]), " ?!")
	if strings.HasPrefix(rest, ":") {
		return source
	}
	return source + ": "
}

// offerLiterals returns the values that can stand at a path.
func (c *completion) offerLiterals(path []string, field *blueprint.Field) []Offer {
	var out []Offer
	add := func(value, detail string) {
		out = append(out, Offer{Literal, value, strconv.Quote(value), detail, ""})
	}
	if kind := kindAt(namedValues(), path); kind != "" {
		for _, name := range c.text.entitiesAt(kind, path) {
			add(name, kind)
		}
		return out
	}
	for _, source := range valueSources() {
		if matchesField(source.field, path) {
			source.offer(c.text, path, add)
		}
	}
	for _, literal := range field.Literals {
		value, err := strconv.Unquote(literal)
		if err != nil { // a boolean
			out = append(out, Offer{Literal, literal, literal, defaultDetail(field, literal), ""})
			continue
		}
		add(value, defaultDetail(field, literal))
	}
	return compactOffers(out)
}

// valueSource says where the values of a field come from, besides the schema.
type valueSource struct {
	field string // as in a naming
	offer func(t *text, path []string, add func(value, detail string))
}

func valueSources() []valueSource {
	return []valueSource{
		{"workloads.*.priority", offerPriorities},
		{"hardware.*.machine", offerMachines},
		{"cluster.systemPool.machine", offerMachines},
		{"cluster.existing.location", offerLocations},
		{"hardware.*.topology", offerTopologies},
		{"hardware.*.gpus.type", offerGPUs},
		{"zones[]", offerZones},
		{"capacity.*.zones[]", offerPlatformZones},
		{"region", offerRegions},
		{"delivery.region", offerRegions},
		{"monitoring.tensorBoard.region", offerRegions},
	}
}

func offerPriorities(t *text, path []string, add func(value, detail string)) {
	for _, name := range t.namesBelow("tiers", t.firstValue("workloads", path[1], "tier"), "priorities") {
		add(name, "PriorityClass")
	}
}

// offerMachines offers the machine types that a blueprint can use, without
// accelerators for the nodes of the system.
func offerMachines(_ *text, path []string, add func(value, detail string)) {
	for _, m := range catalog.All() {
		if m.Withheld == "" && (path[0] == "hardware" || m.Count == 0) {
			add(m.Type, m.Summary())
		}
	}
}

func offerTopologies(t *text, path []string, add func(value, detail string)) {
	m, _ := catalog.Usable(t.firstValue("hardware", path[1], "machine"))
	for _, s := range m.Slices() {
		add(s.Topology, m.Type)
	}
}

func offerGPUs(t *text, path []string, add func(value, detail string)) {
	for _, a := range catalog.Attachments(t.firstValue("hardware", path[1], "machine")) {
		add(a.Accelerator, a.Family)
	}
}

// offerZones offers the known zones of the platform's region or, without a region,
// all known zones.
func offerZones(t *text, _ []string, add func(value, detail string)) {
	region := t.firstValue("region")
	for _, r := range catalog.AllRegions() {
		for _, zone := range r.Zones {
			if region == "" || region == r.Region {
				add(zone, "")
			}
		}
	}
}

// offerLocations offers the locations in which a cluster of others can be: the
// platform's region and its zones.
func offerLocations(t *text, path []string, add func(value, detail string)) {
	if region := t.firstValue("region"); region != "" {
		add(region, "region")
		offerZones(t, path, add)
		return
	}
	offerRegions(t, path, add)
}

func offerPlatformZones(t *text, _ []string, add func(value, detail string)) {
	for _, zone := range t.valuesOf("zones") {
		add(zone, "zone of the platform")
	}
}

func offerRegions(_ *text, _ []string, add func(value, detail string)) {
	for _, region := range catalog.Regions() {
		add(region, "")
	}
}

// defaultDetail marks the default of a field.
func defaultDetail(field *blueprint.Field, literal string) string {
	if string(field.Default) == literal {
		return "default"
	}
	return ""
}

// compactOffers removes offers of the same value.
func compactOffers(offers []Offer) []Offer {
	seen := map[string]bool{}
	return slices.DeleteFunc(offers, func(o Offer) bool {
		again := seen[o.Label]
		seen[o.Label] = true
		return again
	})
}
