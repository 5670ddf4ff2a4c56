package cloudbuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// world answers like a project that keeps what is made in it, each thing a file
// of the folder world. What exists cannot be created again, a state that is
// locked cannot be planned, Helm refuses a release that is pending, and a
// protected cluster stays.
//
// A call whose script is interrupted leaves half of its work: Terraform its lock, Helm
// its pending release, and Infrastructure Manager works on. What would be left of the
// world after each call is therefore written to the file left. The call whose number the
// file interrupt holds ends its script there, as a build that is cancelled.
const world = `
if [[ -e $SANDBOX/dead ]]; then exit 137; fi
w=$SANDBOX/world
read -r n <"$SANDBOX/count"
echo $((++n)) >"$SANDBOX/count"
read -r at <"$SANDBOX/interrupt"
die() { # at the call that is interrupted, with half of its work done
  if ((n == at)); then
    : >"$SANDBOX/dead"
    kill -9 "$SCRIPT"
    exit 137
  fi
  if [[ -n ${half-} ]]; then return; fi # the work is done by now
  half=done
  local thing content
  printf '%s' "$line" >>"$SANDBOX/left"
  for thing in "$w"/*; do
    content=
    if [[ -s $thing ]]; then read -r content <"$thing"; fi
    if [[ -e $thing ]]; then printf '\t%s\t%s' "${thing##*/}" "$content" >>"$SANDBOX/left"; fi
  done
  printf '\n' >>"$SANDBOX/left"
}
refuse() { echo "$1" >&2; die; exit 1; }
make() { # a thing that must not exist
  if [[ -e $w/$1 ]]; then refuse "$1 already exists"; fi
  : >"$w/$1"
}
need() { # a thing that must exist
  if [[ ! -e $w/$1 ]]; then refuse "no $1"; fi
}
locked() { # what Terraform does with the state
  if [[ -e $w/lock ]]; then refuse 'Error acquiring the state lock'; fi
  : >"$w/lock"
  "$@"
  die
  rm "$w/lock"
}
build_all() { : >"$w/state"; : >"$w/cluster"; : >"$w/protected"; }
unprotect() { rm -f "$w/protected"; }
destroy_all() {
  if [[ -e $w/protected ]]; then rm "$w/lock"; refuse 'deletion_protection is set'; fi
  rm -f "$w/cluster" "$w/state" "$w/pending"
}
case $call in
"gcloud builds list"*--ongoing*) printf '2026-01-01T10:00:00Z\tthis-build\n' ;;
"gcloud builds list"*) printf '2026-01-01T08:00:00Z\t2026-01-01T09:00:00Z\tCANCELLED\tbefore\n' ;;
"gcloud builds submit"*) need bucket ;;
*"service-accounts describe gke-batch-build"*) need account ;;
*"service-accounts create gke-batch-build"*) make account ;;
*"service-accounts describe"*) need node-account ;;
*"service-accounts create"*) make node-account ;;
*"repositories describe"*) need repository ;;
*"repositories create"*) make repository ;;
*"buckets list"*) if [[ -e $w/bucket ]]; then echo my-project-gke-batch-tfstate; fi ;;
*"buckets create"*) make bucket ;;
*"buckets update"*) need bucket ;;
*"roles describe"*) need role ;;
*"roles create"*) make role ;;
*"roles update"*) need role ;;
*"objects describe"*) need lock; echo 17 ;;
*"storage cat"*) need lock; echo '{"ID":"1","Who":"root@0123456789ab","Created":"2026-01-01T08:30:00.5Z"}' ;;
*"storage rm"*"#17") need lock; rm "$w/lock" ;;
*"clusters list"*"value(status)"*) if [[ -e $w/cluster ]]; then echo RUNNING; fi ;;
*"clusters list"*) if [[ -e $w/cluster ]]; then echo gke-batch; fi ;;
*"clusters get-credentials"*) need cluster ;;
*"tensorboards list"*) echo projects/1/locations/europe-west4/tensorboards/2 ;;
*"clusters delete"*) need cluster; unprotect; rm "$w/cluster" ;;
*"deployments list"*)
  if [[ -e $w/works ]]; then
    read -r state left <"$w/works"
    echo "gke-batch $state"
    if ((--left)); then
      echo "$state $left" >"$w/works"
    else
      rm "$w/works"
      if [[ $state == DELETING ]]; then rm -f "$w/deployment"; else build_all; fi
    fi
  elif [[ -e $w/deployment ]]; then
    echo gke-batch ACTIVE
  fi
  ;;
*"deployments apply"*)
  if [[ -e $w/works ]]; then refuse 'an operation is in progress'; fi
  : >"$w/deployment"
  echo UPDATING 2 >"$w/works"
  die
  rm "$w/works"
  build_all
  ;;
*"deployments delete"*)
  need deployment
  if [[ -e $w/works ]]; then refuse 'an operation is in progress'; fi
  if [[ -e $w/protected ]]; then refuse 'deletion_protection is set'; fi
  rm -f "$w/state" "$w/cluster"
  echo DELETING 2 >"$w/works"
  die
  rm "$w/works" "$w/deployment"
  ;;
"terraform plan"*) locked : ;;
"terraform apply"*-target=*) locked unprotect ;;
"terraform apply"*) locked build_all ;;
"terraform destroy"*) locked destroy_all ;;
"terraform state pull") if [[ -e $w/state ]]; then echo '{}'; fi ;;
"terraform state list") if [[ -e $w/cluster ]]; then echo google_container_cluster.main; fi ;;
helm*)
  need cluster
  if [[ -e $w/pending ]]; then refuse 'another operation (install/upgrade/rollback) is in progress'; fi
  : >"$w/pending"
  die
  rm "$w/pending"
  ;;
"kubectl delete secrets"*"status in (pending-install"*) need cluster; rm -f "$w/pending" ;;
"kubectl get queues"*) need cluster; echo queue.scheduling.run.ai/a a ;;
"kubectl"*"--dry-run=client"*) ;;
kubectl*) need cluster ;;
esac
die
`

// player plays a platform's scripts and builds in a sandbox.
type player struct {
	*sandbox
	provision, destroy []step
	// recovered are the worlds from which something was already done, by its name.
	recovered map[string]bool
}

func newPlayer(t *testing.T, p *ir.Platform) *player {
	s := newSandbox(t, p)
	s.answer(world)
	play := &player{s, provisionBuild(p).Steps, destroyBuild(p).Steps, map[string]bool{}}
	// This step copies a file of its image.
	play.provision = slices.DeleteFunc(play.provision, func(st step) bool { return st.ID == "helm" })
	play.reset()
	return play
}

// reset empties the world.
func (p *player) reset() {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, "world")); err != nil {
		p.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.root, "world"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.interrupt(0)
}

// interrupt makes the script end at its call of this number; 0 for none.
func (p *player) interrupt(call int) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.root, "dead")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	p.writeFile("count", "0\n", 0o644)
	p.writeFile("interrupt", strconv.Itoa(call)+"\n", 0o644)
}

// listThings lists what exists in the world.
func (p *player) listThings() []string {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.root, "world"))
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// things is what is in a world: the content of each thing by its name.
type things map[string]string

// snapshot returns what is in the world, for restore.
func (p *player) snapshot() things {
	p.t.Helper()
	all := things{}
	for _, name := range p.listThings() {
		all[name] = strings.TrimSuffix(p.readFile(filepath.Join("world", name)), "\n")
	}
	return all
}

func (p *player) restore(all things) {
	p.t.Helper()
	p.reset()
	for name, content := range all {
		if content != "" {
			content += "\n"
		}
		p.writeFile(filepath.Join("world", name), content, 0o644)
	}
}

// run runs a script of the folder, and after it steps, until one fails. It
// returns what failed with its output, or "".
func (p *player) run(script string, args []string, steps []step) string {
	p.t.Helper()
	if r := p.runScript(script, "", args...); r.code != 0 {
		return fmt.Sprintf("%s: exit code %d\n%s", script, r.code, r.output)
	}
	for _, st := range steps {
		if r := p.runStep(st); r.code != 0 {
			return fmt.Sprintf("step %s: exit code %d\n%s", st.ID, r.code, r.output)
		}
	}
	return ""
}

// buildPlatform builds the platform, and destroyAll destroys it, as a person does
// who was told to prepare the project once more.
func (p *player) buildPlatform() string { return p.run("create-platform.sh", nil, p.provision) }

func (p *player) destroyAll() string {
	p.t.Helper()
	r := p.runScript("destroy-platform.sh", "", "--yes")
	if r.code != 0 && strings.Contains(r.output, "create-platform.sh --prepare") {
		if problem := p.run("create-platform.sh", []string{"--prepare"}, nil); problem != "" {
			return problem
		}
		r = p.runScript("destroy-platform.sh", "", "--yes")
	}
	if r.code != 0 {
		return fmt.Sprintf("destroy-platform.sh: exit code %d\n%s", r.code, r.output)
	}
	if strings.Contains(r.output, "nothing of the platform") {
		return ""
	}
	for _, st := range p.destroy {
		if r := p.runStep(st); r.code != 0 {
			return fmt.Sprintf("step %s: exit code %d\n%s", st.ID, r.code, r.output)
		}
	}
	return ""
}

// mustBuild and mustDestroy hold that the platform can be built and destroyed
// from whatever there is, and that nothing is in the way afterwards.
func (p *player) mustBuild(after string) {
	p.t.Helper()
	if problem := p.buildPlatform(); problem != "" {
		p.t.Errorf("after %s the platform is not built: %s", after, problem)
	}
	p.checkLeft(after, "cluster")
}

func (p *player) mustDestroy(after string) {
	p.t.Helper()
	if problem := p.destroyAll(); problem != "" {
		p.t.Errorf("after %s the platform is not destroyed: %s", after, problem)
	}
	p.checkLeft(after, "")
}

// checkLeft holds that, of all that can be in the way of a build, there is only the
// cluster, or nothing.
func (p *player) checkLeft(after, cluster string) {
	p.t.Helper()
	things := p.listThings()
	for _, name := range []string{"lock", "pending", "works"} {
		if slices.Contains(things, name) {
			p.t.Errorf("after %s there is still a %s", after, name)
		}
	}
	for _, name := range []string{"cluster", "state", "deployment"} {
		if cluster == "" && slices.Contains(things, name) {
			p.t.Errorf("after %s there is still a %s", after, name)
		}
	}
	if cluster != "" && !slices.Contains(things, cluster) {
		p.t.Errorf("after %s there is no %s", after, cluster)
	}
}

// interruption is a call at which a script is interrupted, and what is then left.
type interruption struct {
	call string
	left things
}

// interruptions runs something and returns what an interrupt would leave at each of its
// calls. The world is afterwards as the whole run leaves it.
func (p *player) interruptions(name string, run func() result) []interruption {
	p.t.Helper()
	p.interrupt(0)
	p.writeFile("left", "", 0o644)
	r := run()
	if r.code != 0 {
		p.t.Fatalf("%s: exit code %d\n%s", name, r.code, r.output)
	}
	var all []interruption
	for _, line := range splitLines(p.readFile("left")) {
		fields := strings.Split(line, "\t")
		left := things{}
		for i := 1; i < len(fields); i += 2 {
			left[fields[i]] = fields[i+1]
		}
		all = append(all, interruption{fields[0], left})
	}
	if len(all) != len(r.calls) {
		p.t.Errorf("%s makes %d calls, of which %d can be interrupted", name, len(r.calls), len(all))
	}
	return all
}

// recover does something from what each interruption left, once for each world. What
// it does depends on nothing but the world.
func (p *player) recover(name, what string, all []interruption, do func(after string)) {
	p.t.Helper()
	for i, at := range all {
		key := fmt.Sprint(what, at.left) // fmt sorts the keys of a map
		if p.recovered[key] {
			continue
		}
		p.recovered[key] = true
		p.restore(at.left)
		do(fmt.Sprintf("%s was interrupted at call %d, %s,", name, i+1, at.call))
	}
}

// TestInterrupted interrupts the scripts and the builds at every call. Each time
// the platform can be built, and what was half built can be destroyed.
func TestInterrupted(t *testing.T) {
	for name, platform := range map[string]*ir.Platform{
		"Terraform": fullPlatform(), "Infrastructure Manager": managedPlan(), "KAI Scheduler": kaiPlatform(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t, platform)
			create := func(arguments ...string) func() result {
				return func() result { return p.runScript("create-platform.sh", "", arguments...) }
			}
			const script = "create-platform.sh"
			all := p.interruptions(script, create("--prepare"))
			p.recover(script, "create", all, func(after string) {
				if problem := p.run(script, nil, nil); problem != "" {
					t.Errorf("after %s: %s", after, problem)
				}
			})
			p.recover(script, "destroy", all, p.mustDestroy)

			p.reset()
			if problem := p.run(script, nil, nil); problem != "" {
				t.Fatal(problem)
			}
			p.interruptSteps(p.provision)
			built := p.snapshot()
			p.interruptSteps(p.destroy)
			p.checkLeft("a whole run", "")
			p.restore(built)
			p.mustDestroy("a build")
			t.Logf("recovered from %d worlds", len(p.recovered))
		})
	}
}

// interruptSteps runs steps, and holds that the platform can be built and destroyed after
// each of their calls. The world is afterwards as the steps leave it.
func (p *player) interruptSteps(steps []step) {
	p.t.Helper()
	for _, st := range steps {
		name := "step " + st.ID
		all := p.interruptions(name, func() result { return p.runStep(st) })
		after := p.snapshot()
		p.recover(name, "build", all, p.mustBuild)
		p.recover(name, "destroy", all, p.mustDestroy)
		p.restore(after)
	}
}

// TestInterruptionsAreReal ends the scripts and builds for real at every call, and holds
// that this leaves what TestInterrupted goes on from. Files that are left elsewhere than in
// the world must not be in the way either.
func TestInterruptionsAreReal(t *testing.T) {
	for name, platform := range map[string]*ir.Platform{
		"Terraform": fullPlatform(), "Infrastructure Manager": managedPlan(), "KAI Scheduler": kaiPlatform(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t, platform)
			p.endEverywhere("create-platform.sh", func() result {
				return p.runScript("create-platform.sh", "", "--prepare")
			})
			if problem := p.run("create-platform.sh", nil, nil); problem != "" {
				t.Fatal(problem)
			}
			for _, st := range slices.Concat(p.provision, p.destroy) {
				p.endEverywhere("step "+st.ID, func() result { return p.runStep(st) })
			}
		})
	}
}

// endEverywhere ends something at each of its calls, and compares what is left with the
// interruptions of a whole run. Where files are left outside of the world, the platform must
// be built and destroyed beside them. The world is afterwards as the whole run leaves it.
func (p *player) endEverywhere(name string, run func() result) {
	p.t.Helper()
	before := p.snapshot()
	all := p.interruptions(name, run)
	after := p.snapshot()
	clean := p.listFiles()
	for i, at := range all {
		p.restore(before)
		p.interrupt(i + 1)
		r := run()
		// A subshell can outlive its script for one more call, which fails.
		if len(r.calls) <= i || temporary.ReplaceAllString(r.calls[i], "") != temporary.ReplaceAllString(at.call, "") {
			p.t.Errorf("%s: interrupted at %s, it called %q", name, at.call, r.calls)
		}
		if d := cmp.Diff(at.left, p.snapshot()); d != "" {
			p.t.Errorf("%s, interrupted at call %d, leaves (-want +got):\n%s", name, i+1, d)
		}
		p.interrupt(0)
		if left := p.listFiles(); !slices.Equal(left, clean) {
			p.recover(name, fmt.Sprint("with", left), all[i:i+1], func(after string) {
				p.mustBuild(after)
				p.mustDestroy(after)
			})
			p.removeTemporary()
		}
	}
	p.restore(after)
}

// listFiles lists the files of the sandbox outside of the world and the records of the
// stand-ins. A temporary file has the same name each time.
func (p *player) listFiles() []string {
	p.t.Helper()
	records := []string{"answers", "calls", "count", "dead", "interrupt", "left", "step", "words"}
	var files []string
	err := fs.WalkDir(os.DirFS(p.root), ".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && name == "world" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && !slices.Contains(records, name) {
			files = append(files, temporaryName.ReplaceAllString(name, "tmp.X"))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// temporaryName is the name of a file or directory that mktemp makes.
var temporaryName = regexp.MustCompile(`tmp\.\w+`)

// removeTemporary removes what mktemp has made. A build starts on another machine.
func (p *player) removeTemporary() {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.root, "tmp.*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range found {
		if err := os.RemoveAll(name); err != nil {
			p.t.Fatal(err)
		}
	}
}
