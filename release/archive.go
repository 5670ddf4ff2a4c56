package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
)

// file is a file of an archive.
type file struct {
	content []byte
	mode    fs.FileMode
}

// commonFiles returns the files that the archives of all platforms contain: the
// licences, README.md, completions and the manual.
func (b *builder) commonFiles(ctx context.Context) (map[string]file, error) {
	licences, err := b.licences(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string]file{"LICENSES.txt": {licences, 0o644}}
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(b.clone, name))
		if err != nil {
			return nil, err
		}
		files[name] = file{content, 0o644}
	}
	for shell, name := range map[string]string{
		"bash": "batchwright.bash", "fish": "batchwright.fish", "powershell": "batchwright.ps1", "zsh": "_batchwright",
	} {
		script, err := b.runProgram(ctx, "completion", shell)
		if err != nil {
			return nil, err
		}
		files["completions/"+name] = file{[]byte(script + "\n"), 0o644}
	}
	return files, b.addManual(ctx, files)
}

// runProgram runs batchwright as it was built for this machine, without a variable that
// could change its output. SOURCE_DATE_EPOCH is the date of the manual's pages.
func (b *builder) runProgram(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.path("batchwright", thisPlatform()), args...)
	cmd.Env = []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.time.Unix())}
	return output(cmd)
}

// archive returns the name and the content of the archive for a platform. All its files
// are in one directory.
func (b *builder) archive(p platform, common map[string]file) (name string, content []byte, err error) {
	dir := b.artefact("batchwright", p)
	files := map[string]file{}
	for name, f := range common {
		files[path.Join(dir, name)] = f
	}
	for _, program := range b.programs {
		content, err := os.ReadFile(b.path(program.name, p))
		if err != nil {
			return "", nil, err
		}
		files[path.Join(dir, fileName(program.name, p))] = file{content, 0o755}
	}
	name, write := dir+".tar.gz", b.writeTar
	if p.os == "windows" {
		name, write = dir+".zip", b.writeZip
	}
	var archive bytes.Buffer
	err = write(&archive, files)
	return name, archive.Bytes(), err
}

// writeTar writes files in the order of their names, with the time of the commit and
// without an owner.
func (b *builder) writeTar(w io.Writer, files map[string]file) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.content)), Mode: int64(f.mode), ModTime: b.time,
			Format: tar.FormatUSTAR,
		}); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

// writeZip writes files in the order of their names, with the time of the commit.
func (b *builder) writeZip(w io.Writer, files map[string]file) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: b.time}
		header.SetMode(files[name].mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(files[name].content); err != nil {
			return err
		}
	}
	return archive.Close()
}
