package dashboards

import (
	"os"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// TestReservationIdle lets Prometheus evaluate the query of the alert over a day of
// points that come every 30 minutes.
func TestReservationIdle(t *testing.T) {
	content, err := os.ReadFile("../../golden/batch-platform/terraform/monitoring.tf")
	if err != nil {
		t.Fatal(err)
	}
	file, diags := hclsyntax.ParseConfig(content, "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	alerts := localValues(file.Body.(*hclsyntax.Body)).Variables["local"].GetAttr("alerts")
	expr := alerts.GetAttr("ReservationIdle").GetAttr("query").AsString()
	const of = `{monitored_resource="compute.googleapis.com/Reservation",` +
		`reservation_id="1",reserved_resource_type="vm"} `
	for name, test := range map[string]struct {
		used  string
		fires int
	}{
		"idle for a day":                {"1x48", 1},
		"in use":                        {"3x48", 0},
		"idle for the last eight hours": {"3x32 1x15", 0},
		"idle except for eight hours":   {"1x16 3x15 1x15", 1},
	} {
		t.Run(name, func(t *testing.T) {
			storage := promqltest.LoadedStorage(t, "load 30m\n  compute_googleapis_com:reservation_used"+of+
				test.used+"\n  compute_googleapis_com:reservation_reserved"+of+"4x48\n")
			query, err := engine(t).NewInstantQuery(t.Context(), storage, nil, expr, time.Unix(0, 0).Add(24*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			defer query.Close()
			result := query.Exec(t.Context())
			vector, err := result.Vector()
			if err != nil || len(vector) != test.fires {
				t.Errorf("%d series fire, want %d: %v, %v", len(vector), test.fires, vector, err)
			}
		})
	}
}
