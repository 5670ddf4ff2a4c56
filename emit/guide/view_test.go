package guide

import (
	"io/fs"
	"path"
	"regexp"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// definition and call match the name of a definition in the source of a page.
var (
	definition = regexp.MustCompile(`\{\{define "([^"]+)"\}\}`)
	call       = regexp.MustCompile(`\{\{template "([^"]+)"`)
)

// TestPhrasesAreDefined checks that each page has one definition of each phrase that it
// uses, for each scheduler and each GitOps tool.
func TestPhrasesAreDefined(t *testing.T) {
	names, err := fs.Glob(sources, "pages/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, scheduler := range ir.Schedulers() {
			for _, tool := range ir.GitOpsTools() {
				text := ""
				used := map[string]bool{}
				for _, folder := range []string{"", string(scheduler), string(tool)} {
					for _, base := range []string{path.Base(name), "shared.md"} {
						used[path.Join("pages", folder, base)] = true
					}
				}
				for file := range used {
					source, _ := fs.ReadFile(sources, file) // some are absent
					text += string(source)
				}
				defined := map[string]int{}
				for _, found := range definition.FindAllStringSubmatch(text, -1) {
					if defined[found[1]]++; defined[found[1]] > 1 {
						t.Errorf("%s with %s and %s defines %q twice", name, scheduler, tool, found[1])
					}
				}
				for _, found := range call.FindAllStringSubmatch(text, -1) {
					if defined[found[1]] == 0 {
						t.Errorf("%s with %s and %s lacks %q", name, scheduler, tool, found[1])
					}
				}
			}
		}
	}
}
