package rules

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on what an organisation demands of the cluster.

func securityRules() []Rule {
	return []Rule{
		{Code: "E1017", Severity: diag.Error, check: keyLocation,
			Title: "a key in another region than the cluster"},
	}
}

// keyLocation: disks and clusters of a region take keys of that region alone.
// Source: GKE documentation, "Use customer-managed encryption keys".
func keyLocation(r *report) {
	key := r.Blueprint.Security.KMSKey
	if key == nil {
		return
	}
	_, rest, _ := strings.Cut(*key, "/locations/")
	location, _, _ := strings.Cut(rest, "/")
	if location == r.Blueprint.Region {
		return
	}
	r.add(at("security", "kmsKey"),
		fmt.Sprintf("the key is in %s, and the cluster in %s", location, r.Blueprint.Region),
		label("want locations/%s", r.Blueprint.Region), related(at("region"), "the region"),
		help("write kmsKey: \"projects/PROJECT/locations/%s/keyRings/RING/cryptoKeys/KEY\", a key of that region",
			r.Blueprint.Region))
}
