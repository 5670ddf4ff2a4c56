package catalog

import (
	_ "embed"
	"strings"
)

// localssds.jsonl holds the numbers of local SSDs that can be requested for the
// machines of a family, by their number of vCPUs. Google's documentation, "About
// Local SSD disks", has the table; the source of a row is a public copy of it. A
// family without a row is unverified.
//
//go:embed localssds.jsonl
var localSSDs string

// localSSDGB is the size of a local SSD that is requested.
const localSSDGB = 375

type localSSDRow struct {
	Family    string `json:"family"`
	MostVCPUs int    `json:"mostVCPUs"` // of the machines that the row holds for
	Allowed   []int  `json:"allowed"`   // the same as in SSDs
	Source    string `json:"source"`
}

// requestableSSDs returns the local SSDs that a machine of a family can request. The
// result is unverified if no row holds for the machine.
func requestableSSDs(family string, vcpus int) SSDs {
	for row := range strings.Lines(findRows(localSSDs, "family", family)) {
		r := decodeRow[localSSDRow](row)
		if vcpus > r.MostVCPUs {
			continue
		}
		if len(r.Allowed) == 0 {
			return SSDs{Allowed: r.Allowed}
		}
		return SSDs{Allowed: r.Allowed, SizeGB: localSSDGB}
	}
	return SSDs{}
}
