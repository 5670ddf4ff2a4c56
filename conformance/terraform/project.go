package terraform

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
)

// Project is an empty Google Cloud project in which gcluster is played on a deploy folder, for
// tests that have a control plane.
type Project struct {
	// Folder is the deploy folder, and Facts the folder with the schema of the provider.
	Folder, Facts string
	// Endpoint is the address of the control plane without its scheme, which the project returns
	// as the DNS endpoint of the cluster. Token is the user's access token.
	Endpoint, Token string
}

// Answer is the result of a command that Play has run. Play prints it as a line of JSON.
type Answer struct {
	Env     []string // variables with which Terraform uses the project; only in the first answer
	Changed []string // groups in which Terraform had something to do, in their order
	Left    []string // what exists in the project and in the states
	Output  string   // of the last command of Terraform, if it failed
	Error   string
}

var stateBucket = regexp.MustCompile(`bucket\s*= "(.*)"`)

// Play reads verbs from in, one a line, until its end: deploy and destroy are gcluster's,
// unprotect runs the commands with which REFERENCE.md unprotects the cluster, and left asks what
// is left. Before the first verb it answers with Env.
func (p Project) Play(ctx context.Context, in io.Reader, out io.Writer) error {
	double, err := readDouble(p.Facts)
	if err != nil {
		return err
	}
	double.endpoint, double.token = p.Endpoint, p.Token
	script, err := os.ReadFile(filepath.Join(p.Folder, "create-platform.sh"))
	if err != nil {
		return err
	}
	double.rights = readRights(string(script))
	backend, err := os.ReadFile(filepath.Join(p.Folder, "terraform/backend.tf"))
	if err != nil {
		return err
	}
	name := stateBucket.FindSubmatch(backend)
	if name == nil {
		return fmt.Errorf("terraform/backend.tf has no bucket:\n%s", backend)
	}
	states := newBucket(string(name[1]))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: states}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	reattach, err := serveProviders(ctx, map[string]tfprotov5.ProviderServer{
		address: double, downloadAddress: downloader{},
	})
	if err != nil {
		return err
	}
	program, err := exec.LookPath("terraform")
	if err != nil {
		return err
	}
	env := append(bucketVariables("http://"+listener.Addr().String()), "TF_REATTACH_PROVIDERS="+reattach)
	player := toolkit{p.Folder, program, append(os.Environ(), env...)}

	answers := json.NewEncoder(out)
	if err := answers.Encode(Answer{Env: env}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var a Answer
		var err error
		switch verb := lines.Text(); verb {
		case "deploy", "destroy":
			a.Changed, a.Output, err = player.run(ctx, verb)
		case "unprotect":
			a.Output, err = player.unprotect(ctx)
		case "left":
			a.Left, a.Output, err = player.left(ctx)
			a.Left = append(a.Left, double.cloud.left()...)
			if n := states.count(".tflock"); n > 0 {
				a.Left = append(a.Left, fmt.Sprintf("%d locks of states", n))
			}
			slices.Sort(a.Left)
		default:
			err = fmt.Errorf("there is no verb %q", verb)
		}
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Output = ""
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// unprotect runs the commands of the folder's REFERENCE.md. It returns the output of the last
// one.
func (k toolkit) unprotect(ctx context.Context) (out string, err error) {
	commands, err := k.commands()
	if err != nil {
		return "", err
	}
	for _, command := range commands {
		if out, err = k.terraform(ctx, "terraform", command...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// left returns the resources in the states of all groups, and the output of the last command.
func (k toolkit) left(ctx context.Context) (left []string, out string, err error) {
	groups, err := k.groups()
	if err != nil {
		return nil, "", err
	}
	for _, group := range groups {
		if out, err = k.terraform(ctx, group, "state", "list"); err != nil {
			return nil, out, err
		}
		for line := range strings.Lines(out) {
			left = append(left, "state of "+group+": "+strings.TrimSpace(line))
		}
	}
	return left, out, nil
}
