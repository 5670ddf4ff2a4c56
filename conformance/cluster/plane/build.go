package plane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// KubernetesVersion is the version that the API server reports. It is the version
// of k8s.io/kubernetes in go.mod, because a build from source does not know its own
// version.
const KubernetesVersion = "v1.36.4"

// The modules that the plane reads, besides the programs of programs.
const (
	autoscalerModule = "k8s.io/autoscaler/cluster-autoscaler/apis"
	kwokModule       = "sigs.k8s.io/kwok"
	monitoringModule = "github.com/GoogleCloudPlatform/prometheus-engine"
	networkingModule = "github.com/GoogleCloudPlatform/gke-networking-api"
	prometheusModule = "github.com/prometheus/prometheus"
)

// programs are the packages that are built. Each program has the name of its
// package's folder, except etcd, whose last element is a version. Prometheus is
// built in addition: see allBuilds.
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

// visibilityCertificates is the folder of the certificates of Kueue's visibility server, in
// the folder of a plane. Kueue itself can only have it at the root of the file system.
const visibilityCertificates = "visibility"

// builds are the programs with the versions of one module, and how they are built.
type builds struct {
	dir      string // of the module, relative to the plane's
	sums     string // a module whose go.sum has the checksums that dir's go.sum lacks, or ""
	tags     string
	ldflags  string
	packages []string
}

// allBuilds lists what the cache holds in bin.
func allBuilds() []builds {
	number := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	const version = "k8s.io/component-base/version."
	flags := fmt.Sprintf("%[5]s -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s "+
		"-X sigs.k8s.io/kueue/pkg/visibility.certDir=%[6]s",
		version, KubernetesVersion, number[0], number[1], stripped, visibilityCertificates)
	return []builds{
		{dir: ".", ldflags: flags, packages: programs},
		// Prometheus has the versions that the conformance tests compile anyway, and only one
		// way to discover targets: a list.
		{
			dir: "..", sums: prometheusModule, tags: "remove_all_sd", ldflags: stripped,
			packages: []string{prometheusModule + "/cmd/prometheus"},
		},
	}
}

// Build builds the programs of every control plane, unless the user's cache has them. It
// writes its progress to log.
func Build(ctx context.Context, root string, log io.Writer) error {
	programs, err := build(ctx, root, log)
	if err == nil {
		programs.close()
	}
	return err
}

// build returns the programs of the plane, and what else it reads from modules, in the
// versions that the module at root pins. It builds them unless the user's cache has them:
// this takes some minutes and 3 GB of memory the first time, and nothing afterwards. It
// writes its progress to log. The caller closes the entry when no program runs any more.
func build(ctx context.Context, root string, log io.Writer) (*entry, error) {
	c, err := userCache()
	if err != nil {
		return nil, err
	}
	key, err := cacheKey(ctx, root)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, key, log, func(dir string) error {
		began := time.Now()
		fmt.Fprintf(log, "plane: building %d programs into %s, which takes minutes the first time\n", len(programs)+1,
			c.dir)
		if err := buildPrograms(ctx, root, filepath.Join(dir, "bin"), log); err != nil {
			return fmt.Errorf("the control plane cannot be built (the first time, it takes a Go module proxy that has "+
				"its source): %w", err)
		}
		if err := copyManifests(ctx, root, dir); err != nil {
			return err
		}
		fmt.Fprintf(log, "plane: built in %s\n", time.Since(began).Round(time.Second))
		return nil
	})
}

// bin is the folder of the programs.
func (e *entry) bin() string { return filepath.Join(e.dir, "bin") }

// manifest returns a file that copyManifests has written.
func (e *entry) manifest(name string) string { return filepath.Join(e.dir, "manifests", name) }

// buildPrograms builds all programs into a folder, with the flags that the Makefile has for
// tests: both compile hundreds of the same packages, which Go then compiles once.
func buildPrograms(ctx context.Context, root, bin string, log io.Writer) error {
	work, err := os.MkdirTemp("", "plane-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, b := range allBuilds() {
		dir := filepath.Join(root, b.dir)
		args := []string{"build", "-trimpath", "-tags", b.tags, "-ldflags", b.ldflags, "-o",
			bin + string(filepath.Separator)}
		if b.sums != "" {
			file, err := modFile(ctx, dir, b.sums, work)
			if err != nil {
				return err
			}
			args = append(args, "-modfile", file)
		}
		command := exec.CommandContext(ctx, "go", append(args, b.packages...)...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		command.Stdout, command.Stderr = log, log
		command.SysProcAttr = bound()
		if err := command.Run(); err != nil {
			return err
		}
	}
	return nil
}

// modFile copies the go.mod of a directory into another one, with a go.sum that also has the
// checksums of a module that it requires, and returns the path of the copy.
func modFile(ctx context.Context, dir, module, into string) (string, error) {
	required, err := source(ctx, dir, module)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	var sums []byte
	for _, d := range []string{dir, required} {
		text, err := os.ReadFile(filepath.Join(d, "go.sum"))
		if err != nil {
			return "", err
		}
		sums = append(sums, text...)
	}
	file := filepath.Join(into, "go.mod")
	return file, errors.Join(os.WriteFile(file, content, 0o666),
		os.WriteFile(filepath.Join(into, "go.sum"), sums, 0o666))
}

// The manifests in the cache, besides those of the controllers, whose files have the names
// of the controllers.
const (
	definitionsFile = "definitions.yaml" // CustomResourceDefinitions of GKE
	nodeReadyFile   = "node-initialize.yaml"
	podReadyFile    = "pod-ready.yaml"
)

// copyManifests writes the folder manifests in dir: what the plane applies from modules.
// The programs are in dir already.
func copyManifests(ctx context.Context, root, dir string) error {
	into := filepath.Join(dir, "manifests")
	if err := os.Mkdir(into, 0o777); err != nil {
		return err
	}
	for _, m := range []struct {
		file, root, module string
		paths              []string
	}{
		{definitionsFile, root, autoscalerModule,
			[]string{"config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml"}},
		// The modules that contain these definitions are already pinned for their types.
		{definitionsFile, filepath.Join(root, "../.."), networkingModule, []string{
			"config/crds/networking.gke.io_networks.yaml", "config/crds/networking.gke.io_gkenetworkparamsets.yaml",
		}},
		{definitionsFile, filepath.Join(root, ".."), monitoringModule,
			[]string{"charts/operator/crds/monitoring.googleapis.com_podmonitorings.yaml"}},
		{nodeReadyFile, root, kwokModule, []string{"kustomize/stage/node/fast/node-initialize.yaml"}},
		{podReadyFile, root, kwokModule, []string{"kustomize/stage/pod/fast/pod-ready.yaml"}},
	} {
		module, err := source(ctx, m.root, m.module)
		if err != nil {
			return err
		}
		for _, path := range m.paths {
			text, err := os.ReadFile(filepath.Join(module, path))
			if err == nil {
				err = appendDocument(filepath.Join(into, m.file), text)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, c := range []controller{kueue, jobset} {
		module, err := source(ctx, root, c.module)
		if err != nil {
			return err
		}
		var problems bytes.Buffer
		command := exec.CommandContext(ctx, filepath.Join(dir, "bin/kubectl"), "kustomize",
			filepath.Join(module, "config/default"))
		command.Stderr = &problems
		text, err := command.Output()
		if err != nil {
			return fmt.Errorf("kubectl kustomize of %s: %w\n%s", c.name, err, problems.Bytes())
		}
		if err := appendDocument(filepath.Join(into, c.manifests()), text); err != nil {
			return err
		}
	}
	return nil
}

// appendDocument adds YAML documents to a file.
func appendDocument(name string, text []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "---\n%s\n", bytes.TrimPrefix(text, []byte("---\n")))
	return errors.Join(err, file.Close())
}

// cacheKey returns a hash of everything that decides what build makes.
func cacheKey(ctx context.Context, root string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, format, allBuilds())
	settings, err := goCommand(ctx, root, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT",
		"GOFLAGS")
	if err != nil {
		return "", err
	}
	// Programs have this flag in any case.
	fmt.Fprintln(hash, strings.Fields(strings.ReplaceAll(string(settings), "-trimpath", "")))
	for _, b := range allBuilds() {
		module, err := readGoMod(ctx, filepath.Join(root, b.dir))
		if err != nil {
			return "", err
		}
		if err := json.NewEncoder(hash).Encode(module); err != nil {
			return "", err
		}
	}
	types, err := readGoMod(ctx, filepath.Join(root, "../.."))
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(types.Require, func(m version) bool { return m.Path == networkingModule })
	if i < 0 {
		return "", fmt.Errorf("go.mod in %s does not require %s", filepath.Join(root, "../.."), networkingModule)
	}
	fmt.Fprintln(hash, types.Require[i])
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// format changes when build makes something else from the same modules, flags and list
// of programs.
const format = 3

// version is a module in a version.
type version struct{ Path, Version string }

// goMod holds what a go.mod decides about a build. The checksums in go.sum follow from the
// versions.
type goMod struct {
	Go, Toolchain string
	Godebug       []struct{ Key, Value string }
	Require       []version
	Exclude       []version
	Replace       []struct{ Old, New version }
}

// readGoMod reads the go.mod in dir.
func readGoMod(ctx context.Context, dir string) (goMod, error) {
	var read goMod
	text, err := goCommand(ctx, dir, "mod", "edit", "-json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	return read, err
}

// Root returns the folder of this module. The working directory must be in it.
func Root(ctx context.Context) (string, error) {
	out, err := goCommand(ctx, "", "list", "-m", "-f", "{{.Dir}}")
	return strings.TrimSpace(string(out)), err
}

// source returns the folder with the source of a module, in the version that the
// go.mod in dir pins.
func source(ctx context.Context, dir, module string) (string, error) {
	out, err := goCommand(ctx, dir, "mod", "download", "-json", module)
	var found struct{ Dir, Error string }
	if decoding := json.Unmarshal(out, &found); decoding == nil && found.Error != "" {
		return "", fmt.Errorf("module %s: %s", module, found.Error)
	}
	return found.Dir, err
}

// goCommand runs a command of Go in dir, and returns its output.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, problems.Bytes())
	}
	return out, err
}
