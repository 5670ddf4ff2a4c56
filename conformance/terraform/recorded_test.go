package terraform

import (
	"encoding/json"
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

// readRecorded returns the objects that an API has returned, in logs whose names have a
// prefix, and that have a field. It skips the test if the logs are not there.
func readRecorded(t *testing.T, prefix, field string) (out []map[string]any) {
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
		for exchange := range strings.SplitSeq(string(content), "\n---\n") {
			_, answered, _ := strings.Cut(exchange, "\n200 OK\n")
			_, body, _ := strings.Cut(answered, "\n\n")
			var object map[string]any
			// Other bodies are lists, which these tests do not read, or have comments.
			if json.Unmarshal([]byte(body), &object) == nil && object[field] != nil {
				out = append(out, object)
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
