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

// KubernetesVersion is the version that the API server reports. It is the version
// of k8s.io/kubernetes in go.mod, because a build from source does not know its own
// version.
const KubernetesVersion = "v1.36.3"

// programs are the packages that are built. Each program has the name of its
// package's folder, except etcd, whose last element is a version. Prometheus is
// built in addition: the conformance module pins it.
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

// stripped are the linker's flags that leave out what only a debugger needs: a third
// of each program.
const stripped = "-s -w"

// Build returns the folder of the programs that the module at root pins. It builds
// them unless the folder exists: this takes some minutes and 3 GB of memory the
// first time, and nothing afterwards. The folder is in bin/ of the module, and its
// name is a hash of everything that decides what is built. Building removes the
// folders of earlier versions that nobody has asked for within a day. Build writes
// its progress to log.
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
	// Build beside the folder and rename it, so that an existing folder is complete.
	work, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)

	number := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	const version = "k8s.io/component-base/version."
	flags := fmt.Sprintf("%[5]s -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s",
		version, KubernetesVersion, number[0], number[1], stripped)
	out := work + string(filepath.Separator)
	for _, b := range []struct {
		dir  string
		args []string
	}{
		{root, append([]string{"-ldflags", flags, "-o", out}, programs...)},
		// Prometheus is built by its own go.mod, which requires another version of
		// Kubernetes, and with only one way to discover targets: a list.
		{prometheus, []string{"-tags", "remove_all_sd", "-ldflags", stripped, "-o", out, "./cmd/prometheus"}},
	} {
		build := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath"}, b.args...)...)
		build.Dir = b.dir
		// The go.work of Prometheus names folders that its module does not contain.
		build.Env = append(os.Environ(), "GOWORK=off")
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

// built matches the names of Build's folders: a buildID, or build- with a number
// during a build.
var built = regexp.MustCompile(`^([0-9a-f]{16}|build-[0-9]+)$`)

// prune removes the folders beside dir that Build has made and that nobody has
// asked for since the given time. Each has 650 MB. A younger folder may belong to
// another branch, or another process may build in it or run its programs.
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

// buildID returns a hash of everything that the programs are built from. prometheus
// is the path and version of its module.
func buildID(root, prometheus string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, KubernetesVersion, stripped, programs,
		prometheus)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// Root returns the folder of this module. The working directory must be in it.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// source returns the folder with the source of a module, in the version that the
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
