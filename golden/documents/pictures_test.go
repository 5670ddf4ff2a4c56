package documents_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestPictures compares the drawings in docs/pictures with the programs that draw them.
// To draw them again: go test ./golden/documents -run TestPictures -update
func TestPictures(t *testing.T) {
	for name, draw := range map[string]func() *picture{
		"blueprint-to-cluster.svg": drawBlueprint,
		"life-of-a-job.svg":        drawLife,
		"borrow-and-reclaim.svg":   drawReclaim,
	} {
		content, err := draw().encode()
		if err != nil {
			t.Fatal(err)
		}
		fixture.CompareFile(t, fixture.Path("docs/pictures", name), content)
	}
}

// TestPictureShowsTheBlueprint checks that the blueprint in a picture is the one in the
// page, which is compiled.
func TestPictureShowsTheBlueprint(t *testing.T) {
	page := fixture.ReadText(t, fixture.Path("docs/concepts.md"))
	for _, part := range blueprintParts() {
		code := strings.ReplaceAll(strings.Join(part.code, "\n"), "  ", "\t")
		if !strings.Contains(page, "\n"+code+"\n") {
			t.Errorf("docs/concepts.md does not contain\n%s", code)
		}
	}
}
