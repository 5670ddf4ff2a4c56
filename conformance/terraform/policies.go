package terraform

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// grant is a role of a principal in the allow policy of a bucket or of a project. A grant
// under another condition, which is known by its title, is another grant.
type grant struct{ on, role, condition, member string }

// policies are the allow policies of all buckets and projects.
type policies map[grant]bool

// setPolicies changes the policies as the provider does if it changes a resource from prior
// to planned. Either is null if the resource is created or deleted.
//
// Source: hashicorp/terraform-provider-google, google/tpgiamresource: the resources member,
// binding and policy, and the functions of iam.go that they call. A binding is all grants of
// one role under one condition, and deleting a policy sets an empty one.
func (c *cloud) setPolicies(kind string, prior, planned tftypes.Value) error {
	c.Lock()
	defer c.Unlock()
	if c.policies == nil {
		c.policies = policies{}
	}
	before, _ := plain(prior).(map[string]any)
	after, _ := plain(planned).(map[string]any)
	for _, state := range []map[string]any{before, after} {
		if state == nil {
			continue
		}
		is := func(g grant) bool { return g == grantOf(state, g.member) }
		switch kind {
		case "google_project_iam_member", "google_storage_bucket_iam_member":
			delete(c.policies, grantOf(state, state["member"]))
		case "google_project_iam_binding":
			maps.DeleteFunc(c.policies, func(g grant, _ bool) bool { return is(g) })
		case "google_storage_bucket_iam_policy":
			on := grantOf(state, nil).on
			maps.DeleteFunc(c.policies, func(g grant, _ bool) bool { return g.on == on })
		}
	}
	if after == nil {
		return nil
	}
	switch kind {
	case "google_project_iam_member", "google_storage_bucket_iam_member":
		c.policies[grantOf(after, after["member"])] = true
	case "google_project_iam_binding":
		members, _ := after["members"].([]any)
		for _, member := range members {
			c.policies[grantOf(after, member)] = true
		}
	case "google_storage_bucket_iam_policy":
		var policy struct {
			Bindings []struct {
				Role    string
				Members []string
			}
		}
		data, _ := after["policy_data"].(string)
		if err := json.Unmarshal([]byte(data), &policy); err != nil {
			return fmt.Errorf("policy_data: %w", err)
		}
		for _, b := range policy.Bindings {
			for _, member := range b.Members {
				c.policies[grant{on: grantOf(after, nil).on, role: b.Role, member: member}] = true
			}
		}
	}
	return nil
}

// grantOf returns the grant that a resource describes, for a principal.
func grantOf(state map[string]any, member any) grant {
	var g grant
	bucket, _ := state["bucket"].(string)
	g.on = strings.TrimPrefix(bucket, "b/") // as the provider reads the bucket of a policy
	if g.on == "" {
		g.on, _ = state["project"].(string)
	}
	g.role, _ = state["role"].(string)
	g.member, _ = member.(string)
	g.condition, _ = block(state, "condition")["title"].(string)
	return g
}
