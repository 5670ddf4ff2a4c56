package terraform

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// recordedAnswers is the folder with recorded answers of Google's APIs. It is not part of
// the repository.
const recordedAnswers = repository + "/../shared/recorded"

// exchange is a request that an API has answered with 200, and its answer.
type exchange struct {
	method, path string // without the parameters of the URL
	sent, got    map[string]any
}

// readExchanges returns the exchanges of each log whose name has a prefix. It skips the test
// if the logs are not there.
func readExchanges(t *testing.T, prefix string) (out [][]exchange) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(recordedAnswers, prefix+"*.log"))
	if err != nil {
		t.Fatal(err)
	}
	if len(logs) == 0 {
		t.Skip("the recorded answers are not beside the repository: the stand-in was not compared with them")
	}
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		var all []exchange
		for text := range strings.SplitSeq(string(content), "\n---\n") {
			sent, got, answered := strings.Cut(text, "\n200 OK\n")
			method, rest, found := strings.Cut(strings.TrimSpace(sent), " ")
			if !answered || !found {
				continue
			}
			line, _, _ := strings.Cut(rest, "\n")
			path, _, _ := strings.Cut(line, "?")
			all = append(all, exchange{method, path, body(sent), body(got)})
		}
		out = append(out, all)
	}
	return out
}

// body returns the object after the headers of a message. It is nil if there is none, or
// if it is no JSON: some have comments.
func body(message string) (out map[string]any) {
	if start := strings.Index(message, "\n{"); start >= 0 && json.Unmarshal([]byte(message[start:]), &out) == nil {
		return out
	}
	return nil
}

// readRecorded returns the objects that an API has returned, in logs whose names have a
// prefix, and that have a field. It skips the test if the logs are not there.
func readRecorded(t *testing.T, prefix, field string) (out []map[string]any) {
	t.Helper()
	for _, log := range readExchanges(t, prefix) {
		for _, e := range log {
			if e.got[field] != nil {
				out = append(out, e.got)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no answer in %s*.log has a field %s", prefix, field)
	}
	return out
}

// TestRecordedURLs checks that the stand-in writes URLs as Compute Engine does.
func TestRecordedURLs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, path, log, field string }{
		{"google_compute_reservation", "zone", "compute.computereservation_", "specificReservation"},
		{"google_compute_subnetwork", "network", "compute.computesubnetwork_computesubnetwork", "ipCidrRange"},
		{"google_compute_router", "network", "compute.computerouter", "encryptedInterconnectRouter"},
	} {
		t.Run(test.kind+"."+test.path, func(t *testing.T) {
			read := answersOf(test.kind)[test.path].read
			for _, object := range readRecorded(t, test.log, test.field) {
				recorded, _ := object[test.path].(string)
				if !strings.HasPrefix(recorded, "https://") {
					continue // what a stand-in of k8s-config-connector has answered
				}
				all := []string{strings.TrimPrefix(recorded, computeURL), recorded}
				// The logs have a placeholder for the project.
				if own := strings.ReplaceAll(recorded, "${projectId}", defaultProject); own != recorded {
					recorded, all = own, []string{strings.TrimPrefix(own, computeURL), own, lastElement(own)}
				}
				for _, sent := range all {
					var got string
					v := read(nil, nil, tftypes.NewValue(tftypes.String, sent), 1)
					if v.As(&got) != nil || got != recorded {
						t.Errorf("%s reads back as %s, recorded: %s", sent, got, recorded)
					}
				}
			}
		})
	}
}

// TestRecordedNames checks that arguments that the stand-in reads back as they were sent are
// names in the recorded answers, or URLs: answers.go names the functions that keep only the
// name of these.
func TestRecordedNames(t *testing.T) {
	t.Parallel()
	const (
		properties = "specific_reservation.instance_properties."
		recorded   = "specificReservation.instanceProperties."
	)
	for _, test := range []struct {
		kind, path, log string
		field           string // path in the answer
		url             bool
	}{
		{
			"google_compute_reservation", properties + "machine_type",
			"compute.computereservation_", recorded + "machineType", false,
		},
		{
			"google_compute_reservation", properties + "guest_accelerators.accelerator_type",
			"compute.computereservation_", recorded + "guestAccelerators.acceleratorType", false,
		},
		{"google_compute_subnetwork", "region", "compute.computesubnetwork_computesubnetwork", "region", true},
		{"google_compute_router", "region", "compute.computerouter_", "region", true},
	} {
		t.Run(test.kind+"."+test.path, func(t *testing.T) {
			if _, ok := answersOf(test.kind)[test.path]; ok {
				t.Error("the stand-in reads it back otherwise")
			}
			names := strings.Split(test.field, ".")
			found := false
			for _, object := range readRecorded(t, test.log, names[0]) {
				for _, text := range recordedTexts(object, names) {
					url := strings.HasPrefix(text, computeURL)
					found = found || url && test.url || !test.url
					if text == "" || !test.url && strings.Contains(text, "/") {
						t.Errorf("recorded: %q", text)
					}
				}
			}
			if !found {
				t.Errorf("no answer has %s, as a URL: %t", test.field, test.url)
			}
		})
	}
}

// recordedTexts returns the texts of a field in an answer.
func recordedTexts(object any, path []string) (out []string) {
	switch value := object.(type) {
	case string:
		if len(path) == 0 {
			return []string{value}
		}
	case map[string]any:
		if len(path) > 0 {
			return recordedTexts(value[path[0]], path[1:])
		}
	case []any:
		for _, element := range value {
			out = append(out, recordedTexts(element, path)...)
		}
	}
	return out
}

// TestRecordedClusters checks what the stand-in's answers about clusters say of every
// recorded one: the metrics come in an order that is not theirs by name, the path of the
// network is in networkConfig, and there are settings of auto-provisioned pools.
func TestRecordedClusters(t *testing.T) {
	t.Parallel()
	orders := map[string]bool{}
	for _, cluster := range readRecorded(t, "container.containercluster", "initialClusterVersion") {
		monitoring, _ := cluster["monitoringConfig"].(map[string]any)
		components, _ := monitoring["componentConfig"].(map[string]any)
		names := texts(components["enableComponents"])
		orders[strings.Join(names, " ")] = true
		if len(names) > 2 && slices.IsSorted(names) {
			t.Errorf("the components of metrics are sorted: %s", names)
		}
		networks, _ := cluster["networkConfig"].(map[string]any)
		path, _ := networks["network"].(string)
		if name, _ := cluster["network"].(string); !strings.HasPrefix(path, "projects/") || !sameName(path, name) {
			t.Errorf("network %s has the path %s", name, path)
		}
		if _, ok := cluster["nodePoolAutoConfig"].(map[string]any); !ok {
			t.Errorf("cluster %s has no settings of auto-provisioned pools", cluster["name"])
		}
	}
	if len(orders) < 2 {
		t.Errorf("the components of metrics always come as %v", orders)
	}
}

// sentFields says for a type of resources which fields of a recorded request come back
// otherwise.
type sentFields struct {
	kind, log  string
	collection string // the last part of the URL of a creating request
	envelope   string // the field of the request that has the object, if there is one
	// rows has the argument of a row in answers.go for a field.
	rows map[string]string
	// unmet says for a field why a deploy folder does not meet the difference.
	unmet map[string]string
}

const (
	keepsName      = "the provider keeps the name, as answers.go says at its top"
	exclusionScope = "maintenancePolicy.window.maintenanceExclusions." +
		"no-maintenance-for-holidays.maintenanceExclusionOptions.scope"
)

var allSentFields = []sentFields{
	{kind: "google_artifact_registry_repository", log: "artifactregistry.", collection: "repositories"},
	{kind: "google_compute_firewall", log: "compute.computefirewall", collection: "firewalls"},
	{
		kind: "google_compute_network", log: "compute.computenetwork", collection: "networks",
		rows: map[string]string{"networkProfile": "network_profile"},
	},
	{
		kind: "google_compute_reservation", log: "compute.computereservation", collection: "reservations",
		rows: map[string]string{"zone": "zone"},
	},
	{
		kind: "google_compute_resource_policy", log: "compute.computeresourcepolicy", collection: "resourcePolicies",
		unmet: map[string]string{"region": keepsName},
	},
	{
		kind: "google_compute_router", log: "compute.computerouter", collection: "routers",
		rows: map[string]string{"network": "network"}, unmet: map[string]string{"region": keepsName},
	},
	{
		kind: "google_compute_subnetwork", log: "compute.computesubnetwork", collection: "subnetworks",
		rows: map[string]string{"network": "network"}, unmet: map[string]string{"region": keepsName},
	},
	{
		kind: "google_container_cluster", log: "container.", collection: "clusters", envelope: "cluster",
		rows: map[string]string{"network": "network", "subnetwork": "subnetwork"},
		unmet: map[string]string{
			"addonsConfig.gcePersistentDiskCsiDriverConfig.enabled":       "every folder has this driver",
			"autoscaling.autoprovisioningNodePoolDefaults.minCpuPlatform": "no folder sets it",
			"autoscaling.autoprovisioningNodePoolDefaults.oauthScopes":    "a folder sets one, so there is no order",
			"databaseEncryption.state":                                    "a folder sets ENCRYPTED, which comes back",
			"initialClusterVersion":                                       "the provider reads no min_master_version",
			"ipAllocationPolicy.clusterIpv4CidrBlock":                     "a folder sets names of secondary ranges",
			"ipAllocationPolicy.servicesIpv4CidrBlock":                    "a folder sets names of secondary ranges",
			"ipAllocationPolicy.useIpAliases":                             "the provider sets true",

			exclusionScope: "flattenMaintenancePolicy reads NO_UPGRADES of an empty one",
		},
	},
	{
		kind: "google_container_node_pool", log: "container.", collection: "nodePools", envelope: "nodePool",
		unmet: map[string]string{"networkConfig.subnetwork": "a folder sets subnetworks of additional networks only"},
	},
	{kind: "google_monitoring_alert_policy", log: "monitoring.", collection: "alertPolicies"},
	{
		kind: "google_monitoring_dashboard", log: "monitoring.", collection: "dashboards",
		unmet: map[string]string{"name": "no folder sets it"},
	},
	{
		kind: "google_storage_bucket", log: "storage.", collection: "b",
		unmet: map[string]string{"storageClass": "only with autoclass, which no folder has"},
	},
}

// TestRecordedFields compares the fields of each recorded request that creates an object with
// the next answer about the object. A field that comes back otherwise must be in
// allSentFields, and one that is there must come back otherwise. A field that is false, 0 or
// empty may be absent from an answer: the provider reads it as the same.
func TestRecordedFields(t *testing.T) {
	t.Parallel()
	for _, test := range allSentFields {
		t.Run(test.kind, func(t *testing.T) {
			rows, compared := answersOf(test.kind), 0
			differs := map[string]string{}
			for _, log := range readExchanges(t, test.log) {
				compared += test.compare(log, differs)
			}
			if compared == 0 {
				t.Fatal("no request was compared")
			}
			listed := map[string]bool{}
			for field, argument := range test.rows {
				listed[field] = true
				if _, ok := rows[argument]; !ok {
					t.Errorf("%s: answers.go has no row for %s", field, argument)
				}
			}
			for field := range test.unmet {
				listed[field] = true
			}
			for field, values := range differs {
				if !listed[field] {
					t.Errorf("%s comes back otherwise: %s", field, values)
				}
			}
			for field := range listed {
				if _, ok := differs[field]; !ok {
					t.Errorf("%s comes back as it was sent", field)
				}
			}
		})
	}
}

// compare adds the fields that come back otherwise to a map, with what was sent and what came
// back. It returns how many requests it has compared.
func (s sentFields) compare(log []exchange, differs map[string]string) (compared int) {
	for i, e := range log {
		if e.method != "POST" || lastElement(e.path) != s.collection {
			continue
		}
		sent := e.sent
		if s.envelope != "" {
			sent, _ = sent[s.envelope].(map[string]any)
		}
		answered := answerTo(e, log[i+1:])
		if answered == nil || sent == nil {
			continue
		}
		compared++
		got := leaves(answered)
		for field, values := range leaves(sent) {
			for _, v := range values {
				if !slices.Contains(got[field], v) && (!isZero(v) || got[field] != nil) {
					differs[field] = fmt.Sprintf("%s was sent, %s came back", v, got[field])
				}
			}
		}
	}
	return compared
}

// answerTo returns the first answer about the object that a request has created. It is nil
// if another request of this type comes before.
func answerTo(created exchange, later []exchange) map[string]any {
	for _, e := range later {
		name, about := strings.CutPrefix(e.path, created.path+"/")
		switch {
		case e.path == created.path:
			return nil
		case about && e.method == "GET" && !strings.Contains(name, "/"):
			return e.got
		}
	}
	return nil
}

// leaves returns the values of an object's fields as JSON, by path. A list of objects has the
// path of its field.
func leaves(v any) map[string][]string {
	out := map[string][]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), field)
			}
			return
		case []any:
			if len(v) > 0 {
				if _, ok := v[0].(map[string]any); ok {
					for _, element := range v {
						walk(path, element)
					}
					return
				}
			}
		}
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it has come from JSON
		}
		out[path] = append(out[path], string(text))
	}
	walk("", v)
	return out
}

// isZero reports whether a value is the default that protocol buffers omit.
func isZero(json string) bool {
	return slices.Contains([]string{"null", "false", "0", `""`, "[]", `"0"`}, json)
}

// TestShuffle checks that no two answers in a row have a list in the same order, and that
// none has the order in which the list was sent.
func TestShuffle(t *testing.T) {
	t.Parallel()
	var names []tftypes.Value
	for _, name := range []string{"a", "b", "c"} {
		names = append(names, tftypes.NewValue(tftypes.String, name))
	}
	sent := tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, names)
	last := sent
	for number := range 6 {
		got := shuffle(nil, nil, sent, number)
		if got.Equal(sent) || got.Equal(last) {
			t.Errorf("answer %d is %s", number, got)
		}
		last = got
	}
}
