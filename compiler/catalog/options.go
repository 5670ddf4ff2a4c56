package catalog

import "slices"

// Options reports which consumption options a machine type has; nil means
// unverified. Queued is flex-start with queued provisioning, and Calendar is a
// future reservation in calendar mode.
type Options struct {
	OnDemand    *bool `json:"onDemand,omitzero"`
	Spot        *bool `json:"spot,omitzero"`
	Reservation *bool `json:"reservation,omitzero"`
	FlexStart   *bool `json:"flexStart,omitzero"`
	Queued      *bool `json:"queued,omitzero"`
	Calendar    *bool `json:"calendar,omitzero"`
}

// OptionColumn is a consumption option as a column of the catalogue.
type OptionColumn struct {
	Name    string // as in the data files
	Heading string
	of      func(Options) *bool
}

var optionColumns = []OptionColumn{
	{"onDemand", "on demand", func(o Options) *bool { return o.OnDemand }},
	{"spot", "spot", func(o Options) *bool { return o.Spot }},
	{"reservation", "reservation", func(o Options) *bool { return o.Reservation }},
	{"flexStart", "flex-start", func(o Options) *bool { return o.FlexStart }},
	{"queued", "queued", func(o Options) *bool { return o.Queued }},
	{"calendar", "calendar", func(o Options) *bool { return o.Calendar }},
}

// OptionColumns returns the columns of consumption options in their order.
func OptionColumns() []OptionColumn { return slices.Clone(optionColumns) }

// Offered reports whether a machine has the option of the named column; nil means
// unverified. It panics if there is no such column.
func (o Options) Offered(column string) *bool {
	for _, c := range optionColumns {
		if c.Name == column {
			return c.of(o)
		}
	}
	panic("the catalogue has no column of consumption option " + column)
}

// OptionZones returns the sorted zones for which Google documents the option of the
// named column with the machine type's TPUs. It returns nil if Google documents none.
func (m Machine) OptionZones(column string) []string { return m.zoneRow().Options[column] }
