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
	// Version of the program, for the editor.
	Version string
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
	checks sync.WaitGroup // checks that run

	mu        sync.Mutex // guards everything below; the methods of the protocol hold it
	conn      *jsonrpc2.Conn
	editor    *editor.Editor
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
	conn := jsonrpc2.NewConn(ctx, newStream(in, out, s.log),
		jsonrpc2.HandlerWithError(s.answerRequest).SuppressErrClosed(), jsonrpc2.SetLogger(s.log))
	<-conn.DisconnectNotify()
	s.mu.Lock()
	s.stopChecks()
	s.mu.Unlock()
	s.checks.Wait() // or their processes outlive the server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == exited {
		return errors.New("the editor ended the session without shutting it down")
	}
	return nil
}

// codeNotInitialized is an error code of the protocol.
const codeNotInitialized = -32002

// answerRequest answers a request or follows a notification. A panic becomes an error, so
// that one unexpected buffer does not end the session.
func (s *Server) answerRequest(_ context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) (result any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	defer func() {
		if bug := recover(); bug != nil {
			s.log.Printf("a bug in %s: %v\n%s", r.Method, bug, debug.Stack())
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("a bug: %v", bug)}
		}
	}()
	switch {
	case r.Method == "exit":
		if s.phase != shutDown {
			s.phase = exited
		}
		return nil, conn.Close()
	case s.phase == starting && r.Method != "initialize":
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "the session is not initialized"}
	case s.phase != starting && r.Method == "initialize", s.phase == shutDown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "this is not possible now"}
	case r.Notif && strings.HasPrefix(r.Method, "$/"):
		return nil, nil // every server can ignore it
	}
	method := s.protocolMethods()[r.Method]
	if method == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + r.Method}
	}
	var p params
	if r.Params != nil {
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
	}
	return method(p), nil
}

// method is a method of the protocol. A notification has no result.
type method func(p params) any

// protocolMethods returns the methods of the protocol by name.
func (s *Server) protocolMethods() map[string]method {
	return map[string]method{
		"initialize":                      s.initialize,
		"initialized":                     s.watchFiles,
		"shutdown":                        s.shutdown,
		"textDocument/didOpen":            s.openDocument,
		"textDocument/didChange":          s.changeDocument,
		"textDocument/didSave":            s.saveDocument,
		"textDocument/didClose":           s.closeDocument,
		"workspace/didChangeWatchedFiles": s.changeFiles,
		"textDocument/completion":         s.withQuestion(s.completeAt, completionList(nil)),
		"textDocument/hover":              s.withQuestion(s.hoverAt, nil),
		"textDocument/definition":         s.withQuestion(s.findDefinition, []location{}),
		"textDocument/documentSymbol":     s.withQuestion(s.listSymbols, []documentSymbol{}),
		"textDocument/codeAction":         s.withQuestion(s.listActions, []codeAction{}),
	}
}

func (s *Server) initialize(p params) any {
	s.phase = running
	s.canWatch = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	return object{
		"capabilities": object{
			"textDocumentSync":       object{"openClose": true, "change": syncIncremental, "save": true},
			"completionProvider":     object{"triggerCharacters": []string{`"`, ":", " ", "{", "["}},
			"hoverProvider":          true,
			"definitionProvider":     true,
			"documentSymbolProvider": true,
			"codeActionProvider":     object{"codeActionKinds": []string{kindQuickFix}},
		},
		"serverInfo": object{"name": program, "version": s.Version},
	}
}

// watchFiles asks the editor to tell of files that other programs change.
func (s *Server) watchFiles(params) any {
	if !s.canWatch {
		return nil
	}
	watchers := []object{{"globPattern": "**/*.{cue,yaml,yml,json}"}}
	registration := object{
		"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": object{"watchers": watchers},
	}
	conn := s.conn
	go func() { // the answer arrives only after this method has returned
		err := conn.Call(context.Background(), "client/registerCapability",
			object{"registrations": []object{registration}}, nil)
		if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
			s.log.Printf("watching files: %v", err)
		}
	}()
	return nil
}

func (s *Server) shutdown(params) any {
	s.stopChecks()
	s.phase = shutDown
	return nil
}
