package catalog

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// Advisory is a known defect of a release that a blueprint can choose, or that others run
// in its cluster.
type Advisory struct {
	// Name is the project and the number of an issue or pull request, such as
	// "kueue-15093".
	Name string `json:"name"`
	// Software is the release's field in the blueprint's versions, or "gke".
	Software string `json:"software"`
	// From is the first release that is known to have the defect, "" for every release.
	// Mended is the first release without it, "" if there is none yet.
	From   string `json:"from,omitzero"`
	Mended string `json:"mended,omitzero"`
	// Defect says what happens, without a full stop.
	Defect string `json:"defect"`
	// Answer says what the platform does about the defect, "" for nothing.
	Answer string `json:"answer,omitzero"`
	Source string `json:"source"`
	// Driver is the CSI driver of a blueprint that the defect needs, "" for none.
	Driver string `json:"driver,omitzero"`
}

// advisories.jsonl lists the known defects that matter to a platform, by software. Their
// issues, pull requests and release notes were read on 2026-11-25. Those of
// the controllers of jobs without a release note were played with Kueue's own code or read
// in the sources of the releases in Tested.
//
//go:embed advisories.jsonl
var advisories string

// Tested returns the release of a software, by its field in a blueprint's versions, with
// which the platform's tests run their control plane, "" if they run no release of it.
func Tested(software string) string {
	if software == "kueue" {
		return "0.19.2"
	}
	for _, c := range kinds.Controllers() {
		if c.Field == software {
			return c.Tested
		}
	}
	return ""
}

// Advisories returns the defects of one release of a software, by the number of their
// issue.
func Advisories(software, release string) []Advisory {
	older := OlderRelease
	if software == "gke" {
		older = OlderGKE
	}
	var out []Advisory
	for row := range strings.Lines(findRows(advisories, "software", software)) {
		a := decodeRow[Advisory](row)
		if (a.From == "" || !older(release, a.From)) &&
			(a.Mended == "" || older(release, a.Mended)) {
			out = append(out, a)
		}
	}
	return out
}

// Mended returns the names of the defects of one release that a later one does not have.
func Mended(software, from, to string) []string {
	left := Advisories(software, to)
	var out []string
	for _, a := range Advisories(software, from) {
		if !slices.ContainsFunc(left, func(l Advisory) bool { return l.Name == a.Name }) {
			out = append(out, a.Name)
		}
	}
	return out
}
