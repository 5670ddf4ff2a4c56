// Package emit holds the compiled folder in memory and writes it to disk.
//
// Each package below it renders one format from the plan; what they return is
// gathered into a Tree, and Write is the only code that touches the disk.
package emit

import "io/fs"

// File is one generated file.
type File struct {
	Path    string // slash-separated, relative to the deploy folder
	Content []byte
	Mode    fs.FileMode // 0 stands for 0644
}

// Tree is a deploy folder: files by path, each path once.
type Tree []File
