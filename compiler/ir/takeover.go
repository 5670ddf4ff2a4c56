package ir

import (
	"regexp"
	"slices"
	"strings"
)

// TakeOver says that a resource exists that the platform did not create. The next build
// imports it into the platform's Terraform state.
type TakeOver struct {
	// From is the address of the resource in the Terraform configuration of its former
	// owner, or "" if no configuration has it.
	From string
}

// KeptSetting is a setting of a node pool that GKE cannot change, and that makes no difference to
// jobs. It has the name of the field in GKE's API.
type KeptSetting string

// The settings that a takeover can keep.
const (
	KeepServiceAccount         KeptSetting = "serviceAccount"
	KeepOAuthScopes            KeptSetting = "oauthScopes"
	KeepShieldedInstanceConfig KeptSetting = "shieldedInstanceConfig"
	KeepReservationAffinity    KeptSetting = "reservationAffinity"
	KeepBootDiskKmsKey         KeptSetting = "bootDiskKmsKey"
	KeepPlacementPolicy        KeptSetting = "placementPolicy"
)

// KeptSettings returns the settings that a takeover can keep.
func KeptSettings() []KeptSetting {
	return []KeptSetting{
		KeepServiceAccount, KeepOAuthScopes, KeepShieldedInstanceConfig, KeepReservationAffinity, KeepBootDiskKmsKey,
		KeepPlacementPolicy,
	}
}

// Argument returns the path of the setting in Terraform's google_container_node_pool, such
// as "node_config.service_account".
func (s KeptSetting) Argument() string {
	if s == KeepPlacementPolicy {
		return "placement_policy"
	}
	name := map[KeptSetting]string{
		KeepServiceAccount: "service_account", KeepOAuthScopes: "oauth_scopes",
		KeepShieldedInstanceConfig: "shielded_instance_config", KeepReservationAffinity: "reservation_affinity",
		KeepBootDiskKmsKey: "boot_disk_kms_key",
	}[s]
	return "node_config." + name
}

// NamesInstance reports whether From names one instance of a resource or a module that
// has several.
func (t TakeOver) NamesInstance() bool { return strings.Contains(t.From, "[") }

// NamesOnePool reports whether From names one instance of the resource of a node pool.
func (t TakeOver) NamesOnePool() bool { return strings.HasSuffix(t.From, "]") }

// addressStep is a name in the address of a resource, with its key if it has one.
var addressStep = regexp.MustCompile(`([A-Za-z0-9_-]+)(\[[^\]]*\])?`)

// AddressesOverlap reports whether two addresses of resources have an instance in common.
// An address without a key names all instances.
func AddressesOverlap(a, b string) bool {
	one, other := addressStep.FindAllStringSubmatch(a, -1), addressStep.FindAllStringSubmatch(b, -1)
	return slices.EqualFunc(one, other, func(x, y []string) bool {
		return x[1] == y[1] && (x[2] == y[2] || x[2] == "" || y[2] == "")
	})
}

// Keeps reports whether a setting of the capacity's nodes stays as it is.
func (c Capacity) Keeps(setting KeptSetting) bool { return slices.Contains(c.Kept, setting) }

// CanKeep reports whether the capacity's nodes can keep a setting: not where the setting decides what
// the nodes are.
func (c Capacity) CanKeep(setting KeptSetting) bool {
	switch setting {
	case KeepReservationAffinity:
		return c.Reservation == nil
	case KeepPlacementPolicy:
		return !c.Sliced()
	}
	return true
}

// TakesOver reports whether the platform takes over its cluster or a node pool.
func (p *Platform) TakesOver() bool {
	return p.Cluster.TakeOver != nil || len(p.TakenOverCapacities()) > 0
}

// TakenOverCapacities returns the capacities whose node pools are taken over, in the
// order of Capacities.
func (p *Platform) TakenOverCapacities() []Capacity {
	var out []Capacity
	for _, c := range p.Capacities {
		if c.TakeOver != nil && c.OwnsPools() {
			out = append(out, c)
		}
	}
	return out
}

// TakenOverPools returns the names of the node pools that are taken over, in the order
// of Capacities.
func (p *Platform) TakenOverPools() []string {
	var out []string
	for _, c := range p.TakenOverCapacities() {
		out = append(out, c.Pools()...)
	}
	return out
}

// HasFormerConfiguration reports whether a Terraform configuration of a former owner
// must let go of a resource.
func (p *Platform) HasFormerConfiguration() bool {
	if t := p.Cluster.TakeOver; t != nil && t.From != "" {
		return true
	}
	for _, c := range p.TakenOverCapacities() {
		if c.TakeOver.From != "" {
			return true
		}
	}
	return false
}
