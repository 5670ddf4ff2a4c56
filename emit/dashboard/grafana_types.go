package dashboard

import "encoding/json"

// The types below are the emitted part of Grafana's classic dashboard schema, with the
// values that Grafana's own export has. Their fields are in the order of their JSON names,
// as Grafana sorts them. conformance/dashboards reads every golden board with Grafana's
// library, which rejects a field that Grafana does not have.
//
// Source: Grafana Foundation SDK v0.0.18, packages dashboard, common, prometheus, stat,
// gauge, heatmap, table and timeseries.

type grafanaBoard struct {
	Annotations          struct{}      `json:"annotations"`
	Description          string        `json:"description"`
	Editable             bool          `json:"editable"`
	FiscalYearStartMonth int           `json:"fiscalYearStartMonth"`
	GraphTooltip         int           `json:"graphTooltip"` // 1: the crosshair is on all panels
	Links                []grafanaLink `json:"links,omitempty"`
	Panels               []any         `json:"panels"` // grafanaRow and grafanaPanel
	Refresh              string        `json:"refresh"`
	SchemaVersion        int           `json:"schemaVersion"`
	Tags                 []string      `json:"tags"`
	Templating           struct {
		List []grafanaVariable `json:"list"`
	} `json:"templating"`
	Time struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"time"`
	Timezone string `json:"timezone"`
	Title    string `json:"title"`
	UID      string `json:"uid"`
}

type grafanaLink struct {
	AsDropdown  bool     `json:"asDropdown"`
	Icon        string   `json:"icon"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
	Placement   string   `json:"placement"`
	Tags        []string `json:"tags"`
	TargetBlank bool     `json:"targetBlank"`
	Title       string   `json:"title"`
	Tooltip     string   `json:"tooltip"`
	Type        string   `json:"type"`
}

type grafanaVariable struct {
	AllowCustomValue bool            `json:"allowCustomValue"`
	Auto             bool            `json:"auto"`
	AutoCount        int             `json:"auto_count"`
	AutoMin          string          `json:"auto_min"`
	Current          *grafanaCurrent `json:"current,omitempty"`
	Datasource       *grafanaSource  `json:"datasource,omitempty"`
	Definition       string          `json:"definition,omitempty"`
	IncludeAll       bool            `json:"includeAll"`
	Label            string          `json:"label"`
	Multi            bool            `json:"multi"`
	Name             string          `json:"name"`
	Query            string          `json:"query"`
	Refresh          int             `json:"refresh,omitempty"` // 1: when the board loads
	Regex            string          `json:"regex,omitempty"`
	SkipURLSync      bool            `json:"skipUrlSync"`
	Sort             int             `json:"sort,omitempty"` // 1: alphabetically
	Type             string          `json:"type"`
}

// grafanaCurrent is a value, or a list of values.
type grafanaCurrent struct {
	Text  any `json:"text"`
	Value any `json:"value"`
}

type grafanaSource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type grafanaRow struct {
	Collapsed bool        `json:"collapsed"`
	GridPos   grafanaGrid `json:"gridPos"`
	ID        int         `json:"id"`
	Panels    []any       `json:"panels"`
	Title     string      `json:"title"`
	Type      string      `json:"type"`
}

type grafanaGrid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type grafanaPanel struct {
	Datasource  grafanaSource `json:"datasource"`
	Description string        `json:"description,omitempty"`
	FieldConfig struct {
		Defaults  grafanaField      `json:"defaults"`
		Overrides []grafanaOverride `json:"overrides"`
	} `json:"fieldConfig"`
	GridPos         grafanaGrid        `json:"gridPos"`
	ID              int                `json:"id"`
	Options         any                `json:"options"` // the type depends on Type
	RepeatDirection string             `json:"repeatDirection"`
	Targets         []grafanaTarget    `json:"targets"`
	Title           string             `json:"title"`
	Transformations []grafanaTransform `json:"transformations,omitempty"`
	Transparent     bool               `json:"transparent"`
	Type            string             `json:"type"`
}

type grafanaField struct {
	Color struct {
		FixedColor string `json:"fixedColor,omitempty"`
		Mode       string `json:"mode"`
	} `json:"color"`
	Custom     any  `json:"custom,omitempty"` // the type depends on the panel's
	Decimals   *int `json:"decimals,omitempty"`
	Max        *int `json:"max,omitempty"`
	Min        *int `json:"min,omitempty"`
	Thresholds struct {
		Mode  string        `json:"mode"`
		Steps []grafanaStep `json:"steps"`
	} `json:"thresholds"`
	Unit string `json:"unit"`
}

// grafanaStep is a colour and the value from which it holds; the first step has none.
type grafanaStep struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

type grafanaOverride struct {
	Matcher struct {
		ID      string `json:"id"`
		Options string `json:"options"`
	} `json:"matcher"`
	Properties []grafanaProperty `json:"properties"`
}

type grafanaProperty struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

type grafanaTarget struct {
	Datasource   grafanaSource `json:"datasource"`
	EditorMode   string        `json:"editorMode"`
	Expr         string        `json:"expr"`
	Format       string        `json:"format,omitempty"`
	Instant      bool          `json:"instant"`
	LegendFormat string        `json:"legendFormat"`
	Range        bool          `json:"range"`
	RefID        string        `json:"refId"`
}

type grafanaTransform struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

type grafanaReduce struct {
	Calcs []string `json:"calcs"`
}

type grafanaTooltip struct {
	Mode string `json:"mode"`
	Sort string `json:"sort,omitempty"`
}

type statOptions struct {
	ColorMode              string        `json:"colorMode"`
	GraphMode              string        `json:"graphMode"`
	JustifyMode            string        `json:"justifyMode"`
	Orientation            string        `json:"orientation"`
	PercentChangeColorMode string        `json:"percentChangeColorMode"`
	ReduceOptions          grafanaReduce `json:"reduceOptions"`
	ShowPercentChange      bool          `json:"showPercentChange"`
	TextMode               string        `json:"textMode"`
	WideLayout             bool          `json:"wideLayout"`
}

type gaugeOptions struct {
	MinVizHeight         int           `json:"minVizHeight"`
	MinVizWidth          int           `json:"minVizWidth"`
	Orientation          string        `json:"orientation"`
	ReduceOptions        grafanaReduce `json:"reduceOptions"`
	ShowThresholdLabels  bool          `json:"showThresholdLabels"`
	ShowThresholdMarkers bool          `json:"showThresholdMarkers"`
	Sizing               string        `json:"sizing"`
}

type chartOptions struct {
	Legend struct {
		Calcs       []string `json:"calcs"`
		DisplayMode string   `json:"displayMode"`
		Placement   string   `json:"placement"`
		ShowLegend  bool     `json:"showLegend"`
		SortBy      string   `json:"sortBy"`
		SortDesc    bool     `json:"sortDesc"`
		Width       int      `json:"width"`
	} `json:"legend"`
	Tooltip grafanaTooltip `json:"tooltip"`
}

type chartCustom struct {
	AxisSoftMax     int           `json:"axisSoftMax,omitempty"`
	FillOpacity     int           `json:"fillOpacity,omitempty"`
	Stacking        *grafanaStyle `json:"stacking,omitempty"`
	ThresholdsStyle *grafanaStyle `json:"thresholdsStyle,omitempty"`
}

type grafanaStyle struct {
	Mode string `json:"mode"`
}

type tableOptions struct {
	CellHeight string `json:"cellHeight"`
	Footer     struct {
		Reducer []string `json:"reducer"`
		Show    bool     `json:"show"`
	} `json:"footer"`
	FrameIndex    int         `json:"frameIndex"`
	ShowHeader    bool        `json:"showHeader"`
	ShowTypeIcons bool        `json:"showTypeIcons"`
	SortBy        []tableSort `json:"sortBy,omitempty"`
}

type tableSort struct {
	Desc        bool   `json:"desc"`
	DisplayName string `json:"displayName"`
}

type tableCustom struct {
	Align      string `json:"align"`
	Filterable bool   `json:"filterable"`
	Inspect    bool   `json:"inspect"`
}

type heatmapOptions struct {
	Calculate   bool `json:"calculate"`
	Calculation struct {
		YBuckets struct {
			Mode  string `json:"mode"`
			Value string `json:"value"`
		} `json:"yBuckets"`
	} `json:"calculation"`
	CellGap int `json:"cellGap"`
	Color   struct {
		Exponent int    `json:"exponent"`
		Fill     string `json:"fill"`
		Mode     string `json:"mode"`
		Reverse  bool   `json:"reverse"`
		Scheme   string `json:"scheme"`
		Steps    int    `json:"steps"`
	} `json:"color"`
	Exemplars struct {
		Color string `json:"color"`
	} `json:"exemplars"`
	FilterValues struct {
		LE json.Number `json:"le"`
	} `json:"filterValues"`
	Legend struct {
		Show bool `json:"show"`
	} `json:"legend"`
	SelectionMode string         `json:"selectionMode"`
	ShowValue     string         `json:"showValue"`
	Tooltip       grafanaTooltip `json:"tooltip"`
	YAxis         struct {
		Max  int    `json:"max"`
		Min  int    `json:"min"`
		Unit string `json:"unit"`
	} `json:"yAxis"`
}
