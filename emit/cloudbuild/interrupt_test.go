package cloudbuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// world answers like a project that keeps what is made in it, each thing a file
// of the folder world. What exists cannot be created again, a state that is
// locked cannot be planned, Helm refuses a release that is pending, and a
// protected cluster stays.
//
// The call whose number the file interrupt holds ends its script when half of
// its work is done, as a build that is cancelled: Terraform leaves its lock, Helm
// its pending release, and Infrastructure Manager works on.
const world = `
if [[ -e $SANDBOX/dead ]]; then exit 137; fi
w=$SANDBOX/world
read -r n <"$SANDBOX/count"
echo $((++n)) >"$SANDBOX/count"
read -r at <"$SANDBOX/interrupt"
die() { # at the call that is interrupted, with half of its work done
  if ((n == at)); then
    : >"$SANDBOX/dead"
    kill -9 "$(<"$SANDBOX/pid")"
    exit 137
  fi
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
}

func newPlayer(t *testing.T, p *ir.Platform) *player {
	s := newSandbox(t, p)
	s.answer(world)
	play := &player{s, provisionBuild(p).Steps, destroyBuild(p).Steps}
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

// interrupt ends whatever makes the call of this number from now on; 0 for none.
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

// snapshot returns what is in the world, for restore.
func (p *player) snapshot() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for _, name := range p.listThings() {
		all[name] = p.readFile(filepath.Join("world", name))
	}
	return all
}

func (p *player) restore(all map[string]string) {
	p.t.Helper()
	p.reset()
	for name, content := range all {
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

// interruptEvery runs something as often as it makes calls, from the same world,
// interrupted at one call after the other, and then what must be possible.
func (p *player) interruptEvery(name string, from map[string]string, run func() result, then func(after string)) {
	p.t.Helper()
	for call := 1; ; call++ {
		p.restore(from)
		p.interrupt(call)
		r := run()
		if _, err := os.Stat(filepath.Join(p.root, "dead")); err != nil {
			if call == 1 && len(r.calls) > 0 {
				p.t.Errorf("%s is not interrupted", name)
			}
			return
		}
		last := ""
		if len(r.calls) > 0 {
			last = r.calls[len(r.calls)-1]
		}
		p.interrupt(0)
		then(fmt.Sprintf("%s was interrupted at call %d, %s,", name, call, last))
	}
}

// TestInterrupted interrupts the scripts and the builds at every call. Each time
// the platform can be built, and what was half built can be destroyed.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long; make test runs it")
	}
	for _, tt := range []struct {
		name     string
		platform *ir.Platform
		// provision and destroy are the steps that are interrupted, nil for all.
		provision, destroy []string
	}{
		{"Terraform", fullPlatform(), nil, nil},
		{"Infrastructure Manager", managedPlan(), []string{"infrastructure"}, []string{"infrastructure"}},
		{"KAI Scheduler", kaiPlatform(), []string{"kai"}, []string{"drain"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlayer(t, tt.platform)
			chosen := func(list []string, id string) bool { return list == nil || slices.Contains(list, id) }
			if tt.provision == nil {
				p.interruptEvery("create-platform.sh", nil, func() result {
					return p.runScript("create-platform.sh", "",
						"--prepare")
				},
					func(after string) {
						half := p.snapshot()
						if problem := p.run("create-platform.sh", nil, nil); problem != "" {
							t.Errorf("after %s: %s", after, problem)
						}
						p.restore(half)
						p.mustDestroy(after)
					})
			}
			p.reset()
			if problem := p.run("create-platform.sh", nil, nil); problem != "" {
				t.Fatal(problem)
			}
			for _, st := range p.provision {
				before := p.snapshot()
				if chosen(tt.provision, st.ID) {
					p.interruptEvery("step "+st.ID, before, func() result { return p.runStep(st) }, func(after string) {
						half := p.snapshot()
						p.mustBuild(after)
						p.restore(half)
						p.mustDestroy(after)
					})
					p.restore(before)
				}
				if r := p.runStep(st); r.code != 0 {
					t.Fatalf("step %s: exit code %d\n%s", st.ID, r.code, r.output)
				}
			}
			built := p.snapshot()
			for _, st := range p.destroy {
				before := p.snapshot()
				if chosen(tt.destroy, st.ID) {
					p.interruptEvery("step "+st.ID, before, func() result { return p.runStep(st) }, func(after string) {
						half := p.snapshot()
						p.mustDestroy(after)
						p.restore(half)
						p.mustBuild(after)
					})
					p.restore(before)
				}
				if r := p.runStep(st); r.code != 0 {
					t.Fatalf("step %s: exit code %d\n%s", st.ID, r.code, r.output)
				}
			}
			p.checkLeft("a whole run", "")
			p.restore(built)
			p.mustDestroy("a build")
		})
	}
}
