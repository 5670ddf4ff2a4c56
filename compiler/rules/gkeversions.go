package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// Rules on the GKE version that a cluster starts with: minVersion, or the release
// channel's default. GKE rejects a feature that its version does not have.

func gkeVersionRules() []Rule {
	return []Rule{
		rule("W0312", "minVersion is older than a capacity needs", minVersionTooOld, newCluster),
		rule("W1010", "default version of the release channel is older than a capacity needs",
			channelTooOld, newCluster),
		rule("W1011", "release channel is not known to have minVersion", minVersionOfChannel, newCluster),
		rule("E1018", "GKE version is far newer than any known version", versionBeyond, acceptable),
		rule("N1012", "minVersion is too old for some metrics of the dashboards", missingMetrics, newCluster),
	}
}

// oldestStart returns the oldest version that a new cluster can start with:
// minVersion, or the oldest version of its channel if that is newer.
func (r *report) oldestStart(channel catalog.Channel) string {
	lowest := r.Plan.Cluster.MinVersion
	if catalog.OlderGKE(lowest, channel.Oldest) {
		return channel.Oldest
	}
	return lowest
}

// minVersionTooOld reports only the highest version that the capacities need,
// because it satisfies all of them. It is a warning, because GKE may have upgraded
// an existing cluster since.
func minVersionTooOld(r *report) {
	channel, known := catalog.LookupChannel(r.Plan.Cluster.ReleaseChannel)
	if r.Plan.Cluster.MinVersion == "" || !known {
		return
	}
	if need, found := r.newerNeed(r.oldestStart(channel)); found {
		message := say("capacity %q needs GKE %s: %s", need.capacity, need.version, need.reason)
		r.add(at("cluster", "minVersion"), message, label("want %s or later", need.version),
			see(at("capacity", need.capacity), "the capacity"), advise(startWith(need.version, channel)))
	}
}

func channelTooOld(r *report) {
	channel, known := catalog.LookupChannel(r.Plan.Cluster.ReleaseChannel)
	if r.Plan.Cluster.MinVersion != "" || !known {
		return
	}
	need, found := r.newerNeed(channel.Default)
	if !found {
		return
	}
	field := at("cluster", "releaseChannel")
	r.addKey(at("capacity", need.capacity),
		say("capacity %q needs GKE %s, because %s, but the default version of channel %s is %s", need.capacity,
			need.version, need.reason, channel.Name, channel.Default),
		when(r.Written(field...), see(field, "the channel")), advise(startWith(need.version, channel)))
}

// startWith returns the advice for a cluster that starts with a version.
func startWith(version string, channel catalog.Channel) string {
	minor := catalog.MinorGKE(version)
	if !catalog.OlderGKE(channel.Newest, minor) {
		return fmt.Sprintf("write cluster: minVersion: %q", minor)
	}
	// Of the channels that have the version, the slower one is first.
	for _, name := range []string{"REGULAR", "RAPID"} {
		if other, _ := catalog.LookupChannel(name); !catalog.OlderGKE(other.Newest, minor) {
			return fmt.Sprintf(
				"write cluster: {releaseChannel: %q, minVersion: %q}, because channel %s is not known to have GKE %s",
				name, minor, channel.Name, minor)
		}
	}
	return fmt.Sprintf("no channel is known to have GKE %s", minor)
}

// minVersionOfChannel reports a version that GKE rejects for a new cluster. If a
// capacity needs a different version, minVersionTooOld reports it instead.
func minVersionOfChannel(r *report) {
	channel, known := catalog.LookupChannel(r.Plan.Cluster.ReleaseChannel)
	version := r.Plan.Cluster.MinVersion
	if version == "" || !known {
		return
	}
	if _, beyond := catalog.BeyondGKE(version); beyond {
		return
	}
	if _, found := r.newerNeed(r.oldestStart(channel)); found {
		return
	}
	switch {
	case catalog.OlderGKE(version, channel.Oldest):
		r.add(at("cluster", "minVersion"), say("channel %s no longer has GKE %s", channel.Name, version),
			label("want %q or later", channel.Oldest),
			help("raise minVersion; or remove it, and a new cluster starts with the default of the channel"))
	case catalog.OlderGKE(channel.Newest, version):
		r.add(at("cluster", "minVersion"), say("channel %s is not known to have GKE %s", channel.Name, version),
			label("known versions on %s: %s to %s", catalog.MinorsDate, channel.Oldest, channel.Newest),
			help(`check with gcloud container get-server-config --region=%s --format="yaml(channels)"; `+
				`if the channel has it, add %s`, r.Plan.Region, r.accepting(at("cluster"))))
	}
}

// versionBeyond reports a version that cannot exist for years. minVersionOfChannel
// reports the versions that may have appeared since the catalogue was written. A
// blueprint can accept the finding, so that an old batchwright does not stop it.
func versionBeyond(r *report) {
	version, path := r.Plan.Cluster.MinVersion, at("cluster", "minVersion")
	cure := "lower minVersion; or remove it, and a new cluster starts with the default of the channel"
	if e := r.Plan.Cluster.Existing; e != nil {
		version, path, cure = e.Version, at("cluster", "existing", "version"), "write the version of the cluster"
	}
	if version == "" {
		return
	}
	ahead, beyond := catalog.BeyondGKE(version)
	if !beyond {
		return
	}
	r.add(path, say("GKE %s is %d minor versions newer than any known version", version, ahead),
		label("newest known version on %s: %s", catalog.MinorsDate, catalog.NewestGKE()), advise(cure))
}

// missingMetrics reports the components that the plan omits from the cluster's
// metrics, unless another rule already asks for a higher minVersion.
func missingMetrics(r *report) {
	channel, known := catalog.LookupChannel(r.Plan.Cluster.ReleaseChannel)
	version := r.Plan.Cluster.MinVersion
	if version == "" || !known || catalog.OlderGKE(version, channel.Oldest) {
		return
	}
	if _, found := r.newerNeed(version); found {
		return
	}
	for _, m := range catalog.MetricsComponents() {
		if m.From != "" && catalog.OlderGKE(version, m.From) {
			message := say("GKE %s does not collect metrics of component %s for the dashboards", version,
				m.Component)
			r.add(at("cluster", "minVersion"), message, label("want %s or later", m.From),
				help("raise minVersion, even if GKE has already upgraded the cluster: "+
					"Terraform then adds the component"))
			return
		}
	}
}
