package plane

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Plane is a running control plane.
type Plane struct {
	Kubeconfig string // of an administrator

	root, dir   string
	programs    *entry
	ports       *portRange
	log         io.Writer
	server      string // the API server's URL
	token       string // of an administrator
	authority   *authority
	processes   []*process           // in the order they were started
	kueue       *process             // nil before Prepare
	kueuePorts  []string             // webhook, health, metrics, visibility API
	jobSetPorts []string             // the same
	kueueConfig []byte               // YAML of the folder that the plane was prepared for
	metrics     map[string]*endpoint // of controllers, by namespace
	client      *http.Client         // of the API server; nil before List
	resources   map[string]resource  // that the API server has, by plural name
}

// patience is the longest time until a program must answer. A program that ends is
// noticed earlier, so only a machine that is very busy needs it.
const patience = 10 * time.Minute

//go:embed stages.yaml
var stages []byte

// Start builds the programs that the module at root pins, if the user's cache does not
// have them, and starts all except Kueue, which Prepare starts. It writes its progress
// to log. The caller must stop the plane; if Start fails, nothing is left running.
func Start(ctx context.Context, root string, log io.Writer) (*Plane, error) {
	return start(ctx, root, log, (*Plane).installJobSet)
}

// StartEmpty is Start without JobSet. A stand-in for a GitOps tool installs JobSet and
// Kueue from their charts, and StartCharts starts both.
func StartEmpty(ctx context.Context, root string, log io.Writer) (*Plane, error) {
	return start(ctx, root, log, func(*Plane, context.Context) error { return nil })
}

// start starts a plane, and lets it install something at the end.
func start(ctx context.Context, root string, log io.Writer,
	install func(*Plane, context.Context) error) (_ *Plane, err error) {
	programs, err := build(ctx, root, log)
	if err != nil {
		return nil, err
	}
	p := &Plane{root: root, programs: programs, log: log,
		metrics: map[string]*endpoint{kueue.namespace: {}, jobset.namespace: {}}}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	if p.ports, err = reservePorts(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp("", "plane-"); err != nil {
		return nil, err
	}
	p.Kubeconfig = p.path("kubeconfig")
	began := time.Now()
	if p.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if err := p.startKubernetes(ctx); err != nil {
		return nil, err
	}
	if err := p.startNodes(); err != nil {
		return nil, err
	}
	if err := p.installDefinitions(ctx); err != nil {
		return nil, err
	}
	if p.jobSetPorts, err = p.ports.take(3); err != nil {
		return nil, err
	}
	if err := install(p, ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "plane: up in %.1f s\n", time.Since(began).Seconds())
	return p, nil
}

// Stop stops every program, the last one started first, and removes the files that
// they have written.
func (p *Plane) Stop() {
	for _, s := range slices.Backward(p.processes) {
		s.stop()
	}
	os.RemoveAll(p.dir)
	if p.client != nil {
		p.client.CloseIdleConnections()
	}
	if p.ports != nil {
		p.ports.close()
	}
	p.programs.close()
}

// Wait waits until a program ends by itself, and returns an error with its last
// output. It returns nil when the context is done.
func (p *Plane) Wait(ctx context.Context) error {
	for {
		if err := p.Ended(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// Endpoint returns the address of the API server without its scheme, the certificate of its
// authority, and the token of an administrator, for somebody who has no kubeconfig.
func (p *Plane) Endpoint() (address, certificate, token string) {
	return strings.TrimPrefix(p.server, "https://"), string(p.authority.pem), p.token
}

// Ended returns an error with the last output of a program that ended by itself, or nil if
// all programs run.
func (p *Plane) Ended() error {
	for _, s := range p.processes {
		if err := s.ended(); err != nil {
			return err
		}
	}
	return nil
}

// Kubectl runs kubectl as the administrator in the plane's folder and returns its
// output. An error contains all error output of kubectl. A warning is an error, except
// the one about the kustomizations in the modules of Kueue and JobSet.
func (p *Plane) Kubectl(ctx context.Context, stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.Bin(), "kubectl"), args...)
	cmd.Env = p.Environ()
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.SysProcAttr = bound()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	for line := range strings.Lines(stderr.String()) {
		// Kustomize writes the time before its warnings.
		if err == nil && strings.Contains(line, "Warning: ") &&
			!strings.HasPrefix(line, "# Warning: 'commonLabels' is deprecated.") {
			err = errors.New("warned")
		}
	}
	if err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// Environ returns the environment of a program that calls kubectl as the administrator.
func (p *Plane) Environ() []string {
	return append(os.Environ(), "PATH="+p.Bin()+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+p.Kubeconfig,
		"HOME="+p.dir, // kubectl has its cache there
		// Without a garbage collection, kubectl takes a third less CPU time.
		"GOGC=off", "GOMEMLIMIT=1GiB")
}

// Script runs a script that calls kubectl as the administrator, and returns its
// output of both kinds.
func (p *Plane) Script(ctx context.Context, file string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = p.Environ()
	cmd.SysProcAttr = bound()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Apply applies objects of the plane itself. Objects of a folder are applied as the
// folder's guide says.
func (p *Plane) Apply(ctx context.Context, objects []map[string]any) error {
	return p.feed(ctx, objects, "apply", "--server-side", "--force-conflicts", "--field-manager=plane", "-f", "-")
}

// Create creates objects, with their status if the kind allows it, as nodes do.
func (p *Plane) Create(ctx context.Context, objects []map[string]any) error {
	return p.feed(ctx, objects, "create", "-f", "-")
}

func (p *Plane) feed(ctx context.Context, objects []map[string]any, args ...string) error {
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return err
	}
	_, err = p.Kubectl(ctx, list, args...)
	return err
}

// path returns the path of a file in the plane's folder.
func (p *Plane) path(elements ...string) string {
	return filepath.Join(append([]string{p.dir}, elements...)...)
}

func (p *Plane) write(name string, text []byte) error {
	return os.WriteFile(p.path(name), text, 0o600)
}

func (p *Plane) startKubernetes(ctx context.Context) error {
	if err := p.write("ca.crt", p.authority.pem); err != nil {
		return err
	}
	for _, c := range []struct {
		dir, name   string
		groups, dns []string
	}{
		{"apiserver", "kube-apiserver", nil, []string{"localhost", "kubernetes.default.svc"}},
		{"front-proxy", "front-proxy", nil, nil},
		{"admin", "admin", []string{"system:masters"}, nil},
		{"controller-manager", "system:kube-controller-manager", nil, nil},
		{"scheduler", "system:kube-scheduler", nil, nil},
	} {
		if err := p.authority.issue(p.path(c.dir), c.name, c.groups, c.dns); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeKey(p.path("service-accounts.key"), key); err != nil {
		return err
	}
	p.token = rand.Text()
	if err := p.write("tokens.csv", []byte(p.token+",admin,admin,system:masters\n")); err != nil {
		return err
	}

	free, err := p.ports.take(3)
	if err != nil {
		return err
	}
	etcd, peers := "http://127.0.0.1:"+free[0], "http://127.0.0.1:"+free[1]
	p.server = "https://127.0.0.1:" + free[2]
	store, err := p.start("server", "--name=plane", "--data-dir="+p.path("etcd"),
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=plane="+peers,
		"--unsafe-no-fsync", "--log-level=error")
	if err != nil {
		return err
	}
	// The API server ends if it cannot reach etcd within a minute.
	if err := p.ready(ctx, store, etcd+"/health"); err != nil {
		return err
	}
	// The API server takes most of the CPU time of a plane, and needs less if it collects its
	// garbage more seldom.
	memory := []string{"GOGC=400", "GOMEMLIMIT=1200MiB"}
	apiserver, err := p.startWith(memory, "kube-apiserver", "--etcd-servers="+etcd,
		"--bind-address=127.0.0.1", "--secure-port="+free[2],
		// The plane has no network that could use the Endpoints of the API server.
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/16",
		"--tls-cert-file="+p.path("apiserver", "tls.crt"), "--tls-private-key-file="+p.path("apiserver", "tls.key"),
		"--client-ca-file="+p.path("ca.crt"), "--token-auth-file="+p.path("tokens.csv"),
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+p.path("service-accounts.key"),
		"--service-account-signing-key-file="+p.path("service-accounts.key"),
		"--requestheader-client-ca-file="+p.path("ca.crt"), "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+p.path("front-proxy", "tls.crt"),
		"--proxy-client-key-file="+p.path("front-proxy", "tls.key"),
		"--allow-privileged")
	if err != nil {
		return err
	}
	if err := p.ready(ctx, apiserver, p.server+"/readyz"); err != nil {
		return err
	}

	certificate := func(dir string) map[string]string {
		return map[string]string{"client-certificate": p.path(dir, "tls.crt"), "client-key": p.path(dir, "tls.key")}
	}
	for _, c := range []struct{ file, dir string }{
		{"kubeconfig", "admin"},
		{"controller-manager.kubeconfig", "controller-manager"},
		{"scheduler.kubeconfig", "scheduler"},
	} {
		if err := p.writeKubeconfig(c.file, certificate(c.dir)); err != nil {
			return err
		}
	}
	if _, err := p.start("kube-controller-manager", "--kubeconfig="+p.path("controller-manager.kubeconfig"),
		"--leader-elect=false", "--secure-port=0", "--use-service-account-credentials",
		// A node of KWOK is well, also while a busy machine keeps KWOK from saying so.
		"--node-monitor-grace-period=1h",
		// The limits for clients are meant for large clusters, where they spare the API server.
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--service-account-private-key-file="+p.path("service-accounts.key"),
		"--root-ca-file="+p.path("ca.crt")); err != nil {
		return err
	}
	_, err = p.start("kube-scheduler", "--kubeconfig="+p.path("scheduler.kubeconfig"), "--leader-elect=false",
		"--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000")
	return err
}

// startNodes starts KWOK, which acts as the kubelet of every node: a pod that is
// bound runs until it is deleted or told to end. See stages.yaml.
func (p *Plane) startNodes() error {
	if err := p.write("stages.yaml", stages); err != nil {
		return err
	}
	_, err := p.start("kwok", "--kubeconfig="+p.Kubeconfig, "--manage-all-nodes", "--node-lease-duration-seconds=3600",
		"--config="+p.programs.manifest(nodeReadyFile),
		"--config="+p.programs.manifest(podReadyFile),
		"--config="+p.path("stages.yaml"))
	return err
}

// writeKubeconfig writes a kubeconfig with which a user reaches the API server.
func (p *Plane) writeKubeconfig(file string, user map[string]string) error {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "plane",
		"clusters": []any{
			map[string]any{
				"name":    "plane",
				"cluster": map[string]any{"server": p.server, "certificate-authority": p.path("ca.crt")},
			},
		},
		"users": []any{map[string]any{"name": "plane", "user": user}},
		"contexts": []any{
			map[string]any{"name": "plane", "context": map[string]any{"cluster": "plane", "user": "plane"}},
		},
	})
	if err != nil {
		return err
	}
	return p.write(file, text)
}

// ready waits until a program answers at a URL.
func (p *Plane) ready(ctx context.Context, s *process, url string) error {
	client := &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.authority.pool()}, DisableKeepAlives: true},
	}
	return p.poll(ctx, s, func() error {
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(response.Body)
			return fmt.Errorf("%s: %s\n%s", url, response.Status, text)
		}
		return nil
	})
}

// poll calls try until it succeeds. It fails after the patience, or if the program
// ends.
func (p *Plane) poll(ctx context.Context, s *process, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		problem := try()
		if problem == nil {
			return nil
		}
		if err := s.ended(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", s.name, problem, tail(s.log))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
