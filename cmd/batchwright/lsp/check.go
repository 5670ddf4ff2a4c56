package lsp

import (
	"context"
	"maps"
	"slices"
	"time"
)

// platform is one blueprint with files that are open in the editor.
type platform struct {
	key, dir string
	paths    []string

	edits   int                // number of edits so far
	checked int                // number of edits before the last check that ended
	timer   *time.Timer        // starts the next check
	cancel  context.CancelFunc // stops the current check
	found   map[string][]Found // result of the last check, by absolute name of the file
}

// scheduleFile plans a check of the platform of a file. A file that is part of no
// blueprint can be imported or embedded, so that every platform is checked. The
// caller must hold mu.
func (s *Server) scheduleFile(name string) {
	key, dir, paths := s.platformOf(name)
	if key != "" && s.platforms[key] == nil && s.isBlueprint(key, paths) {
		s.platforms[key] = &platform{key: key, dir: dir, paths: paths}
	}
	if p := s.platforms[key]; p != nil {
		s.scheduleCheck(p)
		return
	}
	for _, p := range s.platforms {
		s.scheduleCheck(p)
	}
}

// scheduleCheck plans a check of a platform, and stops the current one, whose result
// would be outdated. The caller must hold mu.
func (s *Server) scheduleCheck(p *platform) {
	p.edits++
	if p.cancel != nil {
		p.cancel()
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	edits := p.edits
	p.timer = time.AfterFunc(s.Delay, func() { s.runCheck(p, edits) })
}

// stopChecks stops all checks, and starts no more.
func (s *Server) stopChecks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.platforms {
		p.edits++
		p.timer.Stop()
		if p.cancel != nil {
			p.cancel()
		}
	}
}

// isOpen reports whether a file of the platform is open. The caller must hold mu.
func (s *Server) isOpen(p *platform) bool {
	for name := range s.documents {
		if key, _, _ := s.platformOf(name); key == p.key {
			return true
		}
	}
	return false
}

// runCheck checks a platform and shows the findings, unless there was another edit
// meanwhile.
func (s *Server) runCheck(p *platform, edits int) {
	s.mu.Lock()
	if p.edits != edits {
		s.mu.Unlock()
		return
	}
	if !s.isOpen(p) {
		delete(s.platforms, p.key)
		files := slices.Collect(maps.Keys(p.found))
		p.found = nil
		s.publishFindings(files)
		s.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	in := Request{Dir: p.dir, Paths: p.paths, Unsaved: s.unsavedFiles()}
	s.checks.Add(1)
	s.mu.Unlock()
	defer s.checks.Done()
	defer cancel()

	report, err := s.Check(ctx, in)

	s.mu.Lock()
	defer s.mu.Unlock()
	if p.edits != edits {
		return
	}
	if err != nil {
		s.log.Print(err)
		s.notifyEditor("window/showMessage", messageParams{messageWarning, "batchwright: " + err.Error()})
		return
	}
	files := slices.Collect(maps.Keys(p.found))
	p.found, p.checked = map[string][]Found{}, edits
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
	for _, name := range slices.Sorted(maps.Keys(s.documents)) {
		if key, _, _ := s.platformOf(name); key == p.key {
			return name
		}
	}
	return file
}

// publishFindings shows the findings of files. The caller must hold mu.
func (s *Server) publishFindings(files []string) {
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		params := publishParams{URI: uriOf(file), Diagnostics: []diagnostic{}}
		if d := s.documents[file]; d != nil {
			params.URI, params.Version = d.uri, &d.version
		}
		for _, f := range s.findingsOf(file) {
			params.Diagnostics = append(params.Diagnostics, s.diagnosticOf(f))
		}
		if len(params.Diagnostics) == 0 && !s.shown[file] {
			continue
		}
		s.shown[file] = len(params.Diagnostics) > 0
		s.notifyEditor("textDocument/publishDiagnostics", params)
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
