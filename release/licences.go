package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licenceFile matches the names of the files that a licence asks to pass on.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([-._].*)?$`)

// licences returns the licences of every module that the programs contain, of Go, and of
// files of others in this repository. A module without a licence is an
// error, because nobody may pass it on.
func (b *builder) licences(ctx context.Context) ([]byte, error) {
	modules := map[string]string{} // the directories by path and version
	var args []string
	for _, p := range b.platforms {
		for _, program := range b.programs {
			info, err := buildinfo.ReadFile(b.path(program.name, p))
			if err != nil {
				return nil, err
			}
			for _, m := range info.Deps {
				if m.Replace != nil {
					m = m.Replace
				}
				if id := m.Path + "@" + m.Version; !strings.HasPrefix(m.Path, ".") && modules[id] == "" {
					modules[id] = "unknown"
					args = append(args, id)
				}
			}
		}
	}
	if err := b.findModules(ctx, args, modules); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.WriteString("The programs of batchwright contain these modules and files of others, with these licences.\n")
	var missing []error
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		count, err := appendLicences(&text, id, modules[id])
		if err != nil {
			return nil, err
		}
		if count == 0 {
			missing = append(missing, fmt.Errorf("%s has no file with a licence", id))
		}
	}
	goroot, err := output(b.goCommand(ctx, thisPlatform(), ".", "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	if _, err := appendLicences(&text, "Go "+strings.TrimPrefix(runtime.Version(), "go"), goroot); err != nil {
		return nil, err
	}
	err = errors.Join(append(missing, b.appendOwn(ctx, &text))...)
	return text.Bytes(), err
}

// findModules fills in the directories of modules.
func (b *builder) findModules(ctx context.Context, ids []string, modules map[string]string) error {
	if len(ids) == 0 {
		return nil
	}
	text, err := output(b.goCommand(ctx, thisPlatform(), ".", append([]string{"mod", "download", "-json"}, ids...)...))
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var m struct{ Path, Version, Dir string }
		switch err := decoder.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		modules[m.Path+"@"+m.Version] = m.Dir
	}
}

// appendOwn adds the licences in directories of this repository.
func (b *builder) appendOwn(ctx context.Context, text *bytes.Buffer) error {
	list, err := git(ctx, b.clone, "ls-files", "emit", "compiler", "schema", "cmd", "rehearse")
	if err != nil {
		return err
	}
	for name := range strings.Lines(list) {
		name = strings.TrimSpace(name)
		if !licenceFile.MatchString(filepath.Base(name)) {
			continue
		}
		if _, err := appendLicences(text, filepath.Dir(name), filepath.Join(b.clone, filepath.Dir(name))); err != nil {
			return err
		}
	}
	return nil
}

// appendLicences adds the licences of one directory below a heading, and returns their
// number.
func appendLicences(text *bytes.Buffer, heading, dir string) (count int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		count++
		fmt.Fprintf(text, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), heading, e.Name(), bytes.TrimSpace(content))
	}
	return count, nil
}
