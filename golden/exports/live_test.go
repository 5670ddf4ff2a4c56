package exports_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/live"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// compareLive compares a compiled blueprint with exports.
func compareLive(t testing.TB, tree emit.Tree, res *compiler.Result, files ...exports.File) *live.Result {
	t.Helper()
	export, findings, err := exports.Read(files, exports.Comparison)
	if err != nil || findings.HasErrors() {
		t.Fatalf("%v, %+v", err, findings.Sorted())
	}
	out, err := live.Compare(live.Folder{Tree: tree, Plan: res.Plan, Place: res.Place}, export)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// manifestsOf returns the manifests of a folder as exports.
func manifestsOf(tree emit.Tree) []exports.File {
	var out []exports.File
	for _, f := range tree {
		if strings.HasPrefix(f.Path, "kubernetes/") && path.Base(f.Path) != "kustomization.yaml" {
			out = append(out, exports.File{Name: f.Path, Content: f.Content})
		}
	}
	return out
}

// TestLiveOfItself: a folder changes nothing on a cluster to which it was applied.
func TestLiveOfItself(t *testing.T) {
	inputs := map[string][]string{}
	for _, name := range fixture.Blueprints(t) {
		inputs[name] = fixture.BlueprintDirs("blueprints", name)
	}
	for _, tool := range []string{"flux", "configsync"} {
		inputs[tool] = append(fixture.BlueprintDirs("blueprints", "batch-platform"),
			filepath.Join("golden/testdata/gitops", tool+".cue"))
	}
	platforms, err := filepath.Glob(fixture.Path("golden/testdata/platforms/*.cue"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range platforms {
		inputs[filepath.Base(name)] = []string{name}
	}
	for name, paths := range inputs {
		t.Run(name, func(t *testing.T) {
			tree, res := compile.Input(t, compiler.Input{Dir: fixture.Root(), Paths: paths})
			out := compareLive(t, tree, res, manifestsOf(tree)...)
			for _, o := range out.Objects {
				t.Errorf("%s %s: %+v %s", o.Kind, o.Name, o.Fields, o.Note)
			}
			if out.Facts.Unchanged < 20 || len(out.Facts.Adopted)+len(out.Facts.Staying) > 0 {
				t.Errorf("%+v", out.Facts)
			}
		})
	}
}

// liveLines returns what changes, one line for each object, and the findings.
func liveLines(out *live.Result) []string {
	var lines []string
	for _, o := range out.Objects {
		line := map[delta.Op]string{delta.Added: "+", delta.Changed: "~", delta.Removed: "-"}[o.Op] + " " + o.Name
		for _, f := range o.Fields {
			line += " | " + f.Path + ": " + f.From + " -> " + f.To
		}
		if o.Note != "" {
			line += " | " + o.Note
		}
		lines = append(lines, line)
	}
	for _, r := range out.Replacements {
		line := "-/+ " + r.Address
		for _, f := range r.Because {
			line += " | " + f.Path
		}
		lines = append(lines, line)
	}
	for _, f := range out.Findings.Sorted() {
		lines = append(lines, f.Code+" "+f.Span.String())
	}
	return lines
}

// exportedCluster returns the cluster of a file of testdata/live, and its node pools by
// name.
func exportedCluster(t testing.TB, name string) (cluster map[string]any, pools map[string]map[string]any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata/live", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &cluster); err != nil {
		t.Fatal(err)
	}
	pools = map[string]map[string]any{}
	for _, p := range cluster["nodePools"].([]any) {
		pool := p.(map[string]any)
		pools[pool["name"].(string)] = pool
	}
	return cluster, pools
}

// setJSON sets the value at a path of keys; nil removes it.
func setJSON(object map[string]any, path string, value any) {
	key, rest, below := strings.Cut(path, ".")
	switch {
	case below:
		inner, ok := object[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[key] = inner
		}
		setJSON(inner, rest, value)
	case value == nil:
		delete(object, key)
	default:
		object[key] = value
	}
}

// TestLiveGoogle compares the example with its cluster as gcloud prints it, after edits of
// the print.
func TestLiveGoogle(t *testing.T) {
	tree, res := compile.Input(t, compiler.Input{
		Dir: fixture.Root(), Paths: fixture.BlueprintDirs("blueprints", "batch-platform"),
	})
	const (
		place     = "blueprints/batch-platform/platform.cue:"
		recreated = " | GKE recreates the nodes one after the other, which stops the jobs on them"
		replaced  = "-/+ google_container_node_pool."
	)
	for _, c := range []struct {
		name, pool, path string // the pool is "" for the cluster
		value            any
		want             []string
	}{
		{name: "equal", path: "etag", value: "x"},
		{
			"machine type", "system", "config.machineType", "e2-standard-8",
			[]string{"~ system | node_config.machine_type: e2-standard-8 -> e2-standard-4" + recreated},
		},
		{name: "case of the image type", pool: "system", path: "config.imageType", value: "cos_containerd"},
		{name: "link of the accelerator", pool: "l4-spot", path: "config.accelerators", value: []any{map[string]any{
			"acceleratorCount": "2", "acceleratorType": "projects/p/zones/z/acceleratorTypes/nvidia-l4",
			"gpuDriverInstallationConfig": map[string]any{"gpuDriverVersion": "DEFAULT"},
		}}},
		{
			"GPU driver", "l4-spot", "config.accelerators", []any{map[string]any{
				"acceleratorCount": "2", "acceleratorType": "nvidia-l4",
				"gpuSharingConfig": map[string]any{"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": "2"},
			}},
			[]string{
				"~ l4_spot | " +
					"node_config.guest_accelerator[nvidia-l4].gpu_driver_installation_config.gpu_driver_version:  " +
					"-> DEFAULT | " +
					"node_config.guest_accelerator[nvidia-l4].gpu_sharing_config.gpu_sharing_strategy: " +
					"TIME_SHARING ->  | " +
					"node_config.guest_accelerator[nvidia-l4].gpu_sharing_config.max_shared_clients_per_gpu: 2 -> ",
				replaced + "l4_spot | node_config.guest_accelerator.gpu_driver_installation_config | " +
					"node_config.guest_accelerator.gpu_sharing_config",
				"E0927 " + place + "33:2",
			},
		},
		{
			"no Spot", "l4-spot", "config.spot", nil,
			[]string{"~ l4_spot | node_config.spot:  -> true", replaced + "l4_spot | node_config.spot",
				"E0927 " + place + "33:2"},
		},
		{
			"Spot", "system", "config.spot", true,
			[]string{"~ system | node_config.spot: true -> ", replaced + "system | node_config.spot",
				"E0927 " + place + "5:1"},
		},
		{
			"another reservation", "l4-reserved", "config.reservationAffinity.values", []any{"other"},
			[]string{
				"~ l4_reserved | node_config.reservation_affinity.values: other -> machine-reservation",
				replaced + "l4_reserved | node_config.reservation_affinity.values", "E0927 " + place + "25:2",
			},
		},
		{
			"another account", "system", "config.serviceAccount", "default",
			[]string{
				"~ system | node_config.service_account: default -> gke-batch-nodes@my-project.iam.gserviceaccount.com",
				replaced + "system | node_config.service_account", "E0927 " + place + "5:1",
			},
		},
		{
			"preemptible", "system", "config.preemptible", true,
			[]string{
				"~ system | node_config.preemptible: true -> ", replaced + "system | node_config.preemptible",
				"E0927 " + place + "5:1",
			},
		},
		{
			"local SSDs", "system", "config.localNvmeSsdBlockConfig.localSsdCount", 1,
			[]string{
				"~ system | node_config.local_nvme_ssd_block_config.local_ssd_count: 1 -> ",
				replaced + "system | node_config.local_nvme_ssd_block_config", "E0927 " + place + "5:1",
			},
		},
		{
			"network tags", "system", "config.tags", []any{"web"},
			[]string{"~ system | node_config.tags: web -> "},
		},
		{name: "a CPU platform, which the provider keeps", pool: "system", path: "config.minCpuPlatform",
			value: "Intel"},
		{name: "labels of GKE", pool: "system", path: "config.resourceLabels.goog-gke-x", value: "y"},
		{
			"labels of resources", "system", "config.resourceLabels.owner", "y",
			[]string{"~ system | node_config.resource_labels.owner: y -> "},
		},
		{
			"autoscaling", "l4-ondemand", "autoscaling.totalMaxNodeCount", 30,
			[]string{"~ l4_ondemand | autoscaling.total_max_node_count: 30 -> 24"},
		},
		{
			"no autoscaling", "l4-ondemand", "autoscaling", map[string]any{},
			[]string{"~ l4_ondemand | autoscaling.location_policy:  -> ANY | autoscaling.total_max_node_count:  -> 24"},
		},
		{
			"a fixed size", "l4-reserved", "autoscaling", map[string]any{"enabled": true, "totalMaxNodeCount": 9},
			[]string{"~ l4_reserved | autoscaling.total_max_node_count: 9 -> "},
		},
		{
			"the number of nodes", "l4-reserved", "initialNodeCount", 3, []string{"~ l4_reserved | node_count: 3 -> 4"},
		},
		{
			"a label of a node", "l4-spot", "config.labels.mine", "x",
			[]string{"~ l4_spot | node_config.labels.mine: x -> "},
		},
		{
			"a taint of others", "l4-reserved", "config.taints", []any{
				map[string]any{"effect": "NO_SCHEDULE", "key": "reserved", "value": "true"},
				map[string]any{"effect": "NO_SCHEDULE", "key": "nvidia.com/gpu", "value": "present"},
				map[string]any{"effect": "NO_EXECUTE", "key": "mine", "value": "x"},
				map[string]any{"effect": "NO_SCHEDULE", "key": "kubernetes.io/arch", "value": "arm64"},
			},
			[]string{"~ l4_reserved | node_config.taint[mine].effect: NO_EXECUTE ->  | " +
				"node_config.taint[mine].key: mine ->  | " +
				"node_config.taint[mine].value: x -> "},
		},
		{
			"public nodes", "system", "networkConfig.enablePrivateNodes", nil,
			[]string{"~ system | network_config.enable_private_nodes:  -> true" + recreated},
		},
		{
			"another VPC network", "", "networkConfig.network", "projects/host/global/networks/shared",
			[]string{
				"~ main | network: projects/host/global/networks/shared -> " +
					"module.network.google_compute_network.main.id",
				"-/+ google_container_cluster.main | network", "E0928 " + place + "10:1",
			},
		},
		{
			"a release channel", "", "releaseChannel.channel", "REGULAR",
			[]string{"~ main | release_channel.channel: REGULAR -> RAPID"},
		},
		{
			"the legacy datapath", "", "networkConfig.datapathProvider", nil,
			[]string{
				"~ main | datapath_provider: LEGACY_DATAPATH -> ADVANCED_DATAPATH",
				"-/+ google_container_cluster.main | datapath_provider", "E0928 " + place + "10:1",
			},
		},
		{
			"limits", "", "autoscaling.resourceLimits", []any{
				map[string]any{"maximum": "1000", "minimum": "4", "resourceType": "cpu"},
				map[string]any{"maximum": "4232", "minimum": "16", "resourceType": "memory"},
				map[string]any{"maximum": "200", "resourceType": "nvidia-l4"},
			},
			[]string{"~ main | cluster_autoscaling.resource_limits[nvidia-l4].maximum: 200 -> 300 | " +
				"cluster_autoscaling.resource_limits[nvidia-tesla-a100].maximum:  -> 100 | " +
				"cluster_autoscaling.resource_limits[nvidia-tesla-a100].resource_type:  -> nvidia-tesla-a100"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster, pools := exportedCluster(t, "batch-platform.json")
			object := cluster
			if c.pool != "" {
				object = pools[c.pool]
			}
			setJSON(object, c.path, c.value)
			if got := liveLines(compareLive(t, tree, res, jsonFile(t, cluster))); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// jsonFile returns a value as an export.
func jsonFile(t testing.TB, v any) exports.File {
	t.Helper()
	content, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return exports.File{Name: "cluster.json", Content: content}
}

// TestLiveOtherResources: pools that only one side has, and clusters of others.
func TestLiveOtherResources(t *testing.T) {
	tree, res := compile.Input(t, compiler.Input{
		Dir: fixture.Root(), Paths: fixture.BlueprintDirs("blueprints", "batch-platform"),
	})
	skipped := func(out *live.Result) []string {
		var names []string
		for _, s := range out.Facts.Skipped {
			names = append(names, s.What)
		}
		return names[3:] // the kinds, the rest of the folder and the Secrets
	}
	cluster, pools := exportedCluster(t, "batch-platform.json")
	pools["l4-spot"]["name"] = "theirs"
	out := compareLive(t, tree, res, jsonFile(t, cluster))
	if got := liveLines(out); !slices.Equal(got, []string{"+ l4_spot"}) ||
		!slices.Equal(out.Facts.Staying, []string{"node pool theirs"}) || !slices.Equal(skipped(out),
		[]string{"Terraform's state"}) {
		t.Errorf("%q %+v", got, out.Facts)
	}

	// A pool that does not run is replaced without an error.
	cluster, pools = exportedCluster(t, "batch-platform.json")
	setJSON(pools["l4-spot"], "config.spot", false)
	for _, stopped := range []func(){
		func() { pools["l4-spot"]["status"] = "ERROR" },
		func() { pools["l4-spot"]["status"] = "RUNNING"; delete(pools["l4-spot"], "instanceGroupUrls") },
	} {
		stopped()
		out = compareLive(t, tree, res, jsonFile(t, cluster))
		if out.Findings.Len() > 0 || len(out.Replacements) != 1 || out.Replacements[0].Nodes != 36 {
			t.Errorf("%q", liveLines(out))
		}
	}

	cluster, _ = exportedCluster(t, "batch-platform.json")
	cluster["selfLink"] = strings.Replace(cluster["selfLink"].(string), "us-central1", "us-east1", 1)
	for _, p := range cluster["nodePools"].([]any) {
		delete(p.(map[string]any), "selfLink")
	}
	out = compareLive(t, tree, res, jsonFile(t, cluster))
	if want := []string{
		"cluster projects/my-project/locations/us-east1/clusters/gke-batch and its node pools", "the cluster and its " +
			"node pools",
	}; len(liveLines(out)) > 0 || !slices.Equal(skipped(out), want) {
		t.Errorf("%q %q", liveLines(out), skipped(out))
	}

	// The pools of TPU slices, from the list of node pools alone.
	tree, res = compile.Input(t, compiler.Input{Dir: fixture.Root(), Paths: fixture.BlueprintDirs("blueprints",
		"tpu-training")})
	content, err := os.ReadFile("testdata/live/tpu-training.json")
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string][]string{
		"4x4": nil,
		"2x4": {
			`~ slices["slices-0"] | placement_policy.tpu_topology: 2x4 -> 4x4`,
			`~ slices["slices-1"] | placement_policy.tpu_topology: 2x4 -> 4x4`,
			`-/+ google_container_node_pool.slices["slices-0"] | placement_policy.tpu_topology`,
			`-/+ google_container_node_pool.slices["slices-1"] | placement_policy.tpu_topology`,
		},
	} {
		out := compareLive(t, tree, res, exports.File{
			Name: "pools.json", Content: bytes.ReplaceAll(content, []byte(`"4x4"`), []byte(`"`+from+`"`)),
		})
		got := slices.DeleteFunc(liveLines(out), func(l string) bool {
			return l[0] == '+' ||
				strings.HasPrefix(l, "E0927")
		})
		if !slices.Equal(got, want) || out.Findings.Len() != len(want)/2 {
			t.Errorf("%s: %q, %d findings", from, got, out.Findings.Len())
		}
	}
}

// TestLiveImport imports each file, compiles the blueprint, and compares it with the file
// that was imported. An object of which the report calls every field exact does not
// change, and the report announces every other change as approximated or without
// counterpart.
func TestLiveImport(t *testing.T) {
	exact := 0
	for _, name := range importNames(t) {
		if strings.HasPrefix(name, "toolkit") {
			continue // describes a deployment, not what runs
		}
		t.Run(name, func(t *testing.T) {
			report := importFile(t, name)
			compiled, err := compiler.Compile(t.Context(), compiler.Input{
				Paths: []string{"platform.cue"}, Files: fstest.MapFS{"platform.cue": {Data: report.Blueprint}},
			})
			if err != nil || compiled.Plan == nil {
				t.Fatalf("%v, %+v", err, compiled.Findings.Sorted())
			}
			tree, err := folder.Build(compiled.Plan)
			if err != nil {
				t.Fatal(err)
			}
			out := compareLive(t, tree, compiled, importFiles(t, name)...)
			changed := map[string]objects.Object{}
			for _, o := range out.Objects {
				changed[o.Kind+" "+o.Name] = o
			}
			for _, o := range report.Report.Objects {
				key := o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
				if o.Kind == "node pool" {
					key = "resource google_container_node_pool " + strings.ReplaceAll(o.Name, "-", "_")
				}
				isExact := !slices.ContainsFunc(o.Fields,
					func(f importer.FieldReport) bool { return f.Status != importer.Exact })
				change, changes := changed[key]
				if isExact {
					exact++
				}
				stays := o.Kind != "cluster" && slices.Contains(out.Facts.Staying, key) // its owners keep the cluster
				if isExact && (changes || stays) {
					t.Errorf("%s is exact, and changes: %+v %s", key, change.Fields, change.Note)
				}
				for _, f := range change.Fields {
					if !isAnnounced(o, f.Path) {
						t.Errorf("%s: the report does not announce %s: %s -> %s", key, f.Path, f.From, f.To)
					}
				}
			}
		})
	}
	if exact < 15 {
		t.Errorf("only %d objects are exact", exact)
	}
}

// pathOfQuota matches the path of an amount in a comparison.
var pathOfQuota = regexp.MustCompile(
	`^spec\.resourceGroups\[(\d+)\]\.flavors\[([^\]]+)\]\.resources\[([^\]]+)\](\.(\w+))?`)

// isAnnounced reports whether the report of an object says that a field changes.
func isAnnounced(o importer.ObjectReport, path string) bool {
	field := strings.TrimPrefix(path, "spec.")
	if label, ok := strings.CutPrefix(field, "nodeLabels["); ok {
		field = "nodeLabels." + strings.TrimSuffix(label, "]")
	}
	// A resource that is new is one that the compiled queue covers.
	if m := pathOfQuota.FindStringSubmatch(path); m != nil && m[5] != "" {
		field = "resourceGroups[" + m[1] + "]." + m[2] + "." + m[3] + "." + m[5]
	} else if strings.HasPrefix(field, "resourceGroups") {
		field = "resourceGroups.coveredResources"
	}
	return slices.ContainsFunc(o.Fields, func(f importer.FieldReport) bool {
		if f.Status == importer.Exact {
			return false
		}
		if f.Field == "object" { // the whole object is another one
			return true
		}
		if check, ok := strings.CutPrefix(f.Field, "admissionChecksStrategy."); ok && check != "" {
			return strings.HasPrefix(field, "admissionChecksStrategy.")
		}
		rest, ok := strings.CutPrefix(field, f.Field)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".["))
	})
}

// TestLiveTakeOver: a pool that is taken over may keep settings, and the finding of another
// says how.
func TestLiveTakeOver(t *testing.T) {
	tree, res := compile.Input(t, compiler.Input{Dir: fixture.Root(), Paths: []string{adopted}})
	pool := func(name string, config string) string {
		return `{"name": "` + name + `", "status": "RUNNING", "initialNodeCount": 1, "config": {` + config + `}}`
	}
	const gpus = `"spot": true, "accelerators": [{"acceleratorCount": "8", "acceleratorType": "nvidia-h100-80gb",
		"gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}],
		"ephemeralStorageLocalSsdConfig": {"localSsdCount": 16},
		"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}, "serviceAccount": "default"`
	out := compareLive(t, tree, res, exports.File{Name: "pools.json", Content: []byte(
		"[" + pool("cpu", `"serviceAccount": "default",
			"shieldedInstanceConfig": {"enableIntegrityMonitoring": true}`) +
			"," + pool("h100-spot", gpus) + "]",
	)})
	if len(out.Replacements) != 1 || out.Replacements[0].Address != "google_container_node_pool.h100_spot" ||
		out.Replacements[0].Guard != "because of prevent_destroy" {
		t.Errorf("%+v", out.Replacements)
	}
	const help = `describe the pool as it runs; or write capacity: "h100-spot": takeOver: keep: ["serviceAccount", ` +
		`"shieldedInstanceConfig"]: the nodes then stay as they are, and Terraform ignores the difference`
	found := out.Findings.Sorted()
	if len(found) != 1 || found[0].Help != help || found[0].Code != "E0927" {
		t.Errorf("%+v", found)
	}
	for _, s := range out.Facts.Skipped {
		if s.What == "Terraform's state" {
			t.Errorf("all resources are taken over: %+v", s)
		}
	}
}

// TestLiveOfOthers: in a cluster that others own, only the platform's own node pools are
// compared.
func TestLiveOfOthers(t *testing.T) {
	tree, res := compile.Input(t, compiler.Input{Dir: fixture.Root(), Paths: []string{"blueprints/existing"}})
	out := compareLive(t, tree, res, exports.File{Name: "cluster.json", Content: []byte(
		`{"name": "prod", "selfLink": "https://container.googleapis.com/v1/projects/my-project/locations/us-central1/` +
			`clusters/prod", "networkConfig": {}, "nodePools": [{"name": "default-pool", "config": {}}]}`,
	)})
	if want := []string{"+ research_l4", "+ research_l4_spot"}; !slices.Equal(liveLines(out), want) {
		t.Errorf("got %q, want %q", liveLines(out), want)
	}
	if want := []string{"cluster prod", "node pool default-pool"}; !slices.Equal(out.Facts.Staying, want) {
		t.Errorf("%q stay, want %q", out.Facts.Staying, want)
	}
}
