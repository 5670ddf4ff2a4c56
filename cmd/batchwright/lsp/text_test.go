package lsp

import (
	"path/filepath"
	"testing"
)

// TestPositions converts each offset to a position and back, in a text with
// characters of one to four bytes and with every kind of line end.
func TestPositions(t *testing.T) {
	const source = "a: \"ключ\"\r\nb: \"🚀x\"\rc: 1\n\nd\xff: 2"
	text := newText([]byte(source))
	for i, r := range source {
		if r == '\n' || r == '\r' {
			continue
		}
		if p := text.position(i); text.offset(p) != i {
			t.Errorf("offset %d is at %+v, which is offset %d", i, p, text.offset(p))
		}
	}
	for _, c := range []struct {
		at   position
		want int
	}{
		{position{0, 6}, 8}, {position{0, 99}, 13}, {position{1, 4}, 19}, {position{1, 5}, 19}, {position{1, 6}, 23},
		{position{2, 0}, 26}, {position{3, 0}, 31}, {position{4, 2}, 34}, {position{9, 0}, len(source)},
		{position{-1, 5}, 0},
	} {
		if got := text.offset(c.at); got != c.want {
			t.Errorf("%+v is offset %d, want %d", c.at, got, c.want)
		}
	}
	if end := text.position(1 << 20); end != text.position(len(source)) {
		t.Errorf("an offset behind the end is at %+v", end)
	}
}

// TestURIs converts names of files to URIs and back.
func TestURIs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.cue", "with space.cue", "100%.cue", "ключ.cue", "a#b?c.cue"} {
		name = filepath.Join(dir, name)
		if got := fileOf(uriOf(name)); got != name {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	for _, uri := range []string{"untitled:1", "", "file:", "http://a/b.cue", "%"} {
		if got := fileOf(uri); got != "" {
			t.Errorf("%q is the file %q", uri, got)
		}
	}
}
