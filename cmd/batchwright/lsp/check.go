package lsp

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/batchwright/batchwright/compiler/editor"
)

// platform is one blueprint with files that are open in the editor.
type platform struct {
	key, dir string
	paths    []string
	named    bool // on the command line

	stop      func()             // stops the check that is planned or runs
	isChecked bool               // there was no edit since the last check
	found     map[string][]Found // result of the last check, by absolute name of the file
}

// platformOf returns the platform that a file belongs to, which is new if no file of it
// was open before. It returns nil if the file cannot be part of a platform. The caller
// must hold mu.
func (s *Server) platformOf(name string) *platform {
	dir := filepath.Dir(name)
	var of *platform
	switch ext := filepath.Ext(name); {
	case slices.Contains(s.Paths, name), slices.Contains(s.Paths, dir):
		of = &platform{key: strings.Join(s.Paths, "\n"), dir: s.Dir, paths: s.Paths, named: true}
	case ext == ".cue" && !slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), "cue.mod"):
		of = &platform{key: dir, dir: dir, paths: []string{dir}}
	case ext == ".yaml", ext == ".yml", ext == ".json":
		of = &platform{key: name, dir: dir, paths: []string{name}}
	default:
		return nil
	}
	return cmp.Or(s.platforms[of.key], of)
}

// scheduleFile plans a check of the platform of a file. A file that is part of no
// blueprint can be imported or embedded, so that every platform is checked. The
// caller must hold mu.
func (s *Server) scheduleFile(name string) {
	p := s.platformOf(name)
	if p != nil && (p.named || s.platforms[p.key] != nil || editor.IsBlueprint(s.readFiles(p.paths))) {
		s.platforms[p.key] = p
		s.scheduleCheck(p)
		return
	}
	s.scheduleAll()
}

// scheduleAll plans a check of every platform. The caller must hold mu.
func (s *Server) scheduleAll() {
	for _, p := range s.platforms {
		s.scheduleCheck(p)
	}
}

// scheduleCheck plans a check of a platform, and stops the current one, whose result
// would be outdated. The caller must hold mu.
func (s *Server) scheduleCheck(p *platform) {
	if p.stop != nil {
		p.stop()
	}
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(s.Delay, func() { s.runCheck(ctx, p) })
	p.isChecked, p.stop = false, func() {
		timer.Stop()
		cancel()
	}
}

// stopChecks stops all checks, and starts no more. The caller must hold mu.
func (s *Server) stopChecks() {
	for _, p := range s.platforms {
		p.stop()
	}
}

// openFile returns the first open file of a platform, "" if there is none. The caller must
// hold mu.
func (s *Server) openFile(p *platform) string {
	for _, name := range slices.Sorted(maps.Keys(s.documents)) {
		if of := s.platformOf(name); of != nil && of.key == p.key {
			return name
		}
	}
	return ""
}

// runCheck checks a platform and shows the findings, unless the check is stopped.
func (s *Server) runCheck(ctx context.Context, p *platform) {
	s.mu.Lock()
	if ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	if s.openFile(p) == "" {
		delete(s.platforms, p.key)
		files := slices.Collect(maps.Keys(p.found))
		p.found = nil
		s.publishFindings(files)
		s.mu.Unlock()
		return
	}
	in := Request{Dir: p.dir, Paths: p.paths, Unsaved: s.unsavedFiles()}
	s.checks.Add(1)
	s.mu.Unlock()
	defer s.checks.Done()

	report, err := s.Check(ctx, in)

	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.log.Print(err)
		s.notifyEditor("window/showMessage", object{"type": messageWarning, "message": program + ": " + err.Error()})
		return
	}
	files := slices.Collect(maps.Keys(p.found))
	p.found, p.isChecked = map[string][]Found{}, true
	for _, f := range report.Findings {
		// An editor shows only what is in a file.
		if f.File = s.placeFinding(p, f.File); f.File != "" {
			p.found[f.File] = append(p.found[f.File], f)
		}
	}
	s.publishFindings(append(files, slices.Collect(maps.Keys(p.found))...))
}

// placeFinding returns the file in which to show a finding. A finding about the
// whole platform is shown in its first open file. The caller must hold mu.
func (s *Server) placeFinding(p *platform, file string) string {
	if file != "" && file != p.dir && !slices.Contains(p.paths, file) || s.documents[file] != nil {
		return file
	}
	return cmp.Or(s.openFile(p), file)
}

// publishFindings shows the findings of files. The caller must hold mu.
func (s *Server) publishFindings(files []string) {
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		diagnostics := []diagnostic{}
		for _, f := range s.findingsOf(file) {
			diagnostics = append(diagnostics, f.diagnostic)
		}
		if len(diagnostics) == 0 && !s.shown[file] {
			continue
		}
		s.shown[file] = len(diagnostics) > 0
		shown := object{"uri": s.uriFor(file), "diagnostics": diagnostics}
		if d := s.documents[file]; d != nil {
			shown["version"] = d.version
		}
		s.notifyEditor("textDocument/publishDiagnostics", shown)
	}
}

// findingsOf returns the findings in a file: a file can belong to several platforms.
// The caller must hold mu.
func (s *Server) findingsOf(file string) []Found {
	var out []Found
	for _, key := range slices.Sorted(maps.Keys(s.platforms)) {
		out = append(out, s.platforms[key].found[file]...)
	}
	return out
}

// notifyEditor sends a notification to the editor.
func (s *Server) notifyEditor(method string, params any) {
	if err := s.conn.Notify(context.Background(), method, params); err != nil {
		s.log.Printf("%s: %v", method, err)
	}
}
