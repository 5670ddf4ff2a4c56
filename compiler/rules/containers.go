package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelabs.dev/go/oci/ociregistry/ociref"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the images and commands of containers. Kubernetes starts the program of a
// command itself. No shell reads the command, unless the command names a shell.

func containerRules() []Rule {
	return []Rule{
		{Code: "E0840", Severity: diag.Error, Title: "invalid image reference", check: imageReferences},
		{
			Code: "E0841", Severity: diag.Error, Title: "command cannot start", Acceptable: true,
			check: brokenStarts,
		},
		{Code: "W0850", Severity: diag.Warning, Title: "shell syntax without a shell", check: shellSyntax},
		{Code: "W0851", Severity: diag.Warning, Title: "shell variable without a shell", check: shellVariables},
		{
			Code: "W0852", Severity: diag.Warning, Title: "Kubernetes cannot replace a reference",
			check: unknownReferences,
		},
	}
}

// container is a container of a workload, or of an additional pod of it.
type container struct {
	path    []string // of the workload or the additional pod
	image   string
	command []string
	env     map[string]string
	secrets map[string]schema.SecretKey
}

// eachContainer calls visit for the containers of all workloads.
func (r *report) eachContainer(visit func(container)) {
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		visit(container{at("workloads", name), w.Image, w.Command, w.Env, w.SecretEnv})
		for _, a := range sortedKeys(w.Auxiliary) {
			aux := w.Auxiliary[a]
			visit(container{at("workloads", name, "auxiliary", a), aux.Image, aux.Command, aux.Env, nil})
		}
	}
}

// field returns the path of a field of the container.
func (c container) field(names ...string) []string { return append(slices.Clip(c.path), names...) }

// imageReferences reports images that no container runtime accepts. It reads them by
// the grammar of the distribution project. The schema's pattern already refuses upper
// case and spaces.
func imageReferences(r *report) {
	r.eachContainer(func(c container) {
		if c.image == "" { // the grammar reports it
			return
		}
		if ref, err := ociref.ParseRelative(c.image); err == nil {
			r.checkRegistryPath(c, ref)
			return
		}
		cure := withHelp("write HOST/REPOSITORY:TAG, such as us-docker.pkg.dev/my-project/train/jax:1.4")
		if _, rest, found := strings.Cut(c.image, "://"); found {
			if _, err := ociref.ParseRelative(rest); err == nil {
				cure = withHelp("remove the scheme: %q", rest)
			}
		}
		r.add(c.field("image"), fmt.Sprintf("%q is not a valid image reference", c.image), cure)
	})
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
			r.add(c.field("image"),
				fmt.Sprintf("image %q is incomplete: images in %s are named %s", c.image, host, known.form),
				withHelp("write %s/%s:TAG", host, known.form))
		}
	}
}

// withoutSecrets returns the elements of a command without the arguments that look like
// secrets by their flag. It is for the text of findings, where other
// secrets are masked by their shape.
func withoutSecrets(command []string) []string {
	shown := slices.Clone(command)
	for i, e := range command {
		if i > 0 && secret.IsValue(strings.TrimLeft(command[i-1], "-"), e) {
			shown[i] = "..."
		} else if password, ok := secret.InArgument(command, i); ok {
			shown[i] = e[:password.Start] + "..."
		}
	}
	return shown
}

// quoteCommand returns a command as CUE writes it, shortened if it is long, and without
// secrets.
func quoteCommand(elements ...string) string {
	const most = 6
	var quoted []string
	for i, e := range withoutSecrets(elements) {
		if i == most || len(e) > 60 {
			quoted = append(quoted, "...")
			break
		}
		quoted = append(quoted, strconv.Quote(e))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// operator matches an element that is an operator or a redirection of a shell.
var operator = regexp.MustCompile(`^(&&|\|\|?|;|&|<|[12&]?>>?(&[12]|/[-\w./]+)?)$`)

// Programs that read the text of a command themselves: shells, which read the text
// after an option -c, and programs that give "$" or the operators a meaning of their
// own.
var (
	shells  = []string{"ash", "bash", "dash", "ksh", "sh", "su", "zsh"}
	readers = []string{
		"[", "awk", "envsubst", "expr", "find", "gawk", "jq", "make", "mawk", "parallel", "perl", "php", "ruby", "sed",
		"ssh", "test", "yq",
	}
	shellOption = regexp.MustCompile(`^-[A-Za-z]*c[A-Za-z]*$`)
)

// plainElements returns the number of elements at the start of the command that no
// program interprets. From there on a shell reads the text, or another program with
// its own meaning of "$" and of operators.
func (c container) plainElements() int {
	shell := false
	for i, e := range c.command {
		switch name := path.Base(e); {
		case shell && shellOption.MatchString(e):
			return i
		case slices.Contains(shells, name):
			shell = true
		case slices.Contains(readers, name):
			return i
		}
	}
	return len(c.command)
}

// operatorIndex returns the index of the first operator that no shell reads, or -1.
func (c container) operatorIndex() int {
	plain := c.command[:c.plainElements()]
	for i, e := range plain {
		if operator.MatchString(e) && !c.isDelimiter(i) {
			return i
		}
	}
	return -1
}

// Flags whose value is a character that separates fields, and the programs that have
// such a flag of one letter.
var (
	delimiterFlag = regexp.MustCompile(`^--?(\w+[-_])*(sep|separator|delim|delimiter|terminator)$`)
	delimiterTool = regexp.MustCompile(`^(column|csv\w+|cut|join|mlr|mysql|paste|psql|sort|xargs|xsv)$`)
	letterFlag    = regexp.MustCompile(`^-[dFst]$`)
)

// isDelimiter reports whether an element of the command is the value of a flag that sets
// a delimiter, such as "|" after "-d" of cut.
func (c container) isDelimiter(i int) bool {
	if i == 0 || len(c.command[i]) != 1 {
		return false
	}
	flag := c.command[i-1]
	return delimiterFlag.MatchString(flag) ||
		letterFlag.MatchString(flag) && delimiterTool.MatchString(path.Base(c.command[0]))
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

// indexVariable is the variable in which Kubernetes numbers the pods of a Job.
const indexVariable = "JOB_COMPLETION_INDEX"

// variables returns the names of the variables that references of the container can
// name, sorted.
func (c container) variables() []string {
	names := append(slices.Clone(platformVariables), indexVariable)
	names = append(append(names, sortedKeys(c.env)...), sortedKeys(c.secrets)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// shellVariables reports references in the notation of a shell. In a value of env it
// reports only variables of the container and the value's own variable, because a
// program can read the value in its own way.
func shellVariables(r *report) {
	r.eachContainer(func(c container) {
		if c.startMistake() != nil {
			return
		}
		known := c.variables()
		plain := c.command[:c.plainElements()]
		if _, whole := c.shellMistake(); whole {
			plain = nil // the shell that the command needs replaces the variables, too
		}
		for i, e := range plain {
			for _, v := range findReferences(e) {
				if !v.kubernetes && (hasName(known, v.name) || shellName.MatchString(v.name)) {
					r.reportShellVariable(c.field("command", diag.Index(i)), v, hasName(known, v.name))
					break
				}
			}
		}
		for _, name := range sortedKeys(c.env) {
			for _, v := range findReferences(c.env[name]) {
				if !v.kubernetes && hasName(known, v.name) {
					r.reportShellVariable(c.field("env", name), v, v.name != name)
					break
				}
			}
		}
	})
}

// reportShellVariable reports one reference. known reports whether Kubernetes knows
// the variable.
func (r *report) reportShellVariable(field []string, v reference, known bool) {
	cure := "Kubernetes does not know the variables of the image: write the value itself"
	switch {
	case known:
		cure = fmt.Sprintf("write $(%s), which Kubernetes replaces", v.name)
	case slices.Contains(field, "command"):
		cure = `let a shell read it: command: ["sh", "-c", "..."]; ` +
			fmt.Sprintf("or set the variable in env and write $(%s)", v.name)
	}
	r.add(field, fmt.Sprintf("nothing replaces %s: no shell reads this text", v.text), withHelp("%s", cure))
}

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
func unknownReferences(r *report) {
	r.eachContainer(func(c container) {
		if c.startMistake() != nil {
			return
		}
		plain, known := c.plainElements(), c.variables()
		for i, e := range c.command {
			r.reportReference(c.field("command", diag.Index(i)), e, known, i < plain)
		}
		for _, name := range sortedKeys(c.env) {
			r.reportReference(c.field("env", name), c.env[name], known, false)
		}
		r.reportCircles(c)
	})
}

// reportCircles reports the variables that refer to a variable that the container
// defines later: variables that refer to each other in a circle have no right order.
func (r *report) reportCircles(c container) {
	defined := map[string]bool{}
	for _, v := range ir.OrderVariables(c.env) {
		for _, ref := range findReferences(v.Value) {
			if _, own := c.env[ref.name]; ref.kubernetes && own && ref.name != v.Key && !defined[ref.name] {
				r.add(c.field("env", v.Key), fmt.Sprintf("nothing replaces %s: %s refers back to %s",
					ref.text, ref.name, v.Key), withHelp("write the value itself in one of the variables"))
				break
			}
		}
		defined[v.Key] = true
	}
}

// reportReference reports the first reference of a text that nothing replaces. plain
// reports whether no program interprets the text, so that every reference counts. A
// value of env cannot refer to its own variable.
func (r *report) reportReference(field []string, text string, known []string, plain bool) {
	for _, v := range findReferences(text) {
		self := field[len(field)-1]
		own := v.name == self
		if !v.kubernetes || hasName(known, v.name) && !own || injectedVariable.MatchString(v.name) && !own {
			continue
		}
		constant := constantName.MatchString(v.name)
		near := ""
		if constant && len(v.name) > 3 {
			near = r.nearestName(v.name, known)
		}
		if near == self {
			near = ""
		}
		if !plain && near == "" && !own {
			continue
		}
		cure := "let a shell run it: command: [\"sh\", \"-c\", \"...\"]"
		switch {
		case own:
			cure = "Kubernetes does not know the variables of the image: write the value itself"
		case near != "":
			cure = fmt.Sprintf("did you mean $(%s)?", near)
		case constant:
			cure = fmt.Sprintf("set %s in env; Kubernetes does not know the variables of the image", v.name)
		}
		r.add(field, fmt.Sprintf("nothing replaces %s: the container sets no such variable", v.text),
			withHelp("%s", cure))
		return
	}
}
