package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestDemanded checks that README.md explains what a platform with its own key needs
// before the first build, and that it says nothing without such settings.
func TestDemanded(t *testing.T) {
	p := newPlatform(2)
	key, topic := "projects/k/locations/r/keyRings/a/cryptoKeys/b", "projects/p/topics/gke"
	demands := []string{
		"service-$number@compute-system.iam", "service-$number@container-engine-robot.iam",
		"--role=roles/cloudkms.cryptoKeyEncrypterDecrypter --condition=None ", key,
		"Binary Authorization", "The topic must exist", topic,
	}
	check := func(want bool) {
		t.Helper()
		got := renderReadme(t, p)
		for _, text := range demands {
			if strings.Contains(got, text) != want {
				t.Errorf("README.md has %q: %t", text, !want)
			}
		}
	}
	check(false)
	p.Security = ir.Security{KMSKey: key, BinaryAuthorization: true, BulletinTopic: topic}
	check(true)
}

// TestLogged checks that README.md describes the audit logs of the project only if the
// platform turns them on.
func TestLogged(t *testing.T) {
	p := newPlatform(2)
	for _, on := range []bool{false, true} {
		p.Security.DataAccessLogs = on
		got := renderReadme(t, p)
		for _, text := range []string{"every cluster and bucket in `my-project`", "Cloud Logging bills",
			"They stay on when", "iam-admin/audit?project=my-project"} {
			if strings.Contains(got, text) != on {
				t.Errorf("README.md has %q: %t", text, !on)
			}
		}
	}
}

// TestIfIntact holds that the command does not apply a manifest whose SHA-256 differs.
func TestIfIntact(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a b.yaml")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for sha256, runs := range map[string]bool{"": true, empty: true, strings.Repeat("0", 64): false} {
		out, err := exec.Command("sh", "-c", string(ifIntact(file, sha256))+"echo applied").CombinedOutput()
		if strings.Contains(string(out), "applied") != runs || (err == nil) != runs {
			t.Errorf("SHA-256 %q: %v\n%s", sha256, err, out)
		}
	}
}

// TestUpgrades checks that README.md names the upgrades that GKE holds back.
func TestUpgrades(t *testing.T) {
	p := newPlatform(2)
	p.Capacities[0].KeepsVersion = true
	p.Cluster.Maintenance = ir.Maintenance{Days: []string{"SA", "SU"}, Start: "03:00", Hours: 12,
		Exclusions: []ir.Exclusion{{Name: "freeze", Start: "2026-12-18", End: "2027-01-06", Scope: "NO_UPGRADES"}}}
	want := "window on SA, SU from 03:00 UTC, except:\n\n- exclusion `freeze`: NO\\_UPGRADES from 2026-12-18 to " +
		"2027-01-06\n- nodes of `l4-reserved`: their version stays until its support ends\n\n"
	if got := renderReadme(t, p); !strings.Contains(got, want) {
		t.Errorf("README.md lacks %q", want)
	}
}
