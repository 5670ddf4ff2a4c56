package folder

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
)

// Loss is a kind of things that a folder on disk provisions, and that a new tree provisions
// far less of.
type Loss struct {
	Kind string   // "team", "tier", "capacity" or "node pool"
	Path string   // in the folder, of the file or directory that declares them
	Lost []string // names that the tree does not have, sorted; if it is one, it was the only one
	Had  int      // names in the folder; equal to len(Lost) or more
}

// declared is a kind of things and where a folder declares them.
type declared struct {
	kind  string
	files string         // a pattern of path.Match; the names are the names of the files,
	names *regexp.Regexp // or in the files, as the first group
	half  bool           // more than half of them is a loss, not only all
}

var (
	objectName = regexp.MustCompile(`(?m)^metadata:\n(?:  .*\n)*?  name: (.+)$`)
	poolName   = regexp.MustCompile(`(?m)^resource "google_container_node_pool" "(.+)" \{$`)
)

// systemPool is the name of the node pool that every cluster keeps.
const systemPool = "system"

// The folder of KAI Scheduler has no file for tiers and capacities: its teams and node pools
// stand for them.
var declarations = []declared{
	{"team", "kubernetes/teams/*.yaml", nil, true},
	{"tier", "kubernetes/priority-classes.yaml", objectName, false},
	{"capacity", "kubernetes/resource-flavors.yaml", objectName, false},
	{"node pool", "terraform/node_pools.tf", poolName, true},
}

// Losses returns what writing a tree would take from a folder on disk: teams, tiers,
// capacities and node pools if none is left, and teams and node pools if more than half go.
// only selects the paths that are written, all if it is nil. Files that batchwright has not
// generated declare nothing. A renamed thing is lost, because its namespace or its nodes are.
func Losses(folder fs.FS, tree emit.Tree, only func(path string) bool) ([]Loss, error) {
	var out []Loss
	generated := disk.Generated(folder)
	for _, d := range declarations {
		was, err := fs.Glob(folder, d.files)
		if err != nil {
			return nil, err
		}
		var had []string
		has := map[string]bool{}
		for _, name := range was {
			if !generated[name] {
				continue
			}
			content, err := fs.ReadFile(folder, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			found := d.namesIn(name, content)
			had = append(had, found...)
			for _, kept := range found {
				if only != nil && !only(name) {
					has[kept] = true
				}
			}
		}
		if len(had) == 0 {
			continue
		}
		for _, f := range tree {
			if matched, _ := path.Match(d.files, f.Path); matched && (only == nil || only(f.Path)) {
				for _, written := range d.namesIn(f.Path, f.Content) {
					has[written] = true
				}
			}
		}
		lost := slices.DeleteFunc(slices.Clone(had), func(name string) bool { return has[name] })
		slices.Sort(lost)
		if len(lost) > 0 && (len(has) == 0 || d.half && 2*len(lost) > len(had)) {
			out = append(out, Loss{d.kind, strings.TrimSuffix(d.files, "/*.yaml"), lost, len(had)})
		}
	}
	return out, nil
}

// namesIn returns the names that a file declares.
func (d declared) namesIn(file string, content []byte) []string {
	if d.names == nil {
		return []string{strings.TrimSuffix(path.Base(file), path.Ext(file))}
	}
	var out []string
	for _, m := range d.names.FindAllSubmatch(content, -1) {
		if name := string(m[1]); name != systemPool {
			out = append(out, name)
		}
	}
	return out
}
