package exports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// adopted is a platform that takes over its cluster and all of its node pools.
const adopted = "golden/testdata/platforms/adopted-cluster.cue"

// TestTakeOverLive holds that a comparison with a pool that runs with other settings says
// what to keep, and that the pool is then not replaced.
func TestTakeOverLive(t *testing.T) {
	cluster := exports.File{Name: "cluster.json", Content: []byte(`{
  "name": "research", "location": "us-east5", "status": "RUNNING", "currentNodeCount": 2, "initialNodeCount": 3,
  "selfLink": "https://container.googleapis.com/v1/projects/my-project/locations/us-east5/clusters/research",
  "nodePools": [{
    "name": "h100-spot", "status": "RUNNING", "initialNodeCount": 2, "locations": ["us-east5-a"],
    "config": {
      "machineType": "a3-highgpu-8g", "spot": true, "serviceAccount": "other@my-project.iam.gserviceaccount.com",
      "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
      "accelerators": [{
        "acceleratorCount": "8", "acceleratorType": "nvidia-h100-80gb",
        "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}
      }],
      "ephemeralStorageLocalSsdConfig": {"localSsdCount": 16},
      "shieldedInstanceConfig": {"enableIntegrityMonitoring": true}
    }
  }]
}`)}
	findingsOf := func(source string) []diag.Finding {
		name := filepath.Join(t.TempDir(), "platform.cue")
		if err := os.WriteFile(name, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, res := compile.Input(t, compiler.Input{Dir: filepath.Dir(name), Paths: []string{name}})
		var out []diag.Finding
		for _, f := range compareLive(t, tree, res, cluster).Findings.Sorted() {
			if strings.Contains(f.Message, "node pool") {
				out = append(out, f)
			}
		}
		return out
	}
	source := fixture.ReadText(t, fixture.Path(adopted))
	const keep = `keep: ["reservationAffinity", "serviceAccount", "shieldedInstanceConfig"]`
	findings := findingsOf(source)
	if len(findings) != 1 || !strings.Contains(findings[0].Help, `capacity: "h100-spot": takeOver: `+keep) {
		t.Fatalf("the findings are %+v", findings)
	}
	kept := strings.Replace(source, `pools["h100-spot"]"#`, `pools["h100-spot"]"#`+"\n\t\ttakeOver: "+keep, 1)
	if again := findingsOf(kept); len(again) > 0 {
		t.Errorf("with these settings kept, the findings are %+v", again)
	}
	cluster.Content = bytes.Replace(cluster.Content, []byte(`"spot": true, `), nil, 1)
	if spot := findingsOf(source); len(spot) != 1 || strings.Contains(spot[0].Help, "keep") {
		t.Errorf("what cannot be kept is proposed: %+v", spot)
	}
}
