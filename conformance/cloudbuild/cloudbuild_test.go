package cloudbuild

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const (
	accountLine = "serviceAccount: projects/p/serviceAccounts/build@p.iam.gserviceaccount.com\n"
	logging     = "options: {logging: CLOUD_LOGGING_ONLY}\n"
	header      = accountLine + logging + "timeout: 600s\n"
	one         = "- {id: a, name: 'hashicorp/terraform:1.13.5', args: [init], timeout: 60s}\n"
	good        = header + "steps:\n" + one
)

// folder returns a deploy folder with the given provisioning build.
func folder(provision string) fstest.MapFS {
	return fstest.MapFS{
		"cloudbuild/provision.yaml": {Data: []byte(provision)},
		"cloudbuild/destroy.yaml":   {Data: []byte(good)},
		"create-platform.sh":        {Data: []byte(create("roles/compute.networkAdmin", ""))},
		"destroy-platform.sh":       {Data: []byte("#!/bin/sh\n")},
	}
}

// create returns a create-platform.sh that gives the build one role.
func create(role, condition string) string {
	return "#!/bin/sh\nBUILD_ROLES=(\n  '" + role + "'\n)\nBUILD_CONDITIONS=(\n  '" + condition + "'\n)\n"
}

// with returns a build with the fields in its first and only step.
func with(fields string) string {
	return header + "steps:\n- {id: a, name: 'hashicorp/terraform:1.13.5', timeout: 60s, " + fields + "}\n"
}

func TestCheckAccepts(t *testing.T) {
	for name, build := range map[string]string{
		"smallest":            good,
		"digest":              strings.Replace(good, ":1.13.5", "@sha256:"+strings.Repeat("a", 64), 1),
		"registry with port":  strings.Replace(good, "hashicorp/terraform", "localhost:5000/x/terraform", 1),
		"logs bucket":         strings.Replace(good, logging, "logsBucket: gs://logs\n", 1),
		"no log":              strings.Replace(good, "CLOUD_LOGGING_ONLY", "NONE", 1),
		"script":              with(`script: "#!/bin/sh\necho $UNDECLARED ${_X} $$HOME"`),
		"shell's own":         with(`args: ['$$HOME', '$lower', '${lower}', '$(id)', '$1', '$?', '${NAME:-x}', '$']`),
		"built in":            with(`args: ['$PROJECT_ID', '${BUILD_ID}']`),
		"declared":            with(`args: ['$_X', '${_Y}']`) + "substitutions: {_X: a, _Y: b}\n",
		"used in a tag":       good + "tags: ['$_X']\nsubstitutions: {_X: a}\n",
		"mapped":              with(`script: "#!/bin/sh\n", automapSubstitutions: true`) + "substitutions: {_X: a}\n",
		"waits":               good + "- {id: b, name: 'x:1.2.3', args: [a], timeout: 60s, waitFor: [a]}\n",
		"waits for nothing":   with("args: [x], waitFor: ['-']"),
		"longest argument":    with("args: [" + strings.Repeat("x", maxArgBytes) + "]"),
		"shared volume":       header + "steps:\n" + volume("a") + volume("b"),
		"longest build":       strings.Replace(good, "timeout: 600s", "timeout: 86400s", 1),
		"step like its build": strings.Replace(good, "timeout: 60s", "timeout: 600s", 1),
	} {
		if errs := Check(folder(build)); len(errs) > 0 {
			t.Errorf("%s: %v\n%s", name, errs, build)
		}
	}
}

func volume(id string) string {
	return fmt.Sprintf("- {id: %s, name: 'x:1.2.3', args: [a], timeout: 60s, volumes: [{name: v, path: /v}]}\n", id)
}

func TestCheckRefuses(t *testing.T) {
	for _, tt := range []struct{ name, build, want string }{
		{"empty file", "", "unexpected token null"},
		{"no YAML", "\t", "found character"},
		{"key twice", good + "timeout: 700s\n", `key "timeout" already set`},
		{"unknown field", good + "waitfor: [a]\n", `unknown field "waitfor"`},
		{"number for a string", with("args: [1]"), "invalid value for string"},
		{"YAML 1.1 boolean", with("args: [y]"), "invalid value for string"},
		{"env as a map", with("args: [a], env: {A: b}"), "unexpected token {"},
		{"duration in minutes", strings.Replace(good, "600s", "10m", 1), "10m"},
		{"duration as a number", strings.Replace(good, "600s", "600", 1), "600"},

		{"no account", strings.Replace(good, accountLine, "", 1), `serviceAccount "" is no account of the build's own`},
		{
			"default account", strings.Replace(good, "build@p.iam", "1-compute@developer", 1),
			"no account of the build's own",
		},
		{"no log", strings.Replace(good, logging, "", 1), "must say where its log goes"},
		{"default log", strings.Replace(good, "CLOUD_LOGGING_ONLY", "LEGACY", 1), "must say where its log goes"},

		{"no time", strings.Replace(good, "timeout: 600s\n", "", 1), "timeout of the build is 0s"},
		{"too much time", strings.Replace(good, "600s", "86401s", 1), "timeout of the build is 24h0m1s"},
		{"no time of a step", strings.Replace(good, ", timeout: 60s", "", 1), `step "a": timeout is 0s`},
		{
			"step outlasts its build", strings.Replace(good, "timeout: 60s", "timeout: 601s", 1),
			`step "a": timeout is 10m1s`,
		},

		{"no steps", header, "no steps"},
		{"no id", strings.Replace(good, "id: a, ", "", 1), `step 0: id "" is empty`},
		{"reserved id", strings.Replace(good, "id: a,", "id: '-',", 1), `id "-" is empty, reserved or taken`},
		{"id twice", good + one, `id "a" is empty, reserved or taken`},
		{"waits for itself", with("args: [x], waitFor: [a]"), `waitFor "a" is no earlier step`},
		{
			"waits for a later step",
			header + "steps:\n- {id: b, name: 'x:1.2.3', args: [a], timeout: 60s, waitFor: [a]}\n" + one,
			`waitFor "a" is no earlier step`,
		},
		{
			"waits for nothing and something",
			good + "- {id: b, name: 'x:1.2.3', args: [a], timeout: 60s, waitFor: ['-', a]}\n",
			`waitFor "-" is no earlier step`,
		},

		{"image without tag", strings.Replace(good, ":1.13.5", "", 1), "is not pinned"},
		{"latest image", strings.Replace(good, ":1.13.5", ":latest", 1), "is not pinned"},
		{"image of a channel", strings.Replace(good, ":1.13.5", ":stable", 1), "is not pinned"},
		{"image of a minor version", strings.Replace(good, ":1.13.5", ":1.13", 1), "is not pinned"},
		{
			"port for a tag", strings.Replace(good, "hashicorp/terraform:1.13.5", "localhost:5000/terraform", 1),
			"is not pinned",
		},

		{"script with args", with(`args: [a], script: "#!/bin/sh\n"`), "script excludes args"},
		{"script with entrypoint", with(`entrypoint: a, script: "#!/bin/sh\n"`), "script excludes args"},
		{"script for nobody", with("script: echo"), "does not begin with #!"},
		{"nothing to run", strings.Replace(good, "args: [init], ", "", 1), "nothing to run"},
		{"failure allowed", with("args: [a], allowFailure: true"), "failures are passed over"},
		{"exit code allowed", with("args: [a], allowExitCodes: [1]"), "failures are passed over"},

		{
			"long argument", with("args: [" + strings.Repeat("x", maxArgBytes+1) + "]"),
			"bytes of argument 0: 10001, want at most 10000",
		},
		{
			"long argument in bytes", with("args: [" + strings.Repeat("é", maxArgBytes/2+1) + "]"),
			"bytes of argument 0: 10002",
		},
		{"many arguments", with("args: [" + strings.Repeat("x,", maxArgs+1) + "]"), "number of args: 101"},
		{"many variables", with("args: [a], env: [" + strings.Repeat("x=y,", maxEnv+1) + "]"), "number of env: 101"},
		{"many tags", good + "tags: [" + strings.Repeat("x,", maxTags+1) + "]\n", "number of tags: 65"},
		{"many steps", header + "steps:\n" + strings.Repeat(one, maxSteps+1), "number of steps: 101"},
		{"volume of one step", header + "steps:\n" + volume("a"), `volume "v" is used by one step only`},

		{"shell variable", with("args: ['$HOME']"), `step "a": "HOME" is no built-in substitution`},
		{"shell variable in braces", with("entrypoint: '${HOME}'"), `"HOME" is no built-in substitution`},
		{"undeclared", with("args: [a], env: ['A=$_X']"), `substitution "_X" is not declared`},
		{
			"undeclared in an image", strings.Replace(good, ":1.13.5", ":1.13.5$_X", 1),
			`substitution "_X" is not declared`,
		},
		{"unused", good + "substitutions: {_X: a}\n", "_X is never used"},
		{
			"used in a script only", with(`script: "#!/bin/sh\necho $_X"`) + "substitutions: {_X: a}\n",
			"_X is never used",
		},
		{"escaped use", with("args: ['$$_X']") + "substitutions: {_X: a}\n", "_X is never used"},
		{
			"name without underscore", with("args: ['$X']") + "substitutions: {X: a}\n",
			`the name "X" does not have the form _NAME`,
		},
		{"lower-case name", good + "substitutions: {_x: a}\n", `the name "_x" does not have the form _NAME`},
		{
			"long value", with("args: ['$_X']") + "substitutions: {_X: " + strings.Repeat("x", maxValueBytes+1) + "}\n",
			"_X has more than 4000 bytes",
		},

		{"owner", with("args: [--role=roles/owner]"), "roles/owner is a right on everything"},
		{"no lock", with("args: [apply, -lock=false]"), "two builds at once"},
		{"chain", with(`script: "#!/bin/sh\na || b && c || d\n"`), "a failure is lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := Check(folder(tt.build))
			for _, err := range errs {
				if !strings.HasPrefix(err.Error(), "cloudbuild/provision.yaml: ") {
					t.Errorf("%v names another file", err)
				}
				if strings.Contains(err.Error(), tt.want) {
					return
				}
			}
			t.Errorf("errors %v, want one with %q\n%s", errs, tt.want, tt.build)
		})
	}
}

func TestCheckFiles(t *testing.T) {
	for _, missing := range expected {
		f := folder(good)
		delete(f, missing)
		if errs := Check(f); len(errs) != 1 || !strings.Contains(errs[0].Error(), missing) {
			t.Errorf("without %s: %v", missing, errs)
		}
	}
	for _, file := range []string{"create-platform.sh", "destroy-platform.sh", "cloudbuild/other.sh"} {
		f := folder(good)
		f[file] = &fstest.MapFile{
			Data: []byte(create("roles/logging.logWriter", "") +
				"gcloud x --role=roles/editor\ngcloud x --role=roles/owner\nterraform apply -lock=false\n"),
		}
		var got []string
		for _, err := range Check(f) {
			got = append(got, err.Error())
		}
		want := []string{
			file + ": roles/owner is a right on everything in the project",
			file + ": roles/editor is a right on everything in the project",
			file + ": -lock=false: two builds at once would ruin the Terraform state",
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	// Roles whose names only begin with the same text are other roles.
	f := folder(good)
	f["create-platform.sh"] = &fstest.MapFile{
		Data: []byte(create("roles/logging.logWriter", "") +
			"gcloud x --role=roles/monitoring.dashboardEditor --role=roles/editorial\n"),
	}
	if errs := Check(f); len(errs) > 0 {
		t.Error(errs)
	}
}

// TestCheckRights checks which rights of the build are refused.
func TestCheckRights(t *testing.T) {
	for _, tt := range []struct{ role, condition, want string }{
		{"roles/compute.networkAdmin", "", ""},
		{"roles/container.admin", `resource.name == "projects/p/locations/r/clusters/c"`, ""},
		{"roles/container.admin", "", "the build has roles/container.admin on the whole project"},
		{"roles/container.admin", "true", "the build has roles/container.admin on the whole project"},
		{"roles/storage.admin", "", "the build has roles/storage.admin on the whole project"},
		{"roles/storage.admin", `resource.name.startsWith("projects/_/buckets/p-")`, ""},
		{
			"roles/resourcemanager.projectIamAdmin", "",
			"the build has roles/resourcemanager.projectIamAdmin on the whole project",
		},
		{"roles/iam.serviceAccountAdmin", "", "roles/iam.serviceAccountAdmin is the way to every service account"},
		{
			"roles/iam.serviceAccountTokenCreator", "",
			"roles/iam.serviceAccountTokenCreator is the way to every service account",
		},
		{
			"x,iam.serviceAccounts.setIamPolicy,y", "",
			"iam.serviceAccounts.setIamPolicy is the way to every service account",
		},
		{
			"resourcemanager.projects.setIamPolicy", "",
			"resourcemanager.projects.setIamPolicy is the right to grant any role",
		},
	} {
		f := folder(good)
		f["create-platform.sh"] = &fstest.MapFile{Data: []byte(create(tt.role, tt.condition))}
		errs := Check(f)
		if tt.want == "" && len(errs) > 0 ||
			tt.want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want)) {
			t.Errorf("%s where %q: %v, want %q", tt.role, tt.condition, errs, tt.want)
		}
	}
	f := folder(good)
	f["create-platform.sh"] = &fstest.MapFile{Data: []byte("#!/bin/sh\n")}
	if errs := Check(f); len(errs) != 1 {
		t.Errorf("no rights: %v", errs)
	}
}
