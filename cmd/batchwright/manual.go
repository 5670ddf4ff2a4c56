package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manualCommand writes the pages of the manual, for a release. SOURCE_DATE_EPOCH gives
// their date.
func (c Command) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the pages of the manual",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			for _, command := range append(root.Commands(), root) {
				command.Long = asMarkdown(command.Long)
			}
			header := &doc.GenManHeader{
				Section: "1", Source: "batchwright " + thisVersion().Version, Manual: "batchwright manual",
			}
			return doc.GenManTree(root, header, args[0])
		},
	}
}

// asMarkdown returns the text of a command's help as Markdown: indented lines outside of
// lists keep their breaks and columns.
func asMarkdown(help string) string {
	var out strings.Builder
	inList := false
	for line := range strings.Lines(help) {
		inList = strings.HasPrefix(line, "  - ") || inList && line != "\n"
		if strings.HasPrefix(line, "  ") && !inList {
			out.WriteString("  ")
		}
		out.WriteString(line)
	}
	return out.String()
}
