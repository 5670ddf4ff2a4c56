package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on names that fit the grammar, and that Google Cloud refuses because of what
// they say: names of buckets and of the network, and notification channels.

func refusedNameRules() []Rule {
	return []Rule{
		rule("E0224", "bucket of a team is the bucket of the build", stateBuckets),
		rule("E0225", "Cloud Storage refuses the name of a bucket", refusedBuckets),
		rule("E0256", "two teams have the same bucket", sharedBuckets),
		rule("E0257", "too many buckets with names of their own", manyNamedBuckets),
		rule("W0258", "bucket is deleted with its data", on("teams.*", deletedData), fieldwise),
		rule("W0230", "VPC network has the name of the project's default network", defaultNetwork),
		rule("W0231", "name of a bucket resembles \"google\"", doubtfulBuckets),
		rule("W1019", "notification channel of another project", channelProjects),
	}
}

// stateBuckets reports a team whose bucket is also the bucket of the build. The build
// would create it first, and the team's jobs could then write the Terraform state.
func stateBuckets(r *report) {
	state := r.Plan.Delivery.StateBucket
	for _, t := range r.Plan.Teams {
		if t.Bucket != state {
			continue
		}
		message := say("bucket %q of team %q would also hold the Terraform state", state, t.Name)
		if r.Plan.Delivery.InfrastructureManager {
			message = say("bucket %q of team %q would also hold the sources of the build", state, t.Name)
		}
		if r.Blueprint.Delivery.StateBucket != nil {
			r.add(at("delivery", "stateBucket"), message, see(at("teams", t.Name), "the team"),
				help("choose another name; without stateBucket it is %q", r.Plan.Project+"-"+r.Plan.Name+"-tfstate"))
			continue
		}
		if r.Blueprint.Teams[t.Name].Bucket.Name != "" {
			r.add(at("teams", t.Name, "bucket"), message, help("choose another name"))
			continue
		}
		r.addKey(at("teams", t.Name), message,
			help("rename the team, or choose another bucket for the state: delivery: stateBucket: \"...\""))
	}
}

// sharedBuckets reports two teams with one bucket: Terraform would create it twice, and each
// policy would revoke the rights of the other team.
func sharedBuckets(r *report) {
	first := map[string]string{}
	for _, t := range r.Plan.Teams {
		other, taken := first[t.Bucket]
		if t.Bucket == "" || !taken {
			first[t.Bucket] = t.Name
			continue
		}
		name := t.Name
		if r.Blueprint.Teams[name].Bucket.Name == "" {
			name, other = other, name
		}
		r.add(at("teams", name, "bucket"), say("bucket %q already belongs to team %q", t.Bucket, other),
			see(at("teams", other), "the other team"), help("choose another name, or set bucket: true"))
	}
}

// manyNamedBuckets reports the named bucket after which IAM accepts no further condition.
func manyNamedBuckets(r *report) {
	named := 0
	for name, t := range sorted(r.Blueprint.Teams) {
		if t.Bucket.Name == "" {
			continue
		}
		if named++; named > ir.MaxNamedBuckets {
			r.add(at("teams", name, "bucket"),
				say("the build can have the right to administer at most %d named buckets", ir.MaxNamedBuckets),
				help("set bucket: true: the buckets with default names share one condition"))
			return
		}
	}
}

func deletedData(r *report, team fieldPath, t schema.Team) {
	if t.DeleteBucketData && t.Bucket.Wanted {
		r.add(team.at("deleteBucketData"),
			say("destroying the platform deletes the bucket of team %q with all its objects", team.name()),
			helpOrAccept("if nobody needs the objects", "remove deleteBucketData: Terraform then keeps a bucket "+
				"that holds objects"))
	}
}

// Parts of a name that Cloud Storage refuses in the name of a bucket: its
// documentation says that a name cannot begin with "goog", and cannot contain
// "google" or close misspellings, such as "g00gle". It does not list the other
// misspellings. Source: Cloud Storage documentation, "About Cloud Storage buckets".
var (
	refusedInBuckets  = regexp.MustCompile(`google|g00gle`)
	doubtfulInBuckets = regexp.MustCompile(`g[o0]{2}g[il1]e`)
)

// refusedPart returns the part of a bucket's name that Cloud Storage refuses, or "".
// start reports whether the text is the beginning of the name.
func refusedPart(text string, start bool) string {
	if part := refusedInBuckets.FindString(text); part != "" {
		return part
	}
	if start && strings.HasPrefix(text, "goog") {
		return "goog"
	}
	return ""
}

// doubtfulPart returns the part of a bucket's name that Cloud Storage may refuse, or
// "". It ignores names that refusedPart reports.
func doubtfulPart(text string, start bool) string {
	if refusedPart(text, start) != "" {
		return ""
	}
	return doubtfulInBuckets.FindString(text)
}

func refusedBuckets(r *report) {
	r.bucketNames(refusedPart, func(bucket, part string) string {
		if part == "goog" {
			return fmt.Sprintf("Cloud Storage refuses bucket %q: a name cannot begin with %q", bucket, part)
		}
		return fmt.Sprintf("Cloud Storage refuses bucket %q: a name cannot contain %q", bucket, part)
	}, "")
}

func doubtfulBuckets(r *report) {
	r.bucketNames(doubtfulPart, func(bucket, part string) string {
		return fmt.Sprintf("Cloud Storage may refuse bucket %q: %q resembles \"google\"", bucket, part)
	}, "; if Cloud Storage accepts the name, add %s")
}

// bucketNames reports the fields that put a part into the name of a bucket. find
// returns the part of a text that must not be in the name. accept is appended to the
// help, with the way to accept the finding; "" means none.
func (r *report) bucketNames(find func(text string, start bool) string, describe func(bucket, part string) string,
	accept string) {
	tell := func(add func(fieldPath, string, ...option), path fieldPath, bucket, part, cure string) {
		if accept != "" {
			cure += fmt.Sprintf(accept, r.accepting(path))
		}
		add(path, describe(bucket, part), advise(cure))
	}
	derived := "" // the first bucket whose name derives from the project and the platform
	if state := r.Blueprint.Delivery.StateBucket; state == nil {
		derived = r.Plan.Delivery.StateBucket
	} else if part := find(*state, true); part != "" {
		tell(r.add, at("delivery", "stateBucket"), *state, part, "choose another name")
	}
	renamed := `write another name: delivery: stateBucket: "..."`
	for _, t := range r.Plan.Teams {
		if t.Bucket == "" {
			continue
		}
		if named := r.Blueprint.Teams[t.Name].Bucket.Name; named != "" {
			if part := find(named, true); part != "" {
				tell(r.add, at("teams", t.Name, "bucket"), named, part, "choose another name")
			}
			continue
		}
		if derived == "" {
			derived = t.Bucket
		}
		renamed = "choose another project, or remove bucket from the teams and name the other bucket: " +
			`delivery: stateBucket: "..."`
		if part := find(t.Name, false); part != "" {
			tell(r.addKey, at("teams", t.Name), t.Bucket, part, "rename the team, or remove bucket")
		}
	}
	if derived == "" {
		return
	}
	if part := find(r.Plan.Project, true); part != "" {
		tell(r.add, at("project"), derived, part, renamed)
	}
	if part := find(r.Plan.Name, false); part != "" {
		tell(r.add, at("name"), derived, part, "rename the platform")
	}
}

// defaultNetwork reports a platform whose network would be named like the network
// that Google Cloud creates in each new project, unless a policy of the organisation
// prevents it. Source: VPC documentation, "VPC networks".
func defaultNetwork(r *report) {
	const existing = "default"
	if r.Plan.Network.Existing == nil && r.Plan.Network.Name == existing {
		path, cure := at("name"), "rename the platform, or name the network: network: name: \"...\""
		if r.Blueprint.Network.Name != nil {
			path, cure = at("network", "name"), "choose another name"
		}
		r.add(path, say("the VPC network would be named %q, but most projects have a network of this name", existing),
			helpOrAccept("if the project does not have it", "%s", cure))
	}
}

// channelProjects reports notification channels of another project. A project's
// number can stand for its ID, so a number is not reported.
func channelProjects(r *report) {
	for i, channel := range r.Blueprint.Monitoring.NotificationChannels {
		project, id, _ := strings.Cut(strings.TrimPrefix(channel, "projects/"), "/notificationChannels/")
		if project == r.Plan.Project || strings.Trim(project, "0123456789") == "" {
			continue
		}
		path := at("monitoring", "notificationChannels", diag.Index(i))
		r.add(path, say("notification channel %s is in project %q, but the alerts are in project %q", id,
			project, r.Plan.Project),
			helpOrAccept("if this channel works", "create the channel in project %q and name it here", r.Plan.Project))
	}
}
