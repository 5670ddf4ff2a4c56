package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestDemanded holds that the guide explains what a platform with its own key needs
// before the first build, and that it says nothing without such settings.
func TestDemanded(t *testing.T) {
	p := &ir.Platform{Project: "my-project", Scheduler: ir.Kueue}
	guide := func() string {
		d := &document{}
		explainDemanded(d, p)
		return string(d.Bytes())
	}
	if got := guide(); got != "" {
		t.Errorf("without demands: %s", got)
	}
	p.Security = ir.Security{
		KMSKey: "projects/k/locations/r/keyRings/a/cryptoKeys/b", BinaryAuthorization: true,
		BulletinTopic: "projects/p/topics/gke",
	}
	got := guide()
	for _, want := range []string{
		"service-$number@compute-system.iam", "service-$number@container-engine-robot.iam",
		"--role=roles/cloudkms.cryptoKeyEncrypterDecrypter --condition=None ", p.Security.KMSKey,
		"Binary Authorization", "The topic must exist", p.Security.BulletinTopic,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the guide lacks %q:\n%s", want, got)
		}
	}
}

// TestLogged holds that the guide describes the audit logs of the project only if
// the platform turns them on.
func TestLogged(t *testing.T) {
	p := &ir.Platform{Project: "my-project"}
	d := &document{}
	if explainLogging(d, p); len(d.Bytes()) > 0 {
		t.Errorf("without the logs: %s", d.Bytes())
	}
	p.Security.DataAccessLogs = true
	explainLogging(d, p)
	for _, want := range []string{"`my-project`", "bills", "stay on", "iam-admin/audit?project=my-project"} {
		if got := string(d.Bytes()); !strings.Contains(got, want) {
			t.Errorf("the guide lacks %q:\n%s", want, got)
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
		out, err := exec.Command("sh", "-c", ifIntact(file, sha256, "echo applied")).CombinedOutput()
		if strings.Contains(string(out), "applied") != runs || (err == nil) != runs {
			t.Errorf("SHA-256 %q: %v\n%s", sha256, err, out)
		}
	}
}

// TestUpgrades holds that the guide names the upgrades that GKE holds back.
func TestUpgrades(t *testing.T) {
	p := &ir.Platform{Capacities: []ir.Capacity{{Name: "h200", KeepsVersion: true}, {Name: "l4"}}}
	p.Cluster.Maintenance = ir.Maintenance{Days: []string{"SU"}, Start: "03:00", Hours: 12, Exclusions: []ir.Exclusion{
		{Name: "freeze", Start: "2026-12-18", End: "2027-01-06", Scope: "NO_UPGRADES"},
	}}
	d := &document{}
	listUpgrades(d, p)
	for _, want := range []string{"`freeze`", "2027-01-06", "`h200`"} {
		if got := string(d.Bytes()); !strings.Contains(got, want) || strings.Contains(got, "`l4`") {
			t.Errorf("want %q, and nothing of l4:\n%s", want, got)
		}
	}
}
