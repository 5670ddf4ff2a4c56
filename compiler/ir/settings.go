package ir

import (
	"slices"
	"strconv"
	"strings"
)

// Setting is a value for which the deploy folder is compiled, and which a build takes
// as a substitution: node pools, quotas and jobs depend on the value. If a build is
// submitted with another value, it stops before it changes anything.
//
// The public TPU training guide uses the same names. Source: applied-ai-engineering-
// samples, ai-infrastructure/tpu-training-on-gke, env_setup/build.sh.
type Setting struct {
	// Substitution is the name of the substitution. If it ends with _VERSION, the
	// value may begin with a v.
	Substitution string
	Field        string // field of the blueprint that decides the value
	// Values are the values that the build accepts, the default first. If there are
	// none, the platform does not have the thing, and the build accepts only "".
	Values []string
}

// Default returns the value of a build that is submitted without the substitution.
func (s Setting) Default() string {
	if len(s.Values) == 0 {
		return ""
	}
	return s.Values[0]
}

// BuildSettings returns the settings of both builds, by name. A setting is omitted if
// the platform has no single value for it, for example in several zones. The names
// that only the TPU training guide uses are settings of platforms with TPUs.
func (p *Platform) BuildSettings() []Setting {
	version := Choose(p.Scheduler,
		Setting{"_KUEUE_API_VERSION", "versions.kueue", []string{p.Versions.Kueue}},
		Setting{"_KAI_VERSION", "versions.kai", []string{p.Versions.KAI}})
	cluster := "name"
	if !p.OwnsCluster() {
		cluster = "cluster.existing.name"
	}
	out := []Setting{
		{"_CLUSTER_NAME", cluster, []string{p.Cluster.Name}},
		{"_REGION", "region", []string{p.Region}},
	}
	for _, c := range p.InstalledControllers() {
		out = append(out, Setting{
			"_" + strings.ToUpper(c.Field) + "_API_VERSION", "versions." + c.Field, []string{c.Version},
		})
	}
	if p.InstallsScheduler() {
		out = append(out, version)
	}
	if len(p.Zones) == 1 {
		out = append(out, Setting{"_ZONE", "zones", p.Zones})
	}
	switch {
	case p.AnyCapacity(Capacity.HasTPUs):
		out = append(out, p.tpuSettings()...)
	case len(p.OwnTeams()) == 1:
		out = append(out, Setting{"_NAMESPACE", "teams", p.namespaces()})
	}
	slices.SortFunc(out, func(a, b Setting) int { return strings.Compare(a.Substitution, b.Substitution) })
	return out
}

// tpuSettings returns the settings of a platform with TPUs.
func (p *Platform) tpuSettings() []Setting {
	var buckets, boards []string
	for _, t := range p.Teams {
		if t.Bucket != "" {
			buckets = append(buckets, t.Bucket)
		}
	}
	if p.Monitoring.TensorBoard != "" {
		boards = []string{p.Monitoring.TensorBoard}
	}
	network, subnet := "network.name", "network.subnet"
	if p.Network.Existing != nil {
		network, subnet = "network.existing.network", "network.existing.subnet"
	}
	out := []Setting{
		{"_ARTIFACT_REPOSITORY_BUCKET_NAME", "teams.TEAM.bucket", buckets},
		{"_NAMESPACE", "teams", p.namespaces()},
		{"_TENSORBOARD_REGION", "monitoring.tensorBoard", boards},
	}
	if p.Network.Name != "" {
		out = append(out, Setting{"_NETWORK_NAME", network, []string{p.Network.Name}},
			Setting{"_SUBNET_NAME", subnet, []string{p.Network.Subnet}})
	}
	if p.Delivery.InfrastructureManager {
		out = append(out, Setting{StateBucketSubstitution, "delivery.infrastructureManager", nil},
			Setting{StatePrefixSubstitution, "delivery.infrastructureManager", nil})
	}
	return append(out, p.sliceSettings()...)
}

// sliceSettings returns the settings of a platform whose slices are all of one kind.
func (p *Platform) sliceSettings() []Setting {
	pools, chips := 0, 0
	var kinds []string
	for _, c := range p.Capacities {
		if !c.HasTPUs() || c.Machine.Slice == nil {
			continue
		}
		if kind := c.Machine.TPUType; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		pools += len(c.Pools())
		chips += c.MaxNodes * c.Machine.AcceleratorCount
	}
	if len(kinds) != 1 {
		return nil
	}
	return []Setting{
		{"_NUM_OF_CHIPS", "capacity", []string{strconv.Itoa(chips)}},
		{"_NUM_TPU_POOLS", "capacity", []string{strconv.Itoa(pools)}},
		{"_TPU_TYPE", "hardware", kinds},
	}
}

func (p *Platform) namespaces() (all []string) {
	for _, t := range p.OwnTeams() {
		all = append(all, t.Namespace)
	}
	return all
}

// The substitutions with the location of the Terraform state. Unless Infrastructure
// Manager keeps the state, a build accepts any value.
const (
	StateBucketSubstitution = "_TF_STATE_BUCKET"
	StatePrefixSubstitution = "_TF_STATE_PREFIX"
)
