package lsp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/batchwright/batchwright/golden/fixture"
)

// editor is a scripted editor that talks with a language server process.
type editor struct {
	t    *testing.T
	dir  string
	conn *jsonrpc2.Conn
	cmd  *exec.Cmd

	versions map[string]int
	mu       sync.Mutex
	news     chan struct{} // diagnostics have arrived
	shown    map[string][]lspDiagnostic
	checked  map[string]int // versions of the files that the diagnostics are about
}

type lspPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type lspRange struct {
	Start lspPosition `json:"start"`
	End   lspPosition `json:"end"`
}

type lspDiagnostic struct {
	Range    lspRange `json:"range"`
	Severity int      `json:"severity"`
	Code     string   `json:"code"`
	Source   string   `json:"source"`
	Message  string   `json:"message"`
	Related  []struct {
		Location struct {
			URI   string   `json:"uri"`
			Range lspRange `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

// pipes are the streams of a process.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// Handle keeps the diagnostics that the server sends, and grants its requests.
func (e *editor) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if !r.Notif {
		go conn.Reply(ctx, r.ID, nil)
		return
	}
	var p struct {
		URI         string
		Version     int // 0 for a file that is not open
		Diagnostics []lspDiagnostic
	}
	if r.Method != "textDocument/publishDiagnostics" || json.Unmarshal(*r.Params, &p) != nil {
		return
	}
	name := filepath.Base(p.URI)
	e.mu.Lock()
	if p.Version != 0 && p.Version < e.checked[name] {
		e.t.Errorf("%s: the diagnostics of version %d come after version %d", name, p.Version, e.checked[name])
	}
	e.shown[name], e.checked[name] = p.Diagnostics, p.Version
	e.mu.Unlock()
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// patience is how long an answer or a diagnostic may take on a busy computer.
const patience = 5 * time.Minute

// startEditor starts a language server in a directory and initializes the session.
func startEditor(t *testing.T, bin, dir string, args ...string) *editor {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"lsp"}, args...)...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	e := &editor{
		t: t, dir: dir, cmd: cmd, versions: map[string]int{}, news: make(chan struct{}, 1),
		shown: map[string][]lspDiagnostic{}, checked: map[string]int{},
	}
	e.conn = jsonrpc2.NewConn(context.Background(),
		jsonrpc2.NewBufferedStream(pipes{out, in}, jsonrpc2.VSCodeObjectCodec{}), e)
	var result struct {
		Capabilities map[string]any
		ServerInfo   struct{ Name string }
	}
	e.call("initialize", map[string]any{"capabilities": map[string]any{"workspace": map[string]any{
		"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}}}, &result)
	if result.ServerInfo.Name != "batchwright" {
		t.Errorf("the server is %+v", result)
	}
	e.notify("initialized", map[string]any{})
	return e
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := e.conn.Call(ctx, method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) uri(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(e.dir, name))}).String()
}

func (e *editor) open(name, text string) {
	e.t.Helper()
	e.versions[name] = 1
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": e.uri(name), "languageId": "cue", "version": 1, "text": text,
	}})
}

// change replaces a range of a file or, if r is nil, the whole file.
func (e *editor) change(name, text string, r *lspRange) {
	e.t.Helper()
	e.versions[name]++
	change := map[string]any{"text": text}
	if r != nil {
		change["range"] = r
	}
	e.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": e.uri(name), "version": e.versions[name]},
		"contentChanges": []any{change},
	})
}

func (e *editor) close(name string) {
	e.t.Helper()
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// waitFor waits until a file has diagnostics with exactly these codes, and returns
// them.
func (e *editor) waitFor(name string, codes ...string) []lspDiagnostic {
	e.t.Helper()
	timeout := time.After(patience)
	for {
		e.mu.Lock()
		shown, known := e.shown[name]
		e.mu.Unlock()
		var got []string
		for _, d := range shown {
			got = append(got, d.Code)
		}
		if known && slices.Equal(got, codes) {
			return shown
		}
		select {
		case <-e.news:
		case <-timeout:
			e.t.Fatalf("%s has the diagnostics %+v, want the codes %q", name, shown, codes)
		}
	}
}

// stop ends the session as the protocol wants it.
func (e *editor) stop() {
	e.t.Helper()
	e.call("shutdown", nil, nil)
	e.notify("exit", nil)
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("the server ends with %v", err)
	}
}

// positionOf returns the position behind the n-th occurrence of a part of a text,
// from 1, in UTF-16 code units.
func positionOf(text, part string, n int) lspPosition {
	at := 0
	for range n {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return lspPosition{-1, -1}
		}
		at += i + len(part)
	}
	before := text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		units++
		if r > 0xffff {
			units++
		}
	}
	return lspPosition{strings.Count(before, "\n"), units}
}

// initRepository starts a repository from an example.
func initRepository(t *testing.T, bin, example string) (dir string, platform string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a platform, with 100% ä")
	out, err := exec.Command(bin, "init", "--from", example, "--ci", "none", "--pre-commit=false", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, fixture.ReadText(t, filepath.Join(dir, "platform.cue"))
}

// TestLanguageServerDiagnostics breaks and mends a blueprint in an editor.
func TestLanguageServerDiagnostics(t *testing.T) {
	bin := fixture.Batchwright(t)
	dir, platform := initRepository(t, bin, "batch-platform")
	e := startEditor(t, bin, dir)

	broken := strings.Replace(platform, `"l4-spot": {hardware`, `"l4-spot": {accept: W0203: "🚀 ключ", hardwar`, 1)
	e.open("platform.cue", broken)
	d := e.waitFor("platform.cue", "E0101")[0]
	if d.Severity != 1 || d.Source != "batchwright" || !strings.Contains(d.Message, `did you mean "hardware"?`) ||
		!strings.Contains(d.Message, "batchwright explain E0101") {
		t.Errorf("diagnostic %+v", d)
	}
	if want := (lspRange{positionOf(broken, `ключ", `, 1), positionOf(broken, `ключ", hardwar`, 1)}); d.Range != want {
		t.Errorf("the diagnostic is at %+v, want %+v", d.Range, want)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "platform.cue")); err != nil {
		t.Fatal(err)
	}

	// Mend the field behind an emoji, by its positions.
	e.change("platform.cue", "hardware", &d.Range)
	e.change("platform.cue", "", &lspRange{positionOf(broken, `"l4-spot": {`, 1), positionOf(broken, `ключ", `, 1)})
	e.waitFor("platform.cue", "E0602")

	// A file that exists only in the editor belongs to the package; the finding is in
	// the file that must change, and points to the other one.
	e.open("more.cue", "package platform\n\ntiers: lp: capacity: [\"l4-on")
	e.waitFor("more.cue", "E0003")
	e.change("more.cue", "package platform\n\nteams: \"team-e\": cohort: \"team-x\"\n", nil)
	if d := e.waitFor("more.cue", "E0201")[0]; !strings.Contains(d.Message, `want one of`) {
		t.Errorf("diagnostic %+v", d)
	}
	e.close("more.cue")
	e.waitFor("more.cue")

	// YAML is a blueprint if it looks like one.
	e.open("values.yaml", "region: x\nzones: [y]\ncluster: z\n")
	e.open("small.yaml", "name: small\nproject: my-project\nregion: nowhere\nteams: {}\n")
	e.waitFor("small.yaml", "E0102", "E0103")

	e.mu.Lock()
	if shown := e.shown["values.yaml"]; len(shown) > 0 {
		t.Errorf("a file that is no blueprint has the diagnostics %+v", shown)
	}
	e.mu.Unlock()
	e.stop()
}

// at returns the parameters of a question about the place behind the n-th occurrence
// of a part of a text.
func (e *editor) at(name, text, part string, n int) map[string]any {
	return map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name)}, "position": positionOf(text, part, n),
	}
}

// complete completes behind a part of a text, applies the offer with a label, and
// returns the text.
func (e *editor) complete(name, text, behind, label string) string {
	e.t.Helper()
	var list struct {
		Items []struct {
			Label    string
			TextEdit struct {
				Range   lspRange
				NewText string
			}
		}
	}
	e.call("textDocument/completion", e.at(name, text, behind, 1), &list)
	var labels []string
	for _, item := range list.Items {
		labels = append(labels, item.Label)
		if item.Label != label {
			continue
		}
		out := text[:offsetOf(text, item.TextEdit.Range.Start)] + item.TextEdit.NewText +
			text[offsetOf(text, item.TextEdit.Range.End):]
		e.change(name, out, nil)
		return out
	}
	e.t.Fatalf("behind %q the server offers %q, want %s", behind, labels, label)
	return ""
}

// act applies the correction of a diagnostic that has a title, and returns the text. The
// cursor is in another line, so the editor names the diagnostic, beside one of another
// server.
func (e *editor) act(name, text string, d lspDiagnostic, title string) string {
	e.t.Helper()
	other := map[string]any{"range": d.Range, "code": 7, "message": "of another server"}
	var actions []struct {
		Title string
		Edit  struct {
			Changes map[string][]struct {
				Range   lspRange
				NewText string
			}
		}
	}
	e.call("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name)}, "range": lspRange{},
		"context": map[string]any{"diagnostics": []any{other, d}},
	}, &actions)
	for _, a := range actions {
		if edits := a.Edit.Changes[e.uri(name)]; a.Title == title && len(edits) == 1 {
			start, end := offsetOf(text, edits[0].Range.Start), offsetOf(text, edits[0].Range.End)
			e.change(name, edits[0].NewText, &edits[0].Range)
			return text[:start] + edits[0].NewText + text[end:]
		}
	}
	e.t.Fatalf("the actions are %+v, want %q", actions, title)
	return ""
}

// offsetOf returns the byte offset of a position.
func offsetOf(text string, p lspPosition) int {
	at := 0
	for range p.Line {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for units := 0; units < p.Character; {
		r, size := utf8.DecodeRuneInString(text[at:])
		units += len(utf16.Encode([]rune{r}))
		at += size
	}
	return at
}

// TestLanguageServerWriting writes an entity of each kind by completion, in a
// repository that init made, and reads about it.
func TestLanguageServerWriting(t *testing.T) {
	bin := fixture.Batchwright(t)
	dir, platform := initRepository(t, bin, "batch-platform")
	e := startEditor(t, bin, dir)
	e.open("platform.cue", platform)
	const name = "more.cue"
	text := `package platform

// ключ 🚀
capacity: "l4-more": {
	accept: W0203: "ключ 🚀", har
}
teams: "team-e": {
	cohort: "team-a-b"
	quota: lp: {
		l4-s
	}
}
workloads: later: {
	tier: "lp"
	image: "example.com/train:1"
	perPod: {
		me
	}
}
`
	e.open(name, text)
	e.waitFor(name, "E0107", "E0107", "E0107", "E0107")
	text = e.complete(name, text, "🚀\", har", "hardware")
	text = e.complete(name, text, "hardware: ", "l4")
	text = strings.Replace(text, `hardware: "l4"`, `hardware: "l4", consumption: {}, maxNodes: 1`, 1)
	e.change(name, text, nil)
	text = e.complete(name, text, "consumption: {", "spot")
	text = strings.Replace(text, "{spot: }", "{spot: {}}", 1)
	text = e.complete(name, text, "l4-s", "l4-spot")
	text = e.complete(name, text, "\t\tme", "memory")
	text = strings.Replace(text, "memory: ", "memory: \"4Gi\", cpu: 1, accelerators: 1", 1)
	text = strings.Replace(text, `"l4-spot": `, `"l4-spot": borrow: 4`, 1)
	text = strings.Replace(text, `"lp"`, `"lp", copies: 1`, 1)
	e.change(name, text, nil)
	e.waitFor(name, "W0203") // accepted

	// Two corrections: of a misspelt field, and the acceptance of a warning.
	text = strings.Replace(strings.Replace(text, "maxNodes: 1", "maxNode: 1", 1), `accept: W0203: "ключ 🚀", `, "", 1)
	e.change(name, text, nil)
	text = e.act(name, text, e.waitFor(name, "E0101")[0], "use maxNodes")
	text = e.act(name, text, e.waitFor(name, "W0203")[0], "accept W0203, then write the reason")
	e.waitFor(name, "E0103")
	text = strings.Replace(text, `W0203: ""`, `W0203: "bought for autumn"`, 1)
	e.change(name, text, nil)
	if d := e.waitFor(name, "W0203")[0]; d.Severity != 4 || !strings.Contains(d.Message, "bought for autumn") {
		t.Errorf("an accepted finding is shown as %+v", d)
	}

	var hover struct{ Contents struct{ Value string } }
	e.call("textDocument/hover", e.at(name, text, "maxNod", 1), &hover)
	if !strings.Contains(hover.Contents.Value, "Maximum number of nodes") {
		t.Errorf("hover shows %q", hover.Contents.Value)
	}
	e.call("textDocument/hover", e.at(name, text, `capacity: "l4`, 1), &hover)
	if !strings.Contains(hover.Contents.Value, "**W0203**: unused definition") {
		t.Errorf("hover on a finding shows %q", hover.Contents.Value)
	}
	var places []struct {
		URI   string
		Range lspRange
	}
	e.call("textDocument/definition", e.at(name, text, `tier: "l`, 1), &places)
	if len(places) != 1 || places[0].URI != e.uri("platform.cue") ||
		places[0].Range.Start != positionOf(platform, "tiers: {\n\t", 1) {
		t.Errorf("the definition is at %+v", places)
	}
	var symbols []struct {
		Name     string
		Children []struct{ Name string }
	}
	e.call("textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}}, &symbols)
	if len(symbols) != 3 || symbols[1].Name != "teams" || symbols[1].Children[0].Name != "team-e" {
		t.Errorf("the outline is %+v", symbols)
	}
	e.stop()
}

// changed tells the server that another program has changed files.
func (e *editor) changed(names ...string) {
	e.t.Helper()
	var changes []any
	for _, name := range names {
		changes = append(changes, map[string]any{"uri": e.uri(name), "type": 2})
	}
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": changes})
}

// TestLanguageServerFiles opens files that other programs write, rename and delete, and
// files that are large, nested deeply, or elsewhere.
func TestLanguageServerFiles(t *testing.T) {
	bin := fixture.Batchwright(t)
	dir, platform := initRepository(t, bin, "batch-platform")
	e := startEditor(t, bin, dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e.open("platform.cue", platform)

	// A mistake in a file that is not open: another program writes, renames, mends and
	// deletes the file.
	const wrong = "package platform\n\nteams: \"team-e\": cohrt: \"team-x\"\n"
	write("more.cue", wrong)
	e.changed("more.cue")
	e.waitFor("more.cue", "E0101")
	if err := os.Rename(filepath.Join(dir, "more.cue"), filepath.Join(dir, "most.cue")); err != nil {
		t.Fatal(err)
	}
	e.changed("more.cue", "most.cue")
	e.waitFor("more.cue")
	e.waitFor("most.cue", "E0101")
	if err := os.Remove(filepath.Join(dir, "most.cue")); err != nil {
		t.Fatal(err)
	}
	e.changed("most.cue")
	e.waitFor("most.cue")

	// The text in the editor counts, and not the file, which may be deleted meanwhile.
	write("open.cue", wrong)
	e.open("open.cue", "package platform\n")
	e.waitFor("platform.cue", "E0602")
	if err := os.Remove(filepath.Join(dir, "open.cue")); err != nil {
		t.Fatal(err)
	}
	e.change("open.cue", wrong, nil)
	e.waitFor("open.cue", "E0101")
	e.close("open.cue")
	e.waitFor("open.cue")

	// Lines can end as on Windows, and an emoji is two units wide.
	text := strings.ReplaceAll(`package platform

// 🚀
teams: "team-e": {accept: W0203: "🚀 soon", cohrt: "x"}
`, "\n", "\r\n")
	e.open("windows.cue", text)
	d := e.waitFor("windows.cue", "E0101")[0]
	if want := (lspRange{positionOf(text, `🚀 soon", `, 1), positionOf(text, "cohrt", 1)}); d.Range != want {
		t.Errorf("the diagnostic is at %+v, want %+v", d.Range, want)
	}
	text = e.act("windows.cue", text, d, "use cohort")
	e.waitFor("windows.cue", "E0201")
	if !strings.Contains(text, "cohort: \"x\"}\r\n") {
		t.Errorf("the correction gives %q", text)
	}
	e.close("windows.cue")
	e.waitFor("windows.cue")

	// A file that is too large for a blueprint is reported, and no question hangs.
	large := "package platform\n" + strings.Repeat("// "+strings.Repeat("x", 1<<20)+"\n", 17)
	e.open("large.cue", large)
	e.waitFor("large.cue", "E0002")
	e.call("textDocument/completion", e.at("large.cue", large, "package platform\n", 1), nil)
	e.close("large.cue")
	e.waitFor("large.cue")
	deep := "package platform\n\nteams: " + strings.Repeat("[", 200_000)
	e.open("deep.cue", deep)
	e.waitFor("deep.cue", "E0003")
	e.call("textDocument/completion", e.at("deep.cue", deep, "teams: [[[", 1), nil)
	e.call("textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": e.uri("deep.cue")}}, nil)
	e.close("deep.cue")
	e.waitFor("deep.cue")

	// A blueprint outside the module and the working directory is one of its own.
	outside, err := filepath.Rel(dir, filepath.Join(t.TempDir(), "outside.cue"))
	if err != nil {
		t.Fatal(err)
	}
	e.open(outside, "package other\n\nname: \"small\"\nproject: \"my-project\"\nregion: \"nowhere\"\nteams: {}\n")
	e.waitFor("outside.cue", "E0102", "E0103")
	e.close(outside)
	e.waitFor("outside.cue")
	e.waitFor("platform.cue", "E0602")
	e.stop()
}

// TestLanguageServerGarbage sends messages that no editor should send. The server
// answers each request, writes nothing but messages, and ends when the editor does.
func TestLanguageServerGarbage(t *testing.T) {
	bin := fixture.Batchwright(t)
	message := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	request := func(id int, method, params string) string {
		return message(fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": %q, "params": %s}`, id, method, params))
	}
	for _, c := range []struct{ name, in, want string }{
		{"no message", "", ""},
		{"garbage before a message", "hello\r\n\r\nX: y\r\n" + request(1, "initialize", "{}"), "1 result"},
		{"a long line", strings.Repeat("x", 1<<20) + "\n" + request(1, "initialize", "{}"), "1 result"},
		{"no JSON", message("{") + request(1, "initialize", "{}"), "null -32700, 1 result"},
		{"a batch", message("[1]") + request(1, "initialize", "{}"), "null -32700, 1 result"},
		{"deep JSON", message(strings.Repeat("[", 1<<20)) + request(1, "initialize", "{}"), "null -32700, 1 result"},
		{"a message that is too large", fmt.Sprintf("Content-Length: %d\r\n\r\n", 1<<40), ""},
		{"an unfinished message", "Content-Length: 10\r\n\r\n{}", ""},
		{"too early", request(1, "textDocument/hover", "{}"), "1 -32002"},
		{"an unknown method", request(1, "initialize", "{}") + request(2, "a/b", "{}"), "1 result, 2 -32601"},
		{"wrong parameters", request(1, "initialize", "{}") + request(2, "textDocument/hover", "7"),
			"1 result, 2 -32602"},
		{"no such file", request(1, "initialize", "{}") + request(2, "textDocument/completion",
			`{"textDocument": {"uri": "untitled:1"}, "position": {"line": -1, "character": 7}}`), "1 result, 2 result"},
		{"after the end", request(1, "initialize", "{}") + request(2, "shutdown", "null") +
			request(3, "textDocument/hover", "{}"), "1 result, 2 result, 3 -32600"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(bin, "lsp")
			cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(c.in)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := readAnswers(t, out); got != c.want {
				t.Errorf("the answers are %q, want %q", got, c.want)
			}
		})
	}
	cmd := exec.Command(bin, "lsp")
	cmd.Stdin = strings.NewReader(request(1, "initialize", "{}") + message(`{"jsonrpc": "2.0", "method": "exit"}`))
	if err := cmd.Run(); err == nil {
		t.Error("an exit without a shutdown is no failure")
	}
}

// readAnswers returns the answers in a server's output: the id, and "result" or the
// code of the error.
func readAnswers(t *testing.T, out []byte) string {
	t.Helper()
	var answers []string
	for r := bufio.NewReader(bytes.NewReader(out)); ; {
		var answer struct {
			ID     *int
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		err := jsonrpc2.VSCodeObjectCodec{}.ReadObject(r, &answer)
		if errors.Is(err, io.EOF) {
			return strings.Join(answers, ", ")
		}
		if err != nil {
			t.Fatalf("the output is no message: %v\n%.300q", err, out)
		}
		id, result := "null", "result"
		if answer.ID != nil {
			id = strconv.Itoa(*answer.ID)
		}
		if answer.Error != nil {
			result = strconv.Itoa(answer.Error.Code)
		}
		answers = append(answers, id+" "+result)
	}
}
