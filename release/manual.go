package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// manual returns the pages of the manual by the names of their files. The program writes
// them from the help of its commands.
func (b *builder) manual(ctx context.Context) (pages map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "batchwright-manual-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := b.runProgram(ctx, "manual", dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		err = errors.New("the program has written no pages of the manual")
	}
	pages = map[string][]byte{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("the page %s: %w", e.Name(), err)
		}
		pages[e.Name()] = content
	}
	return pages, err
}
