package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// addManual adds the pages of the manual. The program writes them from the help of its
// commands.
func (b *builder) addManual(ctx context.Context, files map[string]file) (err error) {
	dir, err := os.MkdirTemp("", "batchwright-manual-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := b.runProgram(ctx, "manual", dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		err = errors.New("the program has written no pages of the manual")
	}
	for _, e := range entries {
		content, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		files["man/man1/"+e.Name()], err = file{content, 0o644}, errors.Join(err, readErr)
	}
	return err
}
