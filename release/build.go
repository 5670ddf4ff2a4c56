package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

// builder builds one release from one clone.
type builder struct {
	options
	checkout
	clone       string
	bin         string   // the built programs, by platform
	environment []string // of the go command
}

// setEnvironment sets the environment in which the go command works: the one version
// of Go that release/go.mod names, and no setting of the user that could change a
// program. The settings that say where modules and caches are stay.
func (b *builder) setEnvironment(ctx context.Context, cache string) error {
	want, err := pinnedToolchain(filepath.Join(b.clone, "release", "go.mod"))
	if err != nil {
		return err
	}
	if runtime.Version() != want {
		// The archives contain what this program has compressed with Go's library.
		return fmt.Errorf("this program was built with %s, and release/go.mod names %s: set GOTOOLCHAIN=%s",
			runtime.Version(), want, want)
	}
	kept := []string{
		"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOVCS",
		"GOAUTH",
	}
	text, err := output(exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, kept...)...))
	if err != nil {
		return err
	}
	var settings map[string]string
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return err
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GO") && !strings.HasPrefix(variable, "CGO_") {
			b.environment = append(b.environment, variable)
		}
	}
	if cache != "" {
		settings["GOCACHE"] = cache
	}
	for _, name := range kept {
		b.environment = append(b.environment, name+"="+settings[name])
	}
	b.environment = append(b.environment, "GOENV=off", "GOWORK=off", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN="+want,
		"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0")
	return nil
}

// pinnedToolchain returns the toolchain that a go.mod file names.
func pinnedToolchain(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	module, err := modfile.Parse(file, content, nil)
	if err != nil {
		return "", err
	}
	if module.Toolchain == nil {
		return "", fmt.Errorf("%s names no toolchain", file)
	}
	return module.Toolchain.Name, nil
}

// goCommand returns a go command for a platform, in a directory of the clone.
func (b *builder) goCommand(ctx context.Context, p platform, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(b.clone, dir)
	cmd.Env = append(b.environment[:len(b.environment):len(b.environment)], "GOOS="+p.os, "GOARCH="+p.arch)
	return cmd
}

// path returns the path of a built program.
func (b *builder) path(name string, p platform) string {
	return filepath.Join(b.bin, p.os+"_"+p.arch, fileName(name, p))
}

// fileName returns the name of a program's file.
func fileName(name string, p platform) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

// build builds a program, and checks the version that the go command has stamped.
func (b *builder) build(ctx context.Context, program program, p platform) error {
	file := b.path(program.name, p)
	// -s and -w leave out what only debuggers read. Messages of crashes do not need it.
	cmd := b.goCommand(ctx, p, program.module, "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file,
		"./cmd/"+program.name)
	if _, err := output(cmd); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	// Tags of another form give modules in directories their versions: there are none.
	if program.module == "." && info.Main.Version != b.version {
		return fmt.Errorf("%s for %s has version %q, want %q", program.name, p, info.Main.Version, b.version)
	}
	if settings["vcs.revision"] != b.commit || settings["vcs.modified"] != "false" {
		return fmt.Errorf("%s for %s was built from revision %q (modified: %s), want %q", program.name, p,
			settings["vcs.revision"], settings["vcs.modified"], b.commit)
	}
	return nil
}
