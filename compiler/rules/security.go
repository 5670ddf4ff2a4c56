package rules

import (
	"strings"
)

// Rules on the security requirements of an organisation.

func securityRules() []Rule {
	return []Rule{
		rule("E1017", "encryption key is not in the region of the cluster", keyLocation),
	}
}

// keyLocation reports a key in another region: Compute Engine and GKE accept only
// keys in the region of the disk or the cluster. Source: GKE documentation, "Use
// customer-managed encryption keys".
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
		say("the encryption key is in %s, but the cluster is in %s", location, r.Blueprint.Region),
		label("want locations/%s", r.Blueprint.Region), see(at("region"), "the region"),
		help("write kmsKey: \"projects/PROJECT/locations/%s/keyRings/RING/cryptoKeys/KEY\"", r.Blueprint.Region))
}
