package plane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// KubernetesVersion is what the API server says it is. It is the version of
// k8s.io/kubernetes in go.mod: a build from source does not know its own.
const KubernetesVersion = "v1.36.3"

// programs are the packages that are built. Each program has the name of its
// package's folder, but for etcd's, whose last element is a version. Prometheus
// comes on top: the conformance module pins it.
var programs = []string{
	"go.etcd.io/etcd/server/v3",
	"k8s.io/kubernetes/cmd/kube-apiserver",
	"k8s.io/kubernetes/cmd/kube-controller-manager",
	"k8s.io/kubernetes/cmd/kube-scheduler",
	"k8s.io/kubernetes/cmd/kubectl",
	"sigs.k8s.io/jobset",
	"sigs.k8s.io/kueue/cmd/kueue",
	"sigs.k8s.io/kwok/cmd/kwok",
}

// Build returns the folder of the programs that the module at root pins. It
// builds them unless they are there: some minutes and 3 GB of memory the first
// time, nothing after that. The folder lies in bin/ of the module and its name
// is a hash of all that decides what is built. Building removes the folders of
// earlier versions that were not asked for within a day. Progress goes to log.
func Build(ctx context.Context, root string, log io.Writer) (string, error) {
	prometheus, err := source(ctx, filepath.Join(root, ".."), "github.com/prometheus/prometheus")
	if err != nil {
		return "", err
	}
	id, err := buildID(root, filepath.Base(prometheus))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", id)
	began := time.Now()
	if err := os.Chtimes(dir, began, began); err == nil { // asked for, see prune
		return dir, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}

	fmt.Fprintf(log, "plane: building %d programs into %s, which takes minutes the first time\n", len(programs)+1, dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	// Built beside it and renamed, so that a folder that is there is whole.
	work, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)

	number := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	const version = "k8s.io/component-base/version."
	flags := fmt.Sprintf("-X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s",
		version, KubernetesVersion, number[0], number[1])
	out := work + string(filepath.Separator)
	for _, b := range []struct {
		dir  string
		args []string
	}{
		{root, append([]string{"-ldflags", flags, "-o", out}, programs...)},
		// Prometheus is built by its own go.mod, which asks for another version
		// of Kubernetes, and with no way to discover targets but a list.
		{prometheus, []string{"-tags", "remove_all_sd", "-o", out, "./cmd/prometheus"}},
	} {
		build := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath"}, b.args...)...)
		build.Dir = b.dir
		build.Env = append(os.Environ(), "GOWORK=off") // that of Prometheus names folders its module is without
		build.Stdout, build.Stderr = log, log
		if err := build.Run(); err != nil {
			return "",
				fmt.Errorf("the control plane cannot be built (the first time, it takes a Go module proxy that has "+
					"its source): %w", err)
		}
	}
	if err := os.Rename(work, dir); err != nil {
		if _, other := os.Stat(dir); other == nil {
			return dir, nil // another process was faster
		}
		return "", err
	}
	fmt.Fprintf(log, "plane: built in %s\n", time.Since(began).Round(time.Second))
	if err := prune(dir, time.Now().Add(-24*time.Hour)); err != nil {
		fmt.Fprintf(log, "plane: earlier programs are still there: %v\n", err)
	}
	return dir, nil
}

// built is what Build calls folders: a buildID, or build- with a number while it
// builds.
var built = regexp.MustCompile(`^([0-9a-f]{16}|build-[0-9]+)$`)

// prune removes the folders beside dir that Build has made and that nobody has
// asked for since a time: 850 MB each. A younger one may be another branch's, or
// another process may build in it or run its programs.
func prune(dir string, since time.Time) error {
	siblings, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range siblings {
		if s.Name() == filepath.Base(dir) || !s.IsDir() || !built.MatchString(s.Name()) {
			continue
		}
		info, err := s.Info()
		if err == nil && info.ModTime().Before(since) {
			err = os.RemoveAll(filepath.Join(filepath.Dir(dir), s.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process was faster
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// buildID hashes what the programs are built from. The module of Prometheus is
// its path and version.
func buildID(root, prometheus string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, KubernetesVersion, programs, prometheus)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// Root returns the folder of this module, where the working directory is inside.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// source returns the folder with the source of a module in the version that the
// go.mod in dir pins.
func source(ctx context.Context, dir, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = dir
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if decoding := json.Unmarshal(out, &found); decoding == nil && found.Error != "" {
		return "", fmt.Errorf("module %s: %s", module, found.Error)
	}
	if err != nil {
		return "", fmt.Errorf("module %s: %w", module, err)
	}
	return found.Dir, nil
}
