package repository

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const cue = "cuelang.org/go/cmd/cue"

// TestCueVet checks that CUE's own command accepts every example, and finds values
// that do not fit the schema, even at the top and next to other mistakes.
func TestCueVet(t *testing.T) {
	batchwright, cue := build(t, root, "./cmd/batchwright"), build(t, ".", cue)
	for _, name := range examples() {
		dir := filepath.Join(t.TempDir(), name)
		run(t, ".", batchwright, "init", "--from", name, "--project", "another-project", dir)
		run(t, dir, cue, "vet", "-c", "./...")
		run(t, dir, batchwright, "vet", ".")
		run(t, dir, batchwright, "fmt", "-l", ".")

		platform := filepath.Join(dir, "platform.cue")
		edit(t, platform, "\nname: ", "\nregoin: \"us-central1\"\nname: ")
		edit(t, platform, "\nhardware: ", "\nteams: \"team-x\": bukket: true\nhardware: ")
		out, err := try(dir, cue, "vet", "-c", "./...")
		if err == nil || !strings.Contains(out, "regoin: field not allowed") ||
			!strings.Contains(out, "bukket: field not allowed") {
			t.Errorf("%s: cue vet does not find the misspelt fields: %v\n%s", name, err, out)
		}
	}
}

// TestLanguageServer checks that CUE's language server explains and completes
// fields in a new repository, from the vendored schema.
func TestLanguageServer(t *testing.T) {
	dir := t.TempDir()
	run(t, ".", build(t, root, "./cmd/batchwright"), "init", "--from", "kai-departments", dir)
	file := filepath.Join(dir, "platform.cue")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "\nregion:")
	at := map[string]any{
		"textDocument": map[string]any{"uri": "file://" + file},
		"position":     map[string]any{"line": strings.Count(before, "\n") + 1, "character": 2},
	}

	s := serve(t, build(t, ".", cue), dir)
	s.call("initialize", map[string]any{
		"rootUri":          "file://" + dir,
		"workspaceFolders": []any{map[string]any{"uri": "file://" + dir, "name": "platform"}},
		"capabilities":     map[string]any{},
	})
	s.send(message{Method: "initialized", Params: map[string]any{}})
	s.send(message{Method: "textDocument/didOpen", Params: map[string]any{
		"textDocument": map[string]any{
			"uri": "file://" + file, "languageId": "cue", "version": 1, "text": string(text),
		},
	}})
	if got := s.call("textDocument/hover", at); !strings.Contains(got, "Region of the platform") {
		t.Errorf("no documentation of region: %s", got)
	}
	if got := s.call("textDocument/completion", at); !strings.Contains(got, `"label":"workloads"`) {
		t.Errorf("workloads is not offered: %s", got)
	}
}

// server is a running language server.
type server struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	ids int
}

// message is a message of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

func serve(t *testing.T, cue, dir string) *server {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), cue, "lsp")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(10*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		stop.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &server{t: t, in: in, out: bufio.NewReader(out)}
}

func (s *server) send(m message) {
	s.t.Helper()
	m.Version = "2.0"
	text, err := json.Marshal(m)
	if err == nil {
		_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// call returns the result of a request. Until the result arrives, it answers the
// server's own requests with null.
func (s *server) call(method string, params any) string {
	s.t.Helper()
	s.ids++
	id := float64(s.ids)
	s.send(message{ID: id, Method: method, Params: params})
	for {
		header, err := textproto.NewReader(s.out).ReadMIMEHeader()
		if err != nil {
			s.t.Fatalf("%s: %v", method, err)
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			s.t.Fatal(err)
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(s.out, text); err != nil {
			s.t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			s.t.Fatal(err)
		}
		switch {
		case m.Method == "" && m.ID == id:
			if m.Error != nil {
				s.t.Fatalf("%s: %s", method, m.Error)
			}
			return string(m.Result)
		case m.Method == "workspace/configuration":
			s.send(message{ID: m.ID, Result: json.RawMessage("[{}]")})
		case m.ID != nil:
			s.send(message{ID: m.ID, Result: json.RawMessage("null")})
		}
	}
}
