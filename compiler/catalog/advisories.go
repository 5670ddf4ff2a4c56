package catalog

import "slices"

// Advisory is a known defect of a release that a blueprint can choose, or that others run
// in its cluster.
type Advisory struct {
	// Name is the project and the number of an issue or pull request, such as
	// "kueue-15093".
	Name string
	// Software is the release's field in the blueprint's versions, or "gke".
	Software string
	// From is the first release that is known to have the defect, "" for every release.
	// Mended is the first release without it, "" if there is none yet.
	From, Mended string
	// Defect says what happens, without a full stop.
	Defect string
	// Answer says what the platform does about the defect, "" for nothing.
	Answer string
	Source string
	// Driver is the CSI driver of a blueprint that the defect needs, "" for none.
	Driver string
}

// AdvisoriesDate is the day on which the issues, pull requests and release notes of the
// advisories were read.
const AdvisoriesDate = "2026-11-25"

// advisories lists the known defects that matter to a platform, by software. Those of
// Kueue and JobSet without a release note were played with Kueue's own code or read in the
// sources of the releases in Tested.
var advisories = []Advisory{
	{
		Name: "kueue-5129", Software: "kueue",
		Defect: "a job whose request for nodes fails four times is deactivated, although the nodes of other jobs " +
			"would become free",
		Answer: "the request is repeated for a week",
		Source: "https://github.com/kubernetes-sigs/kueue/issues/5129",
	},
	{
		Name: "kueue-14609", Software: "kueue",
		Defect: "a JobSet that restarts can use more than its quota, because the pods that had succeeded before " +
			"are not counted again",
		Answer: "a ResourceQuota bounds the accelerators of all pods in the namespace of a team",
		Source: "https://github.com/kubernetes-sigs/kueue/issues/14609",
	},
	{
		Name: "kueue-14811", Software: "kueue",
		Defect: "a job that is evicted because it lost pods can hold its quota without running",
		Answer: "an alert reports quota that no pod uses, and says how to free it",
		Source: "https://github.com/kubernetes-sigs/kueue/issues/14811",
	},
	{
		Name: "kueue-15093", Software: "kueue", Mended: "0.19.4",
		Defect: "a job that is queued again is not charged for what its containers name only in limits",
		Answer: "the admission policies require requests wherever a container has limits",
		Source: "https://github.com/kubernetes-sigs/kueue/issues/15093",
	},
	{
		Name: "kueue-16132", Software: "kueue", Mended: "0.19.6",
		Defect: "a Job with parallelism above completions gives back the quota of running pods",
		Answer: "the admission policies refuse such a Job",
		Source: "https://github.com/kubernetes-sigs/kueue/pull/16132",
	},
	{
		Name: "jobset-1280", Software: "jobset", From: "0.11.0", Mended: "0.13.0",
		Defect: "a JobSet with a negative priority never gets pods",
		Answer: "the admission policies refuse it",
		Source: "https://github.com/kubernetes-sigs/jobset/issues/1280",
	},
	{
		Name: "gke-gcsfuse-2026-10", Software: "gke", From: "1.36.4-gke.1391000", Mended: "1.36.5-gke.1032000",
		Defect: "the Cloud Storage FUSE CSI driver has a defect",
		Source: "https://cloud.google.com/kubernetes-engine/docs/release-notes, 2026-10-20", Driver: "gcsFuse",
	},
}

// tested holds, by the field in a blueprint's versions, the release with which the
// platform's tests run: its own controllers on a control plane.
var tested = map[string]string{"kueue": "0.19.2", "jobset": "0.12.0"}

// Tested returns the release of a software with which the platform is tested, "" if its
// tests run no release of it.
func Tested(software string) string { return tested[software] }

// Advisories returns the defects of one release of a software, by the number of their
// issue.
func Advisories(software, release string) []Advisory {
	older := OlderRelease
	if software == "gke" {
		older = OlderGKE
	}
	var out []Advisory
	for _, a := range advisories {
		if a.Software == software && (a.From == "" || !older(release, a.From)) &&
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
