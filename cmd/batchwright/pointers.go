package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandPointer tells people who type another program's command which command they want.
type commandPointer struct {
	advice string
	typed  []string
}

func commandPointers() []commandPointer {
	return []commandPointer{
		{"batchwright diff shows what a change does", []string{"plan", "preview", "compare", "review"}},
		{
			"batchwright compile writes the deploy folder, and create-platform.sh in it builds the platform",
			[]string{"apply", "deploy", "up", "install"},
		},
		{
			"destroy-platform.sh in the deploy folder destroys the platform",
			[]string{"destroy", "delete", "down", "uninstall", "teardown"},
		},
		{"batchwright vet checks a blueprint", []string{"validate", "check", "lint", "test", "verify", "eval"}},
		{
			"batchwright compile writes the deploy folder",
			[]string{"build", "generate", "gen", "render", "synth", "create", "write", "export", "make"},
		},
		{"batchwright init --from starts a repository", []string{"new", "start", "scaffold", "bootstrap"}},
		{"batchwright init updates the schema in a repository", []string{"update", "upgrade"}},
		{"batchwright import writes the blueprint of a cluster that runs", []string{"adopt", "migrate", "convert"}},
		{"batchwright fmt formats CUE files", []string{"format"}},
		{"batchwright rehearse simulates jobs", []string{"simulate", "replay", "play", "run", "dry-run"}},
		{"batchwright cost computes what a blueprint costs", []string{"price", "prices", "pricing", "estimate"}},
		{
			"batchwright explain explains a finding or a field",
			[]string{"doc", "docs", "describe", "why", "field", "fields"},
		},
		{"batchwright catalog lists machine types", []string{"list", "machines", "machine", "gpus", "zones"}},
		{"batchwright graph draws the platform", []string{"draw", "show", "diagram", "visualize"}},
		{"batchwright vet --list lists the codes of all findings", []string{"codes", "rules", "findings"}},
		{"batchwright lsp is the language server", []string{"language-server", "serve", "server"}},
	}
}

// adviseCommand returns advice for a command that does not exist, "" if nothing is known of it.
func adviseCommand(typed string) string {
	for _, p := range commandPointers() {
		if slices.Contains(p.typed, typed) {
			return p.advice
		}
	}
	return ""
}

// flagPointer tells people who type another program's flag which flag they want.
type flagPointer struct {
	advice string
	flag   string // that the command must have; "" for every command
	typed  []string
}

func flagPointers() []flagPointer {
	return []flagPointer{
		{"use --format json", "format", []string{"json", "o", "output", "j"}},
		{"use --format sarif", "format", []string{"sarif"}},
		{"--version prints the version", "version", []string{"v", "V"}},
		{"batchwright version prints the version", "", []string{"version", "V"}},
		{"--notes also shows notes", "notes", []string{"v", "vv", "verbose", "debug", "all", "a"}},
		{"there is no other output", "", []string{"v", "vv", "verbose", "debug"}},
		{"use --color never", "color", []string{"no-color", "no-colour", "nocolor"}},
		{"use -t key=value", "tag", []string{"var", "set", "D", "e", "var-file", "inject"}},
		{"write the PATH of the blueprint without a flag", "tag", []string{"f", "file", "filename", "chdir", "C"}},
		{"use --output", "output", []string{"out", "dir", "d", "output-dir"}},
		{"use --only", "only", []string{"target"}},
		{"use --dry-run", "dry-run", []string{"n", "check", "plan"}},
		{"use --list", "list", []string{"check"}},
		{"use --force", "force", []string{"f", "overwrite", "y", "yes"}},
	}
}

// adviseFlag returns advice for a flag that a command does not have, "" if nothing is known of it.
func adviseFlag(cmd *cobra.Command, typed string) string {
	for _, p := range flagPointers() {
		if slices.Contains(p.typed, typed) && (p.flag == "" || cmd.Flags().Lookup(p.flag) != nil) {
			return p.advice
		}
	}
	return ""
}
