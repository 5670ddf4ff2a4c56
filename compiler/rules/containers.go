package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelabs.dev/go/oci/ociregistry/ociref"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the images and commands of containers. Kubernetes starts the program of a
// command itself. No shell reads the command, unless the command names a shell.

func containerRules() []Rule {
	return []Rule{
		rule("E0804", "image without a version", onEach(allContainers, pinnedImages), fieldwise),
		rule("E0805", "environment variable is set twice", setTwice),
		rule("E0814", "environment variable is never set", unsetVariables, resolved),
		rule("E0815", "command uses a file that does not exist", onEach(allContainers, missingFiles), acceptable),
		rule("E0840", "invalid image reference", onEach(allContainers, imageReferences)),
		rule("E0841", "command cannot start", brokenStarts, acceptable),
		rule("W0850", "shell syntax without a shell", shellSyntax),
		rule("W0851", "shell variable without a shell", onEach(allContainers, shellVariables)),
		rule("W0852", "Kubernetes cannot replace a reference", onEach(allContainers, unknownReferences)),
	}
}

// container is a container of a workload, or of an auxiliary pod of it.
type container struct {
	path      fieldPath // of the workload or the auxiliary pod
	workload  string
	auxiliary bool
	image     string
	command   []string
	env       map[string]string
	secrets   map[string]schema.SecretKey
}

// containers returns the containers of all workloads, each before its auxiliary pods.
func (r *report) containers() []container {
	var out []container
	for name, w := range sorted(r.Blueprint.Workloads) {
		path := at("workloads", name)
		out = append(out, container{path, name, false, w.Image, w.Command, w.Env, w.SecretEnv})
		for a, aux := range sorted(w.Auxiliary) {
			out = append(out, container{path.at("auxiliary", a), name, true, aux.Image, aux.Command, aux.Env, nil})
		}
	}
	return out
}

// containerText is an element of a command, or the value of a variable of env.
type containerText struct {
	path     fieldPath
	text     string
	variable string // "" for an element
	plain    bool   // no program interprets it
}

// texts returns the elements of the command, and the values of env by name.
func (c container) texts() []containerText {
	var out []containerText
	plain := c.plainElements()
	for i, e := range c.command {
		out = append(out, containerText{c.path.at("command", diag.Index(i)), e, "", i < plain})
	}
	for name, value := range sorted(c.env) {
		out = append(out, containerText{c.path.at("env", name), value, name, false})
	}
	return out
}

// sets reports whether the blueprint sets a variable of the container.
func (c container) sets(variable string) bool {
	_, env := c.env[variable]
	_, secret := c.secrets[variable]
	return env || secret
}

// pinnedImages reports images that can change between runs.
func pinnedImages(r *report, c container) {
	if strings.HasSuffix(c.image, ":latest") {
		r.add(c.path.at("image"), say("image %q has no fixed version, so it can change between runs", c.image),
			help("pin the image by a version tag or a digest"))
	}
}

// mounted matches the names of files in the directory of a workload's files.
var mounted = regexp.MustCompile(`(?:^|[^-\w./])/workload/(\w[-\w.]*)`)

// missingFiles reports files that a command names and the workload does not have. If
// a workload has files, the directory contains only these. If it has none, the
// directory can be part of the image.
func missingFiles(r *report, c container) {
	known := sortedKeys(r.Blueprint.Workloads[c.workload].Files)
	for i, text := range c.command {
		for _, m := range mounted.FindAllStringSubmatch(text, -1) {
			if file := strings.TrimRight(m[1], "."); len(known) > 0 && !hasName(known, file) {
				r.add(c.path.at("command", diag.Index(i)),
					say("file %q does not exist: /workload holds only the workload's files", file), choices(known),
					didYouMean(r.nearestName(file, known), help("add the file to files, or choose another file")))
			}
		}
	}
}

// imageReferences reports images that no container runtime accepts. It reads them by
// the grammar of the distribution project. The schema's pattern already refuses upper
// case and spaces.
func imageReferences(r *report, c container) {
	ref, err := ociref.ParseRelative(c.image)
	switch {
	case c.image == "": // the grammar reports it
	case err == nil:
		r.checkRegistryPath(c, ref)
	default:
		cure := help("write HOST/REPOSITORY:TAG, such as us-docker.pkg.dev/my-project/train/jax:1.4")
		if _, rest, found := strings.Cut(c.image, "://"); found {
			if _, err := ociref.ParseRelative(rest); err == nil {
				cure = help("remove the scheme: %q", rest)
			}
		}
		r.add(c.path.at("image"), say("%q is not a valid image reference", c.image), cure)
	}
}

// registries are the hosts of Google's registries, with the form of a repository in
// them. Source: Artifact Registry documentation, "Repository and image names".
var registries = []struct {
	host  *regexp.Regexp
	least int // parts after the host
	form  string
}{
	{regexp.MustCompile(`^[a-z0-9-]+-docker\.pkg\.dev$`), 3, "PROJECT/REPOSITORY/IMAGE"},
	{regexp.MustCompile(`^([a-z]+\.)?gcr\.io$`), 2, "PROJECT/IMAGE"},
}

// checkRegistryPath reports an image of a registry of Google without a part that the
// registry demands. A host alone is the name of an image for the grammar.
func (r *report) checkRegistryPath(c container, ref ociref.Reference) {
	host, parts := ref.Host, strings.Split(ref.Repository, "/")
	if host == "" {
		host, parts = parts[0], parts[1:]
	}
	for _, known := range registries {
		if known.host.MatchString(host) && len(parts) < known.least {
			r.add(c.path.at("image"),
				say("image %q is incomplete: images in %s are named %s", c.image, host, known.form),
				help("write %s/%s:TAG", host, known.form))
		}
	}
}

// reference is a reference to a variable, or to the output of a command.
type reference struct {
	text string // such as "$NAME"
	name string // the text in the brackets, or the name
	// kubernetes reports whether the reference has the form $(NAME), which Kubernetes
	// replaces.
	kubernetes bool
}

// variableName matches the name of a variable after "$", perhaps in braces.
var variableName = regexp.MustCompile(`^(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::[-+=?][^}]*)?\})`)

// findReferences returns the references in a text. "$$" stands for one "$", as in
// Kubernetes. The time is linear in the length of the text: a reference of more than
// longest bytes is ignored. Source: Kubernetes, third_party/forked/golang/expansion.
func findReferences(text string) []reference {
	const longest = 256
	var out []reference
	for {
		_, after, found := strings.Cut(text, "$")
		if !found {
			return out
		}
		text = after
		after = after[:min(len(after), longest)]
		if strings.HasPrefix(after, "$") {
			text = text[1:]
		} else if inner, _, closed := strings.Cut(after, ")"); closed && strings.HasPrefix(inner, "(") {
			text = text[len(inner)+1:]
			out = append(out, reference{"$" + inner + ")", inner[1:], true})
		} else if m := variableName.FindStringSubmatch(after); m != nil {
			text = text[len(m[0]):]
			out = append(out, reference{"$" + m[0], m[1] + m[2], false})
		}
	}
}

// shellName matches the names that people give to variables of a shell. Other words
// after "$" are as likely part of a pattern or of a template.
var shellName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)

// platformVariables are the variables that the platform sets if other fields of the
// blueprint ask for them. unsetVariables reports references to them that nothing
// sets.
var platformVariables = []string{
	ir.EnvBucket, ir.EnvJobIndex, ir.EnvMasterAddr, ir.EnvMasterPort, ir.EnvNodes, ir.EnvTensorBoard,
}

// variables returns the names of the variables that references of the container can
// name, sorted.
func (c container) variables() []string {
	names := slices.Concat(platformVariables, []string{indexVariable}, sortedKeys(c.env), sortedKeys(c.secrets))
	slices.Sort(names)
	return slices.Compact(names)
}

// expandedNames returns the names of the references that Kubernetes replaces in a text.
func expandedNames(text string) []string {
	var names []string
	for _, v := range findReferences(text) {
		if v.kubernetes {
			names = append(names, v.name)
		}
	}
	return names
}

// shellVariables reports the first reference of a text in the notation of a shell. In a
// value of env it reports only variables of the container and the value's own variable,
// because a program can read the value in its own way.
func shellVariables(r *report, c container) {
	m, known := c.mistake(), c.variables()
	if m.fatal {
		return
	}
	for _, t := range c.texts() {
		plain := t.plain && !m.unread // the shell that the command needs replaces the variables, too
		for _, v := range findReferences(t.text) {
			isKnown := hasName(known, v.name)
			if !v.kubernetes && (isKnown && (plain || t.variable != "") || plain && shellName.MatchString(v.name)) {
				r.reportShellVariable(t, v, isKnown && v.name != t.variable)
				break
			}
		}
	}
}

// reportShellVariable reports one reference. known reports whether Kubernetes knows
// the variable.
func (r *report) reportShellVariable(t containerText, v reference, known bool) {
	cure := writeValue
	switch {
	case known:
		cure = fmt.Sprintf("write $(%s), which Kubernetes replaces", v.name)
	case t.variable == "":
		cure = `let a shell read it: command: ["sh", "-c", "..."]; ` +
			fmt.Sprintf("or set the variable in env and write $(%s)", v.name)
	}
	r.add(t.path, say("nothing replaces %s: no shell reads this text", v.text), advise(cure))
}

// writeValue is the help for a reference of a variable to itself.
const writeValue = "Kubernetes does not know the variables of the image: write the value itself"

// constantName matches names of environment variables by the usual convention.
var constantName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// injectedVariable matches variables that Kubernetes or GKE may add to a container.
// They describe Services, TPUs and the networks between GPUs. Source: Kubernetes
// documentation, "Service", "Environment variables"; GKE documentation, "Deploy TPU
// workloads in GKE Standard".
var injectedVariable = regexp.MustCompile(
	`^(TPU_|MEGASCALE_|NCCL_|KUBERNETES_|LD_LIBRARY_PATH$)|_SERVICE_(HOST|PORT)|_PORT(_|$)`)

// unknownReferences reports references in the notation of Kubernetes that it leaves
// as they are. The kubelet knows only the variables of the pod's definition, not the
// variables of the image. In the text of a shell $(NAME) is a command, so only names
// that are nearly the name of a variable are reported. Source: Kubernetes,
// pkg/kubelet/container/helpers.go, ExpandContainerCommandAndArgs.
func unknownReferences(r *report, c container) {
	if c.mistake().fatal {
		return
	}
	known := c.variables()
	for _, t := range c.texts() {
		r.reportReference(t, known)
	}
	r.reportCircles(c)
}

// reportReference reports the first reference of a text that nothing replaces. If no program
// interprets the text, every reference counts. A value of env cannot refer to its own
// variable.
func (r *report) reportReference(t containerText, known []string) {
	for _, v := range findReferences(t.text) {
		own, constant := t.variable != "" && v.name == t.variable, constantName.MatchString(v.name)
		if !v.kubernetes || !own && (hasName(known, v.name) || injectedVariable.MatchString(v.name)) {
			continue
		}
		near := ""
		if constant && len(v.name) > 3 {
			near = r.nearestName(v.name, known)
		}
		if near == t.variable {
			near = ""
		}
		cure := "let a shell run it: command: [\"sh\", \"-c\", \"...\"]"
		switch {
		case own:
			cure = writeValue
		case near != "":
			cure = fmt.Sprintf("did you mean $(%s)?", near)
		case !t.plain:
			continue
		case constant:
			cure = fmt.Sprintf("set %s in env; Kubernetes does not know the variables of the image", v.name)
		}
		r.add(t.path, say("nothing replaces %s: the container sets no such variable", v.text), advise(cure))
		return
	}
}

// reportCircles reports the variables that refer to a variable that the container
// defines later: variables that refer to each other in a circle have no right order.
func (r *report) reportCircles(c container) {
	defined := map[string]bool{}
	for _, v := range ir.OrderVariables(c.env) {
		for _, name := range expandedNames(v.Value) {
			if _, own := c.env[name]; own && name != v.Key && !defined[name] {
				r.add(c.path.at("env", v.Key), say("nothing replaces $(%s): %s refers back to %s", name, name,
					v.Key), help("write the value itself in one of the variables"))
				break
			}
		}
		defined[v.Key] = true
	}
}
