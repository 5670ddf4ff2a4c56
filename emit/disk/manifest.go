package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/emit"
)

const manifestVersion = 1

// manifest lists generated files and their hashes. It does not list itself.
type manifest struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"` // "sha256:" and hexadecimal digits, by path
}

// Manifest returns the manifest of a tree: a file that lists every other file with
// the hash of its content, sorted by path.
func Manifest(t emit.Tree) (emit.File, error) {
	m := manifest{manifestVersion, make(map[string]string, len(t))}
	for _, f := range t {
		if f.Path != emit.ManifestPath {
			m.Files[f.Path] = hashContent(f.Content)
		}
	}
	return m.encodeFile()
}

func (m manifest) encodeFile() (emit.File, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(m) // sorts the keys of the map
	return emit.File{Path: emit.ManifestPath, Content: b.Bytes()}, err
}

// parseManifests reads one or more manifests that follow each other in content.
func parseManifests(content []byte) ([]manifest, error) {
	var all []manifest
	dec := json.NewDecoder(bytes.NewReader(content))
	for {
		var m manifest
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF) && len(all) > 0:
			return all, nil
		case err != nil:
			return nil, err
		case m.Version != manifestVersion:
			return nil, fmt.Errorf("version %d of the manifest, want %d", m.Version, manifestVersion)
		}
		for p, sum := range m.Files {
			if err := emit.CheckPath(p); err != nil {
				return nil, err
			}
			if !strings.HasPrefix(sum, hashPrefix) {
				return nil, fmt.Errorf("%q is not a hash", sum)
			}
		}
		all = append(all, m)
	}
}

// Generated returns the paths that the manifest of a folder lists: what Write has left there.
// It returns nil if there is no manifest, or none that can be read.
func Generated(folder fs.FS) map[string]bool {
	content, err := fs.ReadFile(folder, emit.ManifestPath)
	if err != nil {
		return nil
	}
	all, err := parseManifests(content)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, m := range all {
		for path := range m.Files {
			out[path] = true
		}
	}
	return out
}

const hashPrefix = "sha256:"

func hashContent(content []byte) string {
	sum := sha256.Sum256(content)
	return hashPrefix + hex.EncodeToString(sum[:])
}

// history maps each path to the hash of every content that batchwright may have left
// there.
type history map[string][]string

func (h history) addManifest(m manifest) {
	for p, sum := range m.Files {
		if !slices.Contains(h[p], sum) {
			h[p] = append(h[p], sum)
		}
	}
}
