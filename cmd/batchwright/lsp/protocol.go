package lsp

// The types of the protocol that the server uses, with the names of the
// specification, version 3.17:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// object is a JSON object that the server sends at one place.
type object map[string]any

// params holds the parameters of all methods. A method has some of them.
type params struct {
	Capabilities struct { // of initialize
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
	Position       position `json:"position"`
	Range          span     `json:"range"`
	Context        struct { // of textDocument/codeAction
		Only        []string            `json:"only"`
		Diagnostics []contextDiagnostic `json:"diagnostics"`
	} `json:"context"`
}

// syncIncremental means that the editor sends the changed parts of a document.
const syncIncremental = 2

// change replaces a range of a document or, without a range, the whole document.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// contextDiagnostic is a diagnostic for which an editor asks for actions. It can come
// from another server, whose codes can be numbers.
type contextDiagnostic struct {
	Range span `json:"range"`
	Code  any  `json:"code"`
}

// Severities of diagnostics.
const (
	severityError = 1 + iota
	severityWarning
	severityInformation
	severityHint
)

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

// Types of messages to the user.
const messageWarning = 2

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation object   `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	FilterText    string   `json:"filterText,omitempty"`
	TextEdit      textEdit `json:"textEdit"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Kind           int              `json:"kind"`
	Range          span             `json:"range"`
	SelectionRange span             `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	IsPreferred bool         `json:"isPreferred,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
	Edit        object       `json:"edit"`
}
