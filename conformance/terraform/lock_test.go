package terraform

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestLock lets Terraform install the provider from an archive. Terraform must refuse an
// archive whose SHA-256 is not in the lock file. It must not change the lock file.
func TestLock(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	provider := regexp.MustCompile(`(?s)provider "(\S+)" \{\n *version *= "(\S+)"`).FindStringSubmatch(
		read(t, filepath.Join(r.dir, ".terraform.lock.hcl")))
	if provider == nil {
		t.Fatal("the lock file names no provider")
	}
	mirror := t.TempDir()
	name := fmt.Sprintf("terraform-provider-google_%s_%s_%s.zip", provider[2], runtime.GOOS, runtime.GOARCH)
	archive := filepath.Join(mirror, provider[1], name)
	if err := os.MkdirAll(filepath.Dir(archive), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if _, err := z.Create("terraform-provider-google_v" + provider[2]); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(mirror, "terraform.rc")
	write(t, config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	for i, variable := range r.env {
		switch key, _, _ := strings.Cut(variable, "="); key {
		case "TF_CLI_CONFIG_FILE":
			r.env[i] = key + "=" + config
		case "TF_REATTACH_PROVIDERS":
			r.env[i] = key + "="
		}
	}
	args := []string{"init", "-backend=false"}
	for _, arg := range step(t, "batch-platform", "provision", "terraform-init").Args {
		if arg == "-input=false" || strings.HasPrefix(arg, "-lockfile") {
			args = append(args, arg)
		}
	}
	if out, ok := r.run(t, args...); ok || !strings.Contains(string(out), "doesn't match any") {
		t.Errorf("another archive: success is %t\n%s", ok, out)
	}
	lock := filepath.Join(r.dir, ".terraform.lock.hcl")
	content := regexp.MustCompile(`zh:[0-9a-f]{64}`).ReplaceAllString(read(t, lock),
		fmt.Sprintf("zh:%x", sha256.Sum256([]byte(read(t, archive)))))
	write(t, lock, content)
	if out, ok := r.run(t, args...); !ok {
		t.Errorf("the right archive:\n%s", out)
	}
	if read(t, lock) != content {
		t.Error("Terraform has changed the lock file")
	}
}
