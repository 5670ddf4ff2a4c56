package guide

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/page"
)

// template is a workload of the blueprint, with all objects that are made from it.
type template struct {
	ir.Workload          // the first object
	Names       []string // of the objects of the first team
	Teams       []string
	OfEveryTeam bool
	OfReader    bool             // whether the reader's variables name it in commands, or else its first team
	Class       ir.PriorityClass // zero if there is none of its name
	Off         bool             // whether it cannot start, because there are no TPU slices for now
}

type templates []template

// Templates returns the workloads of the blueprint, by name.
func (v view) Templates() (out templates) {
	places := map[string]int{} // in out
	for i := range v.Workloads {
		w := &v.Workloads[i]
		place, found := places[w.Template]
		if !found {
			place = len(out)
			places[w.Template] = place
			out = append(out, template{Workload: *w})
		}
		t := &out[place]
		if w.Team == t.Team {
			t.Names = append(t.Names, w.Name)
		}
		if len(t.Teams) == 0 || t.Teams[len(t.Teams)-1] != w.Team {
			t.Teams = append(t.Teams, w.Team)
		}
	}
	for i := range out {
		t := &out[i]
		t.OfEveryTeam = len(t.Teams) == len(v.Teams)
		t.OfReader = t.OfEveryTeam || len(t.Teams) > 1 && slices.Contains(t.Teams, v.HomeTeam().Name)
		for _, c := range v.PriorityClasses {
			if c.Name == t.PriorityClass {
				t.Class = c
			}
		}
		can := func(c ir.Capacity) bool { return !c.SlicesOff() && slices.Contains(t.Capacities, c.Name) }
		t.Off = len(t.Capacities) > 0 && !v.AnyCapacity(can)
	}
	slices.SortFunc(out, func(a, b template) int { return cmp.Compare(a.Template, b.Template) })
	return out
}

// FirstTemplate returns the first workload in the blueprint.
func (v view) FirstTemplate() template {
	all := v.Templates()
	return all[max(0, slices.IndexFunc(all, func(t template) bool { return t.Template == v.Workloads[0].Template }))]
}

// Secrets returns the names of the Secrets that the template needs.
func (t template) Secrets() (names []string) {
	for _, e := range t.SecretEnv {
		names = withName(names, e.Secret)
	}
	return names
}

// File returns the path of an object's file in the folder of the reader's team, as a
// word of a shell command. If the template is not of the reader, the folder is the
// folder of the template's team.
func (t template) File(name string) page.Command {
	team := variable("TEAM")
	if !t.OfReader {
		team = t.Team
	}
	return page.Command(shellWord("workloads/" + team + "/" + name + ".yaml"))
}

// FirstJob returns the name of the Job whose pod with index 0 leads the workload.
// Source for the Jobs of a JobSet: JobSet 0.12, pkg/util/placement.
func (t template) FirstJob() string {
	if t.Kind == ir.JobSet {
		return t.Name + "-" + t.ReplicatedJob() + "-0"
	}
	return t.Name
}

// Copy returns the name of the second object of the first template that has several, or
// "".
func (all templates) Copy() string {
	for _, t := range all {
		if len(t.Names) > 1 {
			return t.Names[1]
		}
	}
	return ""
}

// Secrets names the Secrets that workloads need.
func (v view) Secrets() (names []string) {
	for _, w := range v.Workloads {
		for _, e := range w.SecretEnv {
			names = withName(names, e.Secret)
		}
	}
	return names
}

// ByOwners returns the templates of every team, and then those of each other set of teams.
func (all templates) ByOwners() (blocks []templates) {
	for _, t := range all {
		same := func(b templates) bool { return slices.Equal(b[0].Teams, t.Teams) }
		at := slices.IndexFunc(blocks, same)
		switch {
		case at >= 0:
			blocks[at] = append(blocks[at], t)
		case t.OfEveryTeam:
			blocks = slices.Insert(blocks, 0, templates{t})
		default:
			blocks = append(blocks, templates{t})
		}
	}
	return blocks
}

// Kept says for each template that Kubernetes deletes after its end when it does so.
func (all templates) Kept() (out []markdown.Markup) {
	for _, t := range all {
		if t.KeepSeconds > 0 {
			out = append(out, markdown.Code(t.Template)+" after "+markdown.Markup(words.Duration(t.KeepSeconds)))
		}
	}
	return out
}

// logText is what the logs of some workloads show, as the blueprint says.
type logText struct {
	Text      string
	Workloads []string
}

// LogTexts returns what the logs of the templates show.
func (all templates) LogTexts() (out []logText) {
	for _, t := range all {
		if t.Shows == "" {
			continue
		}
		at := slices.IndexFunc(out, func(l logText) bool { return l.Text == t.Shows })
		if at < 0 {
			at, out = len(out), append(out, logText{Text: t.Shows})
		}
		out[at].Workloads = append(out[at].Workloads, t.Template)
	}
	return out
}

// LogLines returns the lines of the example of the template's log.
func (t template) LogLines() (lines []page.Command) {
	for line := range strings.Lines(t.ExampleLog) {
		lines = append(lines, page.Command(words.OneLine(strings.TrimRight(line, " \t\r\n"))))
	}
	return lines
}

// images are the images of the platform's repository that somebody must build, without the
// name of the repository, and the workloads that run them.
type images struct {
	Workloads, Images []string
	Example           string // an image to build: the first that a workload needs, or else any
	Directory         string // the directory with the example's Dockerfile, seen from the folder
}

// OwnImages returns the images that somebody must build. An image with a digest is built
// already, because only a build knows its digest.
func (v view) OwnImages() (out images) {
	for _, t := range v.Templates() {
		names := []string{t.Image}
		for _, a := range t.Auxiliaries {
			names = append(names, a.Image)
		}
		for _, image := range names {
			if name, own := strings.CutPrefix(image, v.ImageRepository()+"/"); own && !strings.Contains(name, "@") {
				out.Workloads, out.Images = withName(out.Workloads, t.Template), withName(out.Images, name)
			}
		}
	}
	if out.Images == nil {
		out.Example, out.Directory = "my-image:1.0", "my-image"
		return out
	}
	// The directory has the name of the image and is beside the blueprint, which is in the
	// directory above the folder, as in a repository that "batchwright init" has made.
	name, _, _ := strings.Cut(path.Base(out.Images[0]), ":")
	out.Example, out.Directory = out.Images[0], path.Join("..", name)
	return out
}
