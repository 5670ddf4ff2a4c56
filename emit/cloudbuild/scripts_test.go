package cloudbuild

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// fresh answers like a project in which nothing has been prepared yet.
const fresh = `
case $call in
*" describe "*) exit 1 ;;
esac`

// prepared answers like a project in which everything has been prepared.
const prepared = `
case $call in
*"buckets list"*) echo my-project-gke-batch-tfstate ;;
*"projects get-iam-policy"*)
  printf 'projects/my-project/roles/gke_batch_build\t\t\t\nroles/compute.networkAdmin\t\t\t\n'
  printf 'roles/container.admin\tresource.name == "c"\tCluster gke-batch\t\n'
  printf 'roles/resourcemanager.projectIamAdmin\tapi.getAttribute("iam.googleapis.com/modifiedGrantsByRole", [])'
  printf '.hasOnly(["roles/artifactregistry.reader", "roles/logging.logWriter"])\t'
  printf 'Roles of nodes, jobs and members\t\n'
  ;;
esac`

func TestCreate(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.answer(fresh)
	first := s.runScript("create-platform.sh", "")
	want := splitCalls(`
gcloud services enable compute.googleapis.com container.googleapis.com --project=my-project
gcloud iam service-accounts describe gke-batch-build@my-project.iam.gserviceaccount.com --project=my-project
gcloud iam service-accounts create gke-batch-build --project=my-project --display-name=Builds\ gke-batch
gcloud iam service-accounts describe gke-batch-nodes@my-project.iam.gserviceaccount.com --project=my-project \
  --format=value\(displayName\)
gcloud iam service-accounts describe gke-batch-nodes@my-project.iam.gserviceaccount.com --project=my-project
gcloud iam service-accounts create gke-batch-nodes --project=my-project --display-name=Nodes\ of\ gke-batch
gcloud iam service-accounts add-iam-policy-binding gke-batch-nodes@my-project.iam.gserviceaccount.com \
  --project=my-project --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com \
  --role=roles/iam.serviceAccountUser --condition=None
gcloud artifacts repositories describe gke-batch --project=my-project --location=us-central1
gcloud artifacts repositories create gke-batch --project=my-project --location=us-central1 \
  --repository-format=docker --description=Images\ of\ the\ teams\ of\ gke-batch
gcloud storage buckets list --project=my-project --filter=name=\"my-project-gke-batch-tfstate\" --format=value\(name\)
gcloud storage buckets create gs://my-project-gke-batch-tfstate --project=my-project --location=us-central1 \
  --uniform-bucket-level-access --public-access-prevention
gcloud storage buckets update gs://my-project-gke-batch-tfstate --versioning
gcloud storage buckets add-iam-policy-binding gs://my-project-gke-batch-tfstate \
  --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com --role=roles/storage.admin \
  --condition=None
gcloud iam roles describe gke_batch_build --project=my-project --format=value\(deleted\)
gcloud iam roles create gke_batch_build --project=my-project --stage=GA --title=Builds\ gke-batch \
  --permissions=compute.reservations.create\,compute.reservations.delete
gcloud projects get-iam-policy my-project --flatten=bindings\[\].members \
  --filter=bindings.members=\"serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com\" \
  --format=value\
  \(bindings.role\,bindings.condition.expression\,bindings.condition.title\,bindings.condition.description\)
gcloud projects add-iam-policy-binding my-project \
  --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com \
  --role=projects/my-project/roles/gke_batch_build --condition=None
gcloud projects add-iam-policy-binding my-project \
  --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com --role=roles/compute.networkAdmin \
  --condition=None
gcloud projects add-iam-policy-binding my-project \
  --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com --role=roles/container.admin \
  --condition=\^\;\^title=Cluster\ gke-batch\;expression=resource.name\ ==\ \"c\"
gcloud projects add-iam-policy-binding my-project \
  --member=serviceAccount:gke-batch-build@my-project.iam.gserviceaccount.com \
  --role=roles/resourcemanager.projectIamAdmin \
  --condition=\^\;\^title=Roles\ of\ nodes\,\ jobs\ and\ members\;expression=api.getAttribute\
  \(\"iam.googleapis.com/modifiedGrantsByRole\"\,\ \[\]\).hasOnly\(\[\"roles/artifactregistry.reader\"\,\ \
  \"roles/logging.logWriter\"\]\)
gcloud builds submit . --project=my-project --region=us-central1 --config=cloudbuild/provision.yaml \
  --gcs-source-staging-dir=gs://my-project-gke-batch-tfstate/gke-batch/source
`)
	if diff := cmp.Diff(want, first.calls); diff != "" || first.code != 0 {
		t.Errorf("exit code %d, calls (-want +got):\n%s\n%s", first.code, diff, first.output)
	}

	s.answer(prepared)
	second := s.runScript("create-platform.sh", "")
	if second.code != 0 {
		t.Errorf("second run: exit code %d\n%s", second.code, second.output)
	}
	for _, call := range second.calls {
		if strings.Contains(call, " create ") || strings.Contains(call, "remove-iam-policy-binding") ||
			strings.Contains(call, "projects add-iam-policy-binding") {
			t.Errorf("second run: %s", call)
		}
	}
	if len(second.callsWith("gcloud builds submit")) != 1 {
		t.Errorf("second run submitted no build: %q", second.calls)
	}
	if r := s.runScript("create-platform.sh", "", "--prepare"); r.code != 0 || strings.Contains(r.output, "revoke") {
		t.Errorf("nothing to revoke: exit code %d\n%s", r.code, r.output)
	}
}

// TestCreateStopsAtTheFirstError fails every call in turn, and expects nothing
// to come after it.
func TestCreateStopsAtTheFirstError(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.answer(fresh)
	calls := s.runScript("create-platform.sh", "").calls
	for _, failing := range calls {
		if strings.Contains(failing, " describe ") {
			continue // to fail is its answer
		}
		s.answer(fresh + "\nif [[ $line == " + words.ShellString(failing) + " ]]; then echo refused >&2; exit 1; fi")
		r := s.runScript("create-platform.sh", "")
		if r.code == 0 || !strings.Contains(r.output, "refused") {
			t.Errorf("exit code %d and output %q after a failure of %s", r.code, r.output, failing)
		}
		if last := r.calls[len(r.calls)-1]; last != failing {
			t.Errorf("%s\ncame after a failure of\n%s", last, failing)
		}
	}
}

// TestCreateReplacesTheCondition holds that the build may still revoke a role
// which no account has any more, that it can no longer be granted afterwards, and
// that the right binding is never removed, not even for a moment.
func TestCreateReplacesTheCondition(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	const (
		admin = "roles/resourcemanager.projectIamAdmin\t"
		title = "Roles of nodes, jobs and members\t\n"
		old   = admin + "api.old()\t" + title
		bare  = admin + "\t\t\n"
	)
	condition := grantCondition(fullPlatform().Delivery.GrantableRoles)
	current, retitled := admin+condition+"\t"+title, admin+condition+"\tBefore\tBy hand\n"
	const add, remove, submit = "add-iam-policy-binding", "remove-iam-policy-binding", "submit"
	const removeOld = remove + " ^;^title=Roles of nodes, jobs and members;expression=api.old()"
	removeRetitled := remove + " ^;^title=Before;expression=" + condition + ";description=By hand"
	for _, tt := range []struct {
		name, policy, build string
		args, want          []string
	}{
		{"no binding", "", "true", nil, []string{add, submit}},
		{"the condition", current, "true", nil, []string{submit}},
		{"another condition", old, "true", nil, []string{add, submit, removeOld}},
		{"no condition", bare, "true", nil, []string{add, submit, remove + " None"}},
		{"another title and a description", retitled, "true", nil, []string{add, submit, removeRetitled}},
		{"the build fails", old, "exit 1", nil, []string{add, submit}},
		{"after a build that failed", old + current, "true", nil, []string{submit, removeOld}},
		{"the other way round", current + old, "true", nil, []string{submit, removeOld}},
		{"several", old + current + bare, "true", nil, []string{submit, removeOld, remove + " None"}},
		{"no build", old, "true", []string{"--prepare"}, []string{add}},
	} {
		s.answer("case $call in\n*get-iam-policy*) printf %s " + words.ShellString(tt.policy) + " ;;\n*' submit '*) " +
			tt.build + " ;;\nesac")
		r := s.runScript("create-platform.sh", "", tt.args...)
		var got []string
		words := s.callArguments()
		for i, word := range words {
			switch {
			case word == submit, word == add && slices.Contains(words[i:i+4],
				"--role=roles/resourcemanager.projectIamAdmin"):
				got = append(got, word)
			case word == remove:
				got = append(got, word+" "+strings.TrimPrefix(words[i+4], "--condition="))
			}
		}
		if !slices.Equal(got, tt.want) || (r.code == 0) != (tt.build == "true") {
			t.Errorf("%s: exit code %d, %q, want %q", tt.name, r.code, got, tt.want)
		}
	}
}

// TestCreateRevokesWhatTheBuildNoLongerNeeds holds that an earlier folder's rights
// end with the build that no longer needs them, and not before; --prepare prints
// the commands that end them.
func TestCreateRevokesWhatTheBuildNoLongerNeeds(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	const earlier = `
case $call in
*"projects get-iam-policy"*)
  printf 'roles/%s\t\t\t\n' compute.networkAdmin container.admin iam.serviceAccountAdmin
  ;;
esac`
	s.answer(earlier)
	want := []string{
		"add projects/my-project/roles/gke_batch_build", "add roles/container.admin",
		"add roles/resourcemanager.projectIamAdmin",
		"submit", "remove roles/container.admin", "remove roles/iam.serviceAccountAdmin",
	}
	changes := func(calls []string) (out []string) {
		for _, call := range calls {
			words := strings.Fields(call)
			if words[1] == "builds" {
				out = append(out, "submit")
			} else if verb, ok := strings.CutSuffix(words[2], "-iam-policy-binding"); ok && words[1] == "projects" {
				_, role, _ := strings.Cut(call, "--role=")
				out = append(out, verb+" "+strings.Fields(role)[0])
			}
		}
		return out
	}
	r := s.runScript("create-platform.sh", "")
	if got := changes(r.calls); r.code != 0 || !slices.Equal(got, want) {
		t.Errorf("exit code %d, %q, want %q\n%s", r.code, got, want, r.output)
	}
	removals := r.callsWith("gcloud projects remove-iam-policy-binding")

	r = s.runScript("create-platform.sh", "", "--prepare")
	_, printed, _ := strings.Cut(r.output, "revoke the roles that the build no longer needs:\n")
	got := changes(r.calls)
	if r.code != 0 || !slices.Equal(got, want[:3]) || printed != "  "+strings.Join(removals, "\n  ")+"\n" {
		t.Errorf("--prepare: exit code %d, %q, want %q printed\n%s", r.code, got, removals, r.output)
	}

	s.answer(earlier + "\nif [[ $call == *'builds submit'* ]]; then exit 1; fi")
	if r := s.runScript("create-platform.sh", ""); r.code == 0 || !slices.Equal(changes(r.calls), want[:4]) {
		t.Errorf("the build fails: exit code %d, %q, want %q", r.code, changes(r.calls), want[:4])
	}
}

// teamPlatform is platform with a team whose jobs act as a Google service account,
// and with a custom role of the jobs.
func teamPlatform() *ir.Platform {
	p := fullPlatform()
	p.Teams = []ir.Team{
		{Name: "a", Namespace: "space-a", KubeAccount: "a-ksa", Account: &ir.TeamAccount{ID: "wi-team-a",
			Display: "Jobs of a in gke-batch"}},
		{Name: "b", Namespace: "b", KubeAccount: "b-ksa"},
	}
	p.Delivery.CustomRoles = []ir.CustomRole{{ID: "gke_batch_writer", Title: "Writes",
		Permissions: []string{"a.b.create", "a.b.get"}}}
	return p
}

// TestCreateMakesTeamAccounts holds that accounts are made before the build, which
// never administers them, and that only the team's own Kubernetes service account
// may act as one, as soon as the project has identities.
func TestCreateMakesTeamAccounts(t *testing.T) {
	const account = "wi-team-a@my-project.iam.gserviceaccount.com"
	const bind = "gcloud iam service-accounts add-iam-policy-binding " + account + " --project=my-project " +
		`--member=serviceAccount:my-project.svc.id.goog\[space-a/a-ksa\] ` +
		`--role=roles/iam.workloadIdentityUser --condition=None`
	s := newSandbox(t, teamPlatform())
	s.answer(fresh)
	r := s.runScript("create-platform.sh", "")
	made := slices.Index(r.calls, `gcloud iam service-accounts create wi-team-a --project=my-project `+
		`--display-name=Jobs\ of\ a\ in\ gke-batch`)
	role := slices.Index(r.calls, `gcloud iam roles create gke_batch_writer --project=my-project --stage=GA `+
		`--title=Writes --permissions=a.b.create\,a.b.get`)
	built := slices.IndexFunc(r.calls, func(call string) bool {
		return strings.HasPrefix(call, "gcloud builds submit")
	})
	if bound := slices.Index(r.calls, bind); r.code != 0 ||
		made < 0 || role < 0 || made > built || role > built || bound < built {
		t.Errorf("exit code %d, account %d, role %d, build %d, identity %d\n%s", r.code, made, role, built, bound,
			r.output)
	}

	// Without a build the cluster may not be there: the command is printed.
	r = s.runScript("create-platform.sh", "", "--prepare")
	if slices.Contains(r.calls, bind) || !strings.Contains(r.output, bind) {
		t.Errorf("--prepare: %q\n%s", r.calls, r.output)
	}

	// A second run changes nothing. After a move of the namespace the team's jobs get
	// the identity, and whoever else has it is named and keeps it.
	const there = "case $call in\n*'describe wi-team-a'*) echo 'Jobs of a in gke-batch' ;;\n*'service-accounts " +
		"get-iam-policy'*) echo '%s' ;;\nesac"
	s.answer(strings.Replace(there, "%s", "serviceAccount:my-project.svc.id.goog[space-a/a-ksa]", 1))
	if r := s.runScript("create-platform.sh", ""); r.code != 0 || slices.Contains(r.calls, bind) || len(r.callsWith(
		"gcloud iam service-accounts remove")) > 0 {
		t.Errorf("second run: exit code %d, %q", r.code, r.calls)
	}
	s.answer(strings.Replace(there, "%s", "serviceAccount:my-project.svc.id.goog[old/a-ksa]", 1))
	for _, args := range [][]string{nil, {"--prepare"}} {
		r = s.runScript("create-platform.sh", "", args...)
		revoke := `  gcloud iam service-accounts remove-iam-policy-binding ` + account + ` --project=my-project ` +
			`--member=serviceAccount:my-project.svc.id.goog\[old/a-ksa\] --role=roles/iam.workloadIdentityUser --all` +
			"\n"
		if r.code != 0 || slices.Contains(r.calls, bind) != (args == nil) || strings.Count(r.output, revoke) != 1 {
			t.Errorf("moved namespace, %q: exit code %d, %q\n%s", args, r.code, r.calls, r.output)
		}
		if gone := r.callsWith("gcloud iam service-accounts remove"); gone != nil {
			t.Errorf("moved namespace, %q: removed %q", args, gone)
		}
	}
}

// TestCreateKeepsOffOthersAccounts holds that a platform does not take the account
// of another one: its jobs or nodes would get that one's rights.
func TestCreateKeepsOffOthersAccounts(t *testing.T) {
	s := newSandbox(t, teamPlatform())
	for _, tt := range []struct{ account, owner, field string }{
		{"wi-team-a", "Jobs of a in other", "teams.TEAM.serviceAccount"},
		{"gke-batch-nodes", "Nodes of other", "cluster.nodes.serviceAccount"},
	} {
		s.answer("case $call in\n*'describe " + tt.account + "'*) others=1; echo '" + tt.owner + "' ;;\nesac")
		r := s.runScript("create-platform.sh", "")
		if r.code != 1 || len(r.callsWith("gcloud builds")) > 0 ||
			!strings.Contains(r.output, `is called "`+tt.owner+`"`) || !strings.Contains(r.output, tt.field) {
			t.Errorf("%s: exit code %d\n%s", tt.account, r.code, r.output)
		}
	}
}

// TestCreateAsksOwners checks that an account of somebody else is neither created nor
// changed: the script prints the command for its owner, unless the account already has
// the member. destroy-platform.sh does not mention the account.
func TestCreateAsksOwners(t *testing.T) {
	const address = "research@data-project.iam.gserviceaccount.com"
	const bind = "gcloud iam service-accounts add-iam-policy-binding " + address +
		` --member=serviceAccount:my-project.svc.id.goog\[b/b-ksa\] ` +
		`--role=roles/iam.workloadIdentityUser --condition=None`
	p := teamPlatform()
	p.Teams[1].Account = &ir.TeamAccount{Address: address}
	s := newSandbox(t, p)
	const bound = "case $call in\n*'get-iam-policy " + address + "'*) echo " +
		"'serviceAccount:my-project.svc.id.goog[b/b-ksa]' ;;\nesac\n"
	for _, tt := range []struct {
		answer string
		args   []string
		asks   int
	}{
		{fresh, nil, 1}, {fresh, []string{"--prepare"}, 1}, {bound + fresh, nil, 0},
		{"case $call in\n*'get-iam-policy " + address + "'*) exit 1 ;;\nesac\n" + fresh, nil, 1},
	} {
		s.answer(tt.answer)
		r := s.runScript("create-platform.sh", "", tt.args...)
		if r.code != 0 || strings.Count(r.output, "  "+bind+"\n") != tt.asks {
			t.Errorf("%q: exit code %d\n%s", tt.args, r.code, r.output)
		}
		for _, call := range r.calls {
			if strings.Contains(call, address) && !strings.Contains(call, " get-iam-policy ") {
				t.Errorf("%q: %s", tt.args, call)
			}
		}
	}
	s.answer(prepared)
	if r := s.runScript("destroy-platform.sh", "", "--yes"); r.code != 0 || strings.Contains(r.output, address) {
		t.Errorf("destroy: exit code %d\n%s", r.code, r.output)
	}
}

// TestUsageOfRights checks that the help names the cluster in which a build has its rights, also
// if the network belongs to others too.
func TestUsageOfRights(t *testing.T) {
	const own, others = "own cluster and its teams' buckets", "pools of cluster $CLUSTER"
	for _, tt := range []struct {
		cluster *ir.ExistingCluster
		network *ir.ExistingNetwork
		says    string
	}{
		{nil, nil, own}, {nil, &ir.ExistingNetwork{}, own},
		{&ir.ExistingCluster{}, nil, others}, {&ir.ExistingCluster{}, &ir.ExistingNetwork{}, others},
	} {
		p := teamPlatform()
		p.Cluster.Existing, p.Network.Existing = tt.cluster, tt.network
		if script := string(createScript(p)); !strings.Contains(script, tt.says) {
			t.Errorf("existing cluster: %t, existing network: %t: the help does not say %q",
				tt.cluster != nil, tt.network != nil, tt.says)
		}
	}
}

// TestDestroyNamesTheAccounts holds that the commands which remove accounts are
// printed.
func TestDestroyNamesTheAccounts(t *testing.T) {
	s := newSandbox(t, teamPlatform())
	s.answer(prepared)
	r := s.runScript("destroy-platform.sh", "", "--yes")
	for _, want := range []string{
		"  gcloud iam service-accounts delete gke-batch-nodes@my-project.iam.gserviceaccount.com " +
			"--project=my-project\n",
		"  gcloud iam service-accounts delete wi-team-a@my-project.iam.gserviceaccount.com --project=my-project\n",
		"gke_batch_build gke_batch_writer",
		"  gcloud projects remove-iam-policy-binding my-project " +
			"--member=serviceAccount:gke-batch-image@my-project.iam.gserviceaccount.com " +
			"--role=roles/logging.logWriter --condition=None\n",
		"  gcloud iam service-accounts delete gke-batch-image@my-project.iam.gserviceaccount.com " +
			"--project=my-project\n",
	} {
		if !strings.Contains(r.output, want) {
			t.Errorf("no %q in\n%s", want, r.output)
		}
	}
}

// TestCreateRevivesTheRole holds that the platform can be built again after its
// custom role was deleted.
func TestCreateRevivesTheRole(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	for deleted, want := range map[string][]string{
		"":     {"describe", "update"},
		"True": {"describe", "undelete", "update"},
	} {
		s.answer("case $call in\n*'roles describe'*) echo " + deleted + " ;;\nesac")
		r := s.runScript("create-platform.sh", "", "--prepare")
		var got []string
		for _, call := range r.callsWith("gcloud iam roles") {
			got = append(got, strings.Fields(call)[3])
		}
		if r.code != 0 || !slices.Equal(got, want) {
			t.Errorf("deleted %q: exit code %d, %q, want %q", deleted, r.code, got, want)
		}
	}
}

func TestCreateWaitsForANewAccount(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	s.answer(fresh + `
case $call in
*"service-accounts add-iam-policy-binding"*)
  if [[ ! -e $SANDBOX/known ]]; then
    : >"$SANDBOX/known"
    exit 1
  fi
  ;;
esac`)
	r := s.runScript("create-platform.sh", "")
	if got := r.callsWith("sleep"); r.code != 0 || !slices.Equal(got, []string{"sleep 10"}) {
		t.Errorf("exit code %d, waits %q\n%s", r.code, got, r.output)
	}
}

// TestCreateWaitsForANewAPI refuses each creation once, as an API does that was
// just enabled, and a second time because the first has succeeded after all.
func TestCreateWaitsForANewAPI(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	for _, answers := range []string{
		fresh + `
case $call in
*" create "*)
  if [[ ! -e $SANDBOX/${1}-${2} ]]; then
    : >"$SANDBOX/${1}-${2}"
    echo SERVICE_DISABLED >&2
    exit 1
  fi
  ;;
esac`,
		`
case $call in
*" describe "*) [[ -e $SANDBOX/${1}-${2}-there ]] || exit 1 ;;
*"buckets list"*) [[ ! -e $SANDBOX/${1}-${2}-there ]] || echo there ;;
*" create "*)
  : >"$SANDBOX/${1}-${2}-there"
  exit 1
  ;;
esac`,
	} {
		s.answer(answers)
		r := s.runScript("create-platform.sh", "", "--prepare")
		if got := r.callsWith("sleep"); r.code != 0 || len(got) == 0 || len(got) > 5 {
			t.Errorf("exit code %d, waits %q\n%s", r.code, got, r.output)
		}
	}
}

// TestCreateTurnsOnLogs holds that a platform with Data Access audit logs adds those
// that the project lacks, keeps what is there, and writes nothing besides.
// TestCreateSetsLabels checks that the repository and the bucket get the platform's
// labels after they exist, at every run, and that a platform without labels sets none.
func TestCreateSetsLabels(t *testing.T) {
	p := fullPlatform()
	p.Labels = []ir.KeyValue{{Key: "cost-center", Value: "4711"}, {Key: "stage", Value: ""}}
	const labels = `--update-labels=managed-by=batchwright\,platform=gke-batch\,cost-center=4711\,stage=`
	want := []string{
		"gcloud artifacts repositories update gke-batch --project=my-project --location=us-central1 " + labels,
		"gcloud storage buckets update gs://" + p.Delivery.StateBucket + " " + labels,
	}
	for _, answer := range []string{fresh, prepared} {
		s := newSandbox(t, p)
		s.answer(answer)
		r := s.runScript("create-platform.sh", "", "--prepare")
		for _, call := range want {
			if r.code != 0 || !slices.Contains(r.calls, call) {
				t.Errorf("exit code %d, no %q in %q\n%s", r.code, call, r.calls, r.output)
			}
		}
	}
	s := newSandbox(t, fullPlatform())
	s.answer(prepared)
	for _, call := range s.runScript("create-platform.sh", "", "--prepare").calls {
		if strings.Contains(call, "labels") {
			t.Errorf("without labels: %s", call)
		}
	}
}

func TestCreateTurnsOnLogs(t *testing.T) {
	// The program itself: what is on the PATH may need others to find it.
	found, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("python3 is not installed")
	}
	python := strings.TrimSpace(string(found))
	p := fullPlatform()
	p.Security.DataAccessLogs = true
	s := newSandbox(t, p)
	const (
		both    = `[{"logType": "DATA_READ"}, {"logType": "DATA_WRITE"}]`
		gke     = `{"service": "container.googleapis.com", "auditLogConfigs": ` + both + `}`
		storage = `{"service": "storage.googleapis.com", "auditLogConfigs": ` + both + `}`
		other   = `{"service": "iam.googleapis.com", "auditLogConfigs": [{"logType": "ADMIN_READ"}]}`
		exempt  = `{"logType": "DATA_READ", "exemptedMembers": ["user:analyst@example.com"]}`
		half    = `{"service": "storage.googleapis.com", "auditLogConfigs": [` + exempt + `]}`
		whole   = `{"service": "storage.googleapis.com", "auditLogConfigs": [` + exempt +
			`, {"logType": "DATA_WRITE"}]}`
		all   = `{"service": "allServices", "auditLogConfigs": [{"logType": "DATA_WRITE"}]}`
		reads = `{"service": "container.googleapis.com", "auditLogConfigs": [{"logType": "DATA_READ"}]}`
	)
	answers := func(policy, write string) string {
		return "case $call in\n*'gcloud info'*) echo " + words.ShellString(python) + " ;;\n*'get-iam-policy " +
			"my-project --format=json'*) echo " + words.ShellString(policy) + "; exit ;;\n*set-iam-policy*) cat " +
			"\"$4\" >>\"$SANDBOX/written\"; " + write + " ;;\nesac\n" + prepared
	}
	const bindings = `{"bindings": [{"role": "roles/owner", "members": ["user:analyst@example.com"], ` +
		`"condition": {"title": "\u00e9", "expression": "request.time < timestamp(\"2030-01-01T00:00:00Z\")"}}], ` +
		`"etag": "e", "version": 3`
	for _, tt := range []struct{ name, configs, want string }{
		{"none", "", gke + ", " + storage},
		{"another service", other, other + ", " + gke + ", " + storage},
		{"half, with exemptions", half + ", " + gke, whole + ", " + gke},
		{"partly of all services", half + ", " + all, half + ", " + all + ", " + reads},
		{"all there", gke + ", " + storage, ""},
	} {
		s.writeFile("written", "", 0o644)
		policy := bindings + "}"
		if tt.configs != "" {
			policy = bindings + `, "auditConfigs": [` + tt.configs + "]}"
		}
		s.answer(answers(policy, "true"))
		r := s.runScript("create-platform.sh", "", "--prepare")
		want := ""
		if tt.want != "" {
			want = bindings + `, "auditConfigs": [` + tt.want + "]}\n"
		}
		if got := s.readFile("written"); r.code != 0 || got != want {
			t.Errorf("%s: exit code %d, writes\n%swant\n%s%s", tt.name, r.code, got, want, r.output)
		}
	}

	// A policy without bindings or etag would take every right away, or undo a change
	// of somebody else: it is not written.
	for policy, says := range map[string]string{
		`{"bindings": [{"role": "roles/owner"}]}`: "etag",
		`{"etag": "e"}`:                 "bindings",
		`{"bindings": [], "etag": "e"}`: "incompletely",
	} {
		s.writeFile("written", "", 0o644)
		s.answer(answers(policy, "true"))
		r := s.runScript("create-platform.sh", "", "--prepare")
		if r.code != 1 || s.readFile("written") != "" || !strings.Contains(r.output, says) {
			t.Errorf("%s: exit code %d, writes %s\n%s", policy, r.code, s.readFile("written"), r.output)
		}
	}
	// A policy that somebody has changed in between is read again.
	s.answer(answers(bindings+"}", `if [[ ! -e $SANDBOX/second ]]; then : >"$SANDBOX/second"; exit 1; fi`))
	r := s.runScript("create-platform.sh", "", "--prepare")
	if got := r.callsWith(`gcloud projects get-iam-policy my-project --format=json`); r.code != 0 || len(got) != 2 {
		t.Errorf("changed in between: exit code %d, reads %q\n%s", r.code, got, r.output)
	}
	if r := s.runScript("create-platform.sh", "", "--help"); !strings.Contains(r.output, logsUsage) {
		t.Errorf("the help lacks the logs:\n%s", r.output)
	}
	script := string(createScript(fullPlatform()))
	if strings.Contains(script, "DATA") || strings.Contains(script, "Data Access") {
		t.Errorf("a platform without the option turns logs on:\n%s", script)
	}
}

// TestSubmitFails holds what a person is told when the build was not submitted,
// or failed.
func TestSubmitFails(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	for _, tt := range []struct{ problem, says string }{
		{
			"ERROR: (gcloud.builds.submit) FAILED_PRECONDITION: due to quota restrictions, cannot run builds in this " +
				"region",
			"Cloud Build does not run in us-central1 for project my-project. Set delivery.region in the blueprint",
		},
		{"ERROR: (gcloud.builds.submit) build 1 completed with status FAILURE",
			"has failed: correct the cause, then run this script again"},
	} {
		s.answer(prepared + "\nif [[ $call == *' submit '* ]]; then echo the log; echo " +
			words.ShellString(tt.problem) + " >&2; exit 1; fi")
		for script, args := range map[string][]string{"create-platform.sh": nil, "destroy-platform.sh": {"--yes"}} {
			r := s.runScript(script, "", args...)
			if r.code != 1 || strings.Count(r.output, tt.problem) != 1 ||
				!strings.Contains(r.output, "the log\n") || !strings.Contains(r.output, tt.says) {
				t.Errorf("%s: exit code %d, want %q\n%s", script, r.code, tt.says, r.output)
			}
		}
	}
}

func TestCreateOptions(t *testing.T) {
	const pool = "projects/p/locations/r/workerPools/w"
	inside := fullPlatform()
	inside.Cluster.DNSEndpoint = false
	s := newSandbox(t, inside)
	s.answer(fresh)

	if r := s.runScript("create-platform.sh", ""); r.code != 1 || len(r.calls) > 0 || !strings.Contains(r.output,
		"--worker-pool=POOL") {
		t.Errorf("without a pool: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	r := s.runScript("create-platform.sh", "", "--worker-pool="+pool)
	if got := r.callsWith("gcloud builds submit"); r.code != 0 || len(got) != 1 || !strings.HasSuffix(got[0],
		" --worker-pool="+pool) {
		t.Errorf("with a pool: exit code %d, %q", r.code, got)
	}
	if r := s.runScript("create-platform.sh", "", "--prepare"); r.code != 0 || len(r.calls) < 10 || len(r.callsWith(
		"gcloud builds")) > 0 {
		t.Errorf("--prepare: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}

// TestScriptsBothKnow holds what the two scripts have in common.
func TestScriptsBothKnow(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	for _, name := range []string{"create-platform.sh", "destroy-platform.sh"} {
		for _, flag := range []string{"-h", "--help"} {
			if r := s.runScript(name, "", flag); r.code != 0 || len(r.calls) > 0 || !strings.HasPrefix(r.output,
				"Usage: "+name) {
				t.Errorf("%s %s: exit code %d, calls %q\n%s", name, flag, r.code, r.calls, r.output)
			}
		}
		for _, bad := range []string{"--worker-pool=", "--worker-pool", "extra", ""} {
			if r := s.runScript(name, "", bad); r.code != 2 || len(r.calls) > 0 {
				t.Errorf("%s %q: exit code %d, calls %q", name, bad, r.code, r.calls)
			}
		}
	}
	if err := os.Remove(filepath.Join(s.root, "bin", "gcloud")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"create-platform.sh", "destroy-platform.sh"} {
		if r := s.runScript(name, ""); r.code != 1 || len(r.calls) > 0 || !strings.Contains(r.output,
			"gcloud is not installed") {
			t.Errorf("%s without gcloud: exit code %d\n%s", name, r.code, r.output)
		}
	}
}

// TestDestroyNamesFullBuckets holds that destroy-platform.sh names the buckets at which the
// build would stop before it asks.
func TestDestroyNamesFullBuckets(t *testing.T) {
	p := fullPlatform()
	p.Teams = append(p.Teams, ir.Team{Name: "a", Namespace: "a", Bucket: "full"},
		ir.Team{Name: "b", Namespace: "b", Bucket: "empty"})
	s := newSandbox(t, p)
	for _, tt := range []struct{ answer, says string }{
		{
			"echo gs://full/model",
			"README.md says how to empty or keep a bucket:\n  gs://full\nThis destroys the platform",
		},
		{"exit 1", ""}, // no right to list it
	} {
		s.answer(prepared + "\nif [[ $call == *'storage ls'*gs://full/* ]]; then " + tt.answer + "; fi")
		r := s.runScript("destroy-platform.sh", "no\n")
		if r.code != 1 || !strings.Contains(r.output, tt.says) ||
			strings.Contains(r.output, "hold objects") != (tt.says != "") || strings.Contains(r.output, "gs://empty") {
			t.Errorf("exit code %d, want %q\n%s", r.code, tt.says, r.output)
		}
	}
}

func TestDestroy(t *testing.T) {
	s := newSandbox(t, fullPlatform())
	const question = "Type the name of the platform"
	for _, tt := range []struct {
		name, answers, stdin string
		args                 []string
		code                 int
		says                 string
		submits              bool
	}{
		{"nothing there", fresh, "", nil, 0, "nothing of the platform gke-batch was ever built", false},
		{"no account", "case $call in\n*'buckets list'*) echo b ;;\n*describe*) exit 1 ;;\nesac", "gke-batch\n", nil, 1,
			"create-platform.sh --prepare", false},
		{"wrong name", prepared, "yes\n", nil, 1, "nothing was destroyed", false},
		{"no answer", prepared, "", nil, 1, "nothing was destroyed", false},
		{"the name", prepared, "gke-batch\n", nil, 0, question, true},
		{"not asked", prepared, "", []string{"--yes"}, 0, "is destroyed", true},
		{"build fails", prepared + "\nif [[ $call == *'builds submit'* ]]; then exit 1; fi", "", []string{"--yes"}, 1,
			"Submitting", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			s.answer(tt.answers)
			r := s.runScript("destroy-platform.sh", tt.stdin, tt.args...)
			if r.code != tt.code || !strings.Contains(r.output, tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", r.code, tt.code, tt.says, r.output)
			}
			want := "gcloud builds submit . --project=my-project --region=us-central1 " +
				"--config=cloudbuild/destroy.yaml " +
				"--gcs-source-staging-dir=gs://my-project-gke-batch-tfstate/gke-batch/source"
			if got := r.callsWith("gcloud builds"); tt.submits != slices.Equal(got, []string{want}) {
				t.Errorf("submitted %q", got)
			}
			if strings.Contains(r.output, question) == slices.Contains(tt.args, "--yes") && len(r.callsWith(
				"gcloud builds")) > 0 {
				t.Errorf("asked with %q:\n%s", tt.args, r.output)
			}
			// What remains is named only once the platform is gone, and
			// nothing of it is removed.
			gone := tt.code == 0 && tt.submits
			if strings.Contains(r.output, "gcloud storage rm --recursive gs://my-project-gke-batch-tfstate") != gone {
				t.Errorf("what remains:\n%s", r.output)
			}
			if tt.code == 0 && tt.submits && !strings.Contains(r.output, "--project=my-project --force\n") {
				t.Errorf("an API on which another depends is not disabled without --force:\n%s", r.output)
			}
			if strings.Contains(r.output, "gcloud iam roles delete") {
				t.Errorf("blocks the role's name:\n%s", r.output)
			}
			for _, call := range r.calls {
				if strings.Contains(call, " delete ") || strings.Contains(call, " rm ") || strings.Contains(call,
					"remove-iam") {
					t.Errorf("called %s", call)
				}
			}
		})
	}
}

// TestScriptsTakeNoValueForShell gives every value a text that would leave a
// trace if a shell read it, and expects it back unchanged.
func TestScriptsTakeNoValueForShell(t *testing.T) {
	const hostile = "a'b\"c$(touch trace)`touch trace`\\d; touch trace\n* ${HOME} $$ !x"
	p := fullPlatform()
	p.Name, p.Project, p.Region = hostile, hostile, hostile
	p.Delivery.StateBucket, p.Delivery.Repository, p.Delivery.Region = hostile, hostile, hostile
	p.Delivery.Account.ID, p.Delivery.Account.Display = hostile, hostile
	p.Delivery.APIs, p.Delivery.Permissions = []string{hostile}, []string{hostile}
	p.Delivery.Account.Roles = []string{hostile, "--flag"}
	p.Delivery.GrantableRoles = []string{hostile}
	p.NodeAccount.ID, p.NodeAccount.Display = hostile, hostile
	p.Delivery.NarrowRoles = []ir.NarrowRole{{Role: hostile, Title: hostile, Condition: hostile}}
	p.Delivery.CustomRoles = []ir.CustomRole{{ID: hostile, Title: hostile, Permissions: []string{hostile}}}
	account := &ir.TeamAccount{ID: hostile, Display: hostile}
	p.Teams = []ir.Team{
		{Namespace: hostile, KubeAccount: hostile, Account: account},
		{Namespace: hostile, KubeAccount: hostile, Account: &ir.TeamAccount{Address: hostile}},
	}
	p.Labels = []ir.KeyValue{{Key: hostile, Value: hostile}}
	s := newSandbox(t, p)
	s.answer(fresh)
	r := s.runScript("create-platform.sh", "")
	words := s.callArguments()
	for _, want := range []string{
		hostile, "--project=" + hostile, "--location=" + hostile, "--region=" + hostile, "--role=" + hostile,
		"--role=--flag",
		"--display-name=" + hostile, "--permissions=" + hostile, "gs://" + hostile, "Images of the teams of " + hostile,
		"--member=serviceAccount:" + p.Delivery.Account.Email(p.Project),
	} {
		if !slices.Contains(words, want) && !slices.Contains(words, "--description="+want) {
			t.Errorf("no call has the argument %q", want)
		}
	}
	if r.code != 0 {
		t.Errorf("create: exit code %d\n%s", r.code, r.output)
	}

	s.answer("case $call in\n*'buckets list'*) echo b ;;\nesac")
	if r := s.runScript("destroy-platform.sh", "", "--yes"); r.code != 0 || len(r.callsWith("gcloud builds")) != 1 {
		t.Errorf("destroy: exit code %d\n%s", r.code, r.output)
	}
	for _, name := range []string{"cloudbuild/provision.yaml", "cloudbuild/destroy.yaml"} {
		b := decodeBuild(t, emittedFiles(t, p)[name])
		for _, st := range b.Steps {
			s.runStep(st)
		}
	}
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		found, err := filepath.Glob(filepath.Join(s.root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if filepath.Base(path) == "trace" {
				t.Errorf("a value was run: %s", path)
			}
		}
	}
}

// TestScriptsAreClean lints the scripts as they stand in this package and as they
// are emitted.
func TestScriptsAreClean(t *testing.T) {
	scripts, err := filepath.Glob("scripts/*.sh")
	controllers, failed := filepath.Glob("scripts/controllers/*.sh")
	if err != nil || failed != nil || len(scripts) == 0 || len(controllers) == 0 {
		t.Fatalf("scripts: %q, %v, %v", scripts, err, failed)
	}
	scripts = append(scripts, controllers...)
	p := fullPlatform()
	p.Security.DataAccessLogs = true
	s := newSandbox(t, p)
	scripts = append(scripts, filepath.Join(s.folder, "create-platform.sh"), filepath.Join(s.folder,
		"destroy-platform.sh"))
	// The scripts with the most parts, whole.
	managed, synced := fullPlatform(), fullPlatform()
	managed.Delivery.InfrastructureManager, synced.Delivery.GitOps = true, ir.GitOps{Tool: ir.Flux}
	var whole []string
	for i, p := range []*ir.Platform{p, managed, synced} {
		path := filepath.Join(s.root, fmt.Sprintf("retire-%d.sh", i))
		s.writeFile(filepath.Base(path), findStep(t, provisionBuild(p), "retire").Script, 0o644)
		whole = append(whole, path)
	}
	for _, path := range scripts {
		if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("bash -n %s: %v\n%s", path, err, out)
		}
	}
	t.Run("shellcheck", func(t *testing.T) {
		if _, err := exec.LookPath("shellcheck"); err != nil {
			t.Skip("shellcheck is not installed") // .ci/run installs it
		}
		for _, args := range [][]string{
			append([]string{"--norc", "--exclude=SC2154"}, scripts...), // variables of the parts are not assigned there
			append([]string{"--norc", "--exclude=SC2034"}, whole...),   // of the parts they have everything
		} {
			if out, err := exec.Command("shellcheck", args...).CombinedOutput(); err != nil {
				t.Errorf("shellcheck: %v\n%s", err, out)
			}
		}
	})
}

// TestDestroyTakenOver holds that nothing is destroyed while the platform has taken over
// resources: neither by the script, nor by the build, which would delete all jobs before
// Terraform refuses.
func TestDestroyTakenOver(t *testing.T) {
	p := fullPlatform()
	p.Cluster.TakeOver = &ir.TakeOver{}
	s := newSandbox(t, p)
	s.answer(prepared)
	const taken = "has taken over cluster gke-batch, and Terraform refuses to destroy"
	if r := s.runScript("destroy-platform.sh", "", "--yes"); r.code != 1 || len(r.calls) > 0 ||
		!strings.Contains(r.output, taken) {
		t.Errorf("the script: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	if r := s.runScript("destroy-platform.sh", "", "--help"); r.code != 0 {
		t.Errorf("the help: exit code %d\n%s", r.code, r.output)
	}
	steps := destroyBuild(p).Steps
	if steps[0].ID != "settings" || steps[1].ID != "taken-over" {
		t.Fatalf("the build starts with %s and %s", steps[0].ID, steps[1].ID)
	}
	if r := s.runStep(steps[1]); r.code != 1 || !strings.Contains(r.output, taken) {
		t.Errorf("the step: exit code %d\n%s", r.code, r.output)
	}
}

// TestReadScript checks that a script has the text of each mark and the scripts that it
// includes, and that a mark without a text is never returned as a comment.
func TestReadScript(t *testing.T) {
	script := readScript("drain.sh", "STOP", "stop everything\n")
	if !strings.Contains(script, "\nstop everything\n") || strings.Contains(script, "# STOP") ||
		strings.Contains(script, "# INCLUDE") {
		t.Errorf("the marks are not replaced:\n%s", script)
	}
	for _, marks := range [][]string{nil, {"STOPS", "stop everything\n"}, {"LABELS", "STOP"}} {
		if !panics(func() { readScript("drain.sh", marks...) }) {
			t.Errorf("%q: the script is returned without its part STOP", marks)
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
