package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// buildVersion holds the linker's information about the program.
type buildVersion struct {
	Version  string `json:"batchwright"` // version of the module, "(devel)" for a build from a checkout
	Revision string `json:"revision"`    // commit of the checkout, "" if it is unknown
	Modified bool   `json:"modified"`    // the checkout had uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (c Command) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Version prints the version of batchwright and of its source.",
		Example: `  batchwright version
  batchwright version --format json | jq -r .batchwright`,
		Args: cobra.NoArgs,
	}
	c.addFormat(cmd, "output format of the version", formatText, formatJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		if c.format.value == formatJSON {
			return json.NewEncoder(c.Stdout).Encode(struct {
				Version int    `json:"version"`
				Type    string `json:"type"`
				buildVersion
			}{1, "version", thisVersion()})
		}
		_, err := fmt.Fprintln(c.Stdout, thisVersion())
		return err
	}
	return cmd
}

func thisVersion() buildVersion {
	v := buildVersion{Version: "(unknown)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// source returns the version in the form that git and "go install" accept: the
// release, otherwise the commit, otherwise the branch with the latest version.
func (v buildVersion) source() string {
	switch {
	case semver.IsValid(v.Version) && semver.Build(v.Version) == "" && !module.IsPseudoVersion(v.Version):
		return v.Version
	case v.Revision != "":
		return v.Revision
	}
	if commit, err := module.PseudoVersionRev(v.Version); err == nil {
		return commit
	}
	return "main"
}

// brief returns the program with its release or the beginning of its commit, for a sentence.
func (v buildVersion) brief() string {
	source := v.source()
	switch {
	case semver.IsValid(source):
		return "batchwright " + source
	case len(source) >= 12:
		return "batchwright " + source[:12]
	}
	return "this batchwright"
}

func (v buildVersion) String() string {
	s := "batchwright " + v.Version
	if v.Revision != "" {
		s += " " + v.Revision
	}
	if v.Modified {
		s += " (modified)"
	}
	return fmt.Sprintf("%s %s %s/%s", s, v.Go, v.OS, v.Arch)
}
