// Command replaced prints the addresses of what Terraform must replace to come
// from one deploy folder to another, a line each. It is for the conformance
// tests, which hold it against what Terraform itself plans.
package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(folders []string) int {
	if len(folders) != 2 {
		fmt.Fprintln(os.Stderr, "usage: replaced BEFORE AFTER")
		return 2
	}
	var states [2]review.State
	for i, folder := range folders {
		tree, err := read(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		states[i] = review.State{Label: folder, Tree: tree}
	}
	r, err := review.Compare(states[0], states[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	for _, replaced := range r.Replacements {
		fmt.Println(replaced.Address)
	}
	return 0
}

// read reads a folder, which is walked in the order of its paths.
func read(folder string) (emit.Tree, error) {
	var out emit.Tree
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, p)
		out = append(out, emit.File{Path: p, Content: content})
		return err
	})
	return out, err
}
