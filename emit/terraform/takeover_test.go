package terraform

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestAddresses holds that an address becomes a reference and nothing else: text that is
// no address gives an error, and no file.
func TestAddresses(t *testing.T) {
	letGoOf := func(from string) (string, error) {
		files, err := letGo(&ir.Platform{Cluster: ir.Cluster{TakeOver: &ir.TakeOver{From: from}}})
		if len(files) != 1 {
			return "", err
		}
		return string(files[0].Content), err
	}
	for _, from := range []string{
		"google_container_cluster.a", `module.m["x y"].google_container_cluster.a`, "google_container_cluster.a[12]",
	} {
		if content, err := letGoOf(from); err != nil || !strings.Contains(content, "\n  from = "+from+"\n") {
			t.Errorf("%s: %v\n%s", from, err, content)
		}
	}
	for _, from := range []string{
		"google_container_cluster.a\n}\nresource \"x\" \"y\" {", `google_container_cluster.a["${file("/etc/passwd")}"]`,
		"file(\"a\")", "a.b[c.d]", "a.*.b", "a..b", "1.a",
	} {
		if content, err := letGoOf(from); err == nil {
			t.Errorf("%s is an address:\n%s", from, content)
		}
	}
}
