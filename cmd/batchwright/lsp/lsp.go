// Package lsp is the language server for blueprints. It speaks the Language Server
// Protocol 3.17 over two streams.
//
// The package is only the protocol: it keeps the buffers of the editor, converts
// positions, and decides when to check a platform. Package editor answers the
// questions about a blueprint, and a function of the caller checks one. That
// function should work in a process of its own, because an evaluation of CUE cannot
// be stopped from inside.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/editor"
)

// Options are the settings of a server.
type Options struct {
	// Name and Version of the program, for the editor.
	Name, Version string
	// Dir is the working directory, and Paths are the absolute paths of the one
	// platform that the command line names. Without Paths, each directory of CUE
	// files, and each YAML or JSON file, is a platform of its own.
	Dir   string
	Paths []string
	// Check checks a platform. It must end soon after ctx is done.
	Check func(ctx context.Context, in Request) (*Report, error)
	// Codes are all codes of findings.
	Codes []diag.Code
	// Delay is the time between the last edit and the check.
	Delay time.Duration
	// Log receives messages about failures.
	Log io.Writer
}

// Server is one session with an editor.
type Server struct {
	Options
	log    *log.Logger
	conn   *jsonrpc2.Conn
	editor *editor.Editor // guarded by mu
	checks sync.WaitGroup // checks that run

	mu        sync.Mutex // guards everything below
	phase     phase
	canWatch  bool                 // the editor can watch files for the server
	documents map[string]*document // open files, by absolute name
	platforms map[string]*platform // by key
	shown     map[string]bool      // files for which the editor has diagnostics
}

// phase is a phase of a session.
type phase int

const (
	starting phase = iota
	running
	shutDown
	exited // without a shutdown before
)

// Serve runs a session until the editor ends it, in ends, or ctx is done. It returns
// an error if the editor ends the session without shutting it down.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	answers, err := editor.New(o.Codes)
	if err != nil {
		return err
	}
	s := &Server{
		Options: o, editor: answers, log: log.New(o.Log, "batchwright lsp: ", 0),
		documents: map[string]*document{}, platforms: map[string]*platform{}, shown: map[string]bool{},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := newStream(in, out, s.log)
	ready := make(chan struct{}) // s.conn is set
	handle := func(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
		<-ready
		s.answerRequest(ctx, r)
	}
	s.conn = jsonrpc2.NewConn(ctx, stream, handlerFunc(handle), jsonrpc2.SetLogger(s.log))
	close(ready)
	<-s.conn.DisconnectNotify()
	s.stopChecks()
	s.checks.Wait() // or their processes outlive the server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == exited {
		return errors.New("the editor ended the session without shutting it down")
	}
	return nil
}

// handlerFunc is a function that handles requests in the order in which they arrive.
type handlerFunc func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request)

func (f handlerFunc) Handle(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) { f(ctx, c, r) }

// Error codes of the protocol.
const (
	codeInternal       = jsonrpc2.CodeInternalError
	codeNotInitialized = -32002
)

// answerRequest answers a request or follows a notification. A panic becomes an error, so
// that one unexpected buffer does not end the session.
func (s *Server) answerRequest(ctx context.Context, r *jsonrpc2.Request) {
	result, err := func() (result any, err error) {
		defer func() {
			if bug := recover(); bug != nil {
				s.log.Printf("a bug in %s: %v\n%s", r.Method, bug, debug.Stack())
				err = &jsonrpc2.Error{Code: codeInternal, Message: fmt.Sprintf("a bug: %v", bug)}
			}
		}()
		return s.callMethod(r)
	}()
	if r.Notif {
		if err != nil && !strings.HasPrefix(r.Method, "$/") {
			s.log.Printf("%s: %v", r.Method, err)
		}
		return
	}
	response := &jsonrpc2.Response{ID: r.ID}
	var failure *jsonrpc2.Error
	switch {
	case errors.As(err, &failure):
		response.Error = failure
	case err != nil:
		response.Error = &jsonrpc2.Error{Code: codeInternal, Message: err.Error()}
	default:
		err = response.SetResult(result)
	}
	if response.Error == nil && err != nil {
		response.Error = &jsonrpc2.Error{Code: codeInternal, Message: err.Error()}
	}
	if err := s.conn.SendResponse(ctx, response); err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.log.Printf("%s: %v", r.Method, err)
	}
}

// callMethod calls the method of a request.
func (s *Server) callMethod(r *jsonrpc2.Request) (any, error) {
	s.mu.Lock()
	now := s.phase
	s.mu.Unlock()
	switch {
	case r.Method == "exit":
		return nil, s.exit()
	case now == starting && r.Method != "initialize":
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "the session is not initialized"}
	case now != starting && r.Method == "initialize", now == shutDown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "this is not possible now"}
	}
	method := s.protocolMethods()[r.Method]
	if method == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + r.Method}
	}
	params := json.RawMessage("null")
	if r.Params != nil {
		params = *r.Params
	}
	return method(params)
}

// method is a method of the protocol.
type method func(params json.RawMessage) (any, error)

// protocolMethods returns the methods of the protocol by name.
func (s *Server) protocolMethods() map[string]method {
	return map[string]method{
		"initialize":                      withParams(s.initialize),
		"initialized":                     withParams(s.initialized),
		"shutdown":                        withParams(s.shutdown),
		"textDocument/didOpen":            withParams(s.openDocument),
		"textDocument/didChange":          withParams(s.changeDocument),
		"textDocument/didSave":            withParams(s.saveDocument),
		"textDocument/didClose":           withParams(s.closeDocument),
		"workspace/didChangeWatchedFiles": withParams(s.changeFiles),
		"textDocument/completion":         withParams(s.completeAt),
		"textDocument/hover":              withParams(s.hoverAt),
		"textDocument/definition":         withParams(s.findDefinition),
		"textDocument/documentSymbol":     withParams(s.listSymbols),
		"textDocument/codeAction":         withParams(s.listActions),
	}
}

// withParams returns a method that decodes its parameters.
func withParams[P any](f func(P) (any, error)) method {
	return func(params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		return f(p)
	}
}

func (s *Server) initialize(p initializeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = running
	s.canWatch = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	return initializeResult{
		Capabilities: serverCapabilities{
			TextDocumentSync:       textDocumentSync{OpenClose: true, Change: syncIncremental, Save: true},
			CompletionProvider:     completionOptions{[]string{`"`, ":", " ", "{", "["}},
			HoverProvider:          true,
			DefinitionProvider:     true,
			DocumentSymbolProvider: true,
			CodeActionProvider:     codeActionOptions{[]string{kindQuickFix}},
		},
		ServerInfo: serverInfo{s.Name, s.Version},
	}, nil
}

// initialized asks the editor to tell of files that other programs change.
func (s *Server) initialized(struct{}) (any, error) {
	s.mu.Lock()
	canWatch := s.canWatch
	s.mu.Unlock()
	if !canWatch {
		return nil, nil
	}
	watch := registrationParams{[]registration{{
		ID: "files", Method: "workspace/didChangeWatchedFiles",
		RegisterOptions: watchOptions{[]fileWatcher{{"**/*.{cue,yaml,yml,json}"}}},
	}}}
	go func() { // the answer arrives only after this method has returned
		if err := s.conn.Call(context.Background(), "client/registerCapability", watch, nil); err != nil &&
			!errors.Is(err, jsonrpc2.ErrClosed) {
			s.log.Printf("watching files: %v", err)
		}
	}()
	return nil, nil
}

// exit ends the session.
func (s *Server) exit() error {
	s.mu.Lock()
	if s.phase != shutDown {
		s.phase = exited
	}
	s.mu.Unlock()
	return s.conn.Close()
}

func (s *Server) shutdown(json.RawMessage) (any, error) {
	s.stopChecks()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = shutDown
	return nil, nil
}
