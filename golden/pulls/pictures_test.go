package pulls_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestPictures checks that each picture of a comment in docs was drawn from the golden.
// conformance/pictures draws them, and writes into a picture from what it was drawn.
func TestPictures(t *testing.T) {
	const prefix = "review-"
	files, err := filepath.Glob(fixture.Path("docs/pictures", prefix+"*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		golden := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), prefix), ".png") + ".md"
		want := "golden/pulls/" + golden + " sha256:" + checksum(fixture.ReadText(t, golden))
		if got := readSource([]byte(fixture.ReadText(t, file))); got != want {
			const command = "go -C conformance/pictures test . -run TestComments -args -update"
			t.Errorf("%s was drawn from %q, want %q; run %s", file, got, want, command)
		}
	}
}

// readSource returns the text with the keyword Source in the metadata of a PNG, or "".
// Source: W3C, Portable Network Graphics, tEXt.
func readSource(content []byte) string {
	const signature, length, kind, sum = 8, 4, 4, 4
	content = content[min(signature, len(content)):]
	for len(content) >= length+kind+sum {
		size := int(binary.BigEndian.Uint32(content))
		if size > len(content)-length-kind-sum {
			break
		}
		if text, ok := bytes.CutPrefix(content[length:length+kind+size], []byte("tEXtSource\x00")); ok {
			return string(text)
		}
		content = content[length+kind+size+sum:]
	}
	return ""
}
