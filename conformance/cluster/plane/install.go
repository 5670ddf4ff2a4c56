package plane

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"
)

// controller is a program that is installed from its release's manifests, but runs
// beside the cluster instead of in it.
type controller struct {
	name      string // of the program; of the namespace, before -system
	module    string
	namespace string
	account   string // of the Deployment
	service   string // of the webhooks
	secret    string // of the webhooks' certificate, if the program makes that itself
}

var (
	kueue = controller{
		"kueue", "sigs.k8s.io/kueue", "kueue-system", "kueue-controller-manager", "kueue-webhook-service",
		"kueue-webhook-server-cert",
	}
	jobset = controller{
		"jobset", "sigs.k8s.io/jobset", "jobset-system", "jobset-controller-manager", "jobset-webhook-service", "",
	}
)

// manifests is the name of the file in the cache with the release's manifests.
func (c controller) manifests() string { return c.name + ".yaml" }

// installDefinitions installs the definitions of GKE and KAI Scheduler.
func (p *Plane) installDefinitions(ctx context.Context) error {
	text, err := os.ReadFile(p.programs.manifest(definitionsFile))
	if err != nil {
		return err
	}
	definitions, err := decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", definitionsFile, err)
	}
	queue, err := p.kaiQueue()
	if err != nil {
		return err
	}
	return p.Apply(ctx, append(definitions, queue))
}

// installJobSet installs JobSet from its release, and starts it.
func (p *Plane) installJobSet(ctx context.Context) error {
	if err := p.installController(ctx, jobset, p.jobSetPorts[0]); err != nil {
		return err
	}
	return p.runJobSet(ctx, jobset)
}

// runJobSet starts JobSet.
func (p *Plane) runJobSet(ctx context.Context, c controller) error {
	_, err := p.runController(ctx, c, map[string]any{
		"apiVersion": "config.jobset.x-k8s.io/v1alpha1",
		"kind":       "Configuration",
	}, p.jobSetPorts)
	return err
}

// kaiQueue is the definition of KAI Scheduler's Queue. The checks of the
// conformance module have its schema.
func (p *Plane) kaiQueue() (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join(p.root, "../kaiqueues/queue.yaml"))
	if err != nil {
		return nil, err
	}
	var schema map[string]any
	if err := yaml.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "queues.scheduling.run.ai"},
		"spec": map[string]any{
			"group": "scheduling.run.ai",
			"names": map[string]any{"kind": "Queue", "listKind": "QueueList", "plural": "queues", "singular": "queue"},
			"scope": "Cluster",
			"versions": []any{map[string]any{
				"name": "v2", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": schema},
			}},
		},
	}, nil
}

// installController applies the release's manifests from the file that Release
// names, after kustomize components have changed them. A component is a folder.
func (p *Plane) installController(ctx context.Context, c controller, port string, components ...string) error {
	if err := p.writeRelease(c, port); err != nil {
		return err
	}
	dir := p.path("install-" + c.name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	kustomization := map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []string{"release.yaml"},
	}
	var names []string
	for i, component := range components {
		names = append(names, "component-"+strconv.Itoa(i))
		if err := os.CopyFS(filepath.Join(dir, names[i]), os.DirFS(component)); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		kustomization["components"] = names
	}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600); err != nil {
		return err
	}
	release, err := os.ReadFile(p.Release(c.name))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "release.yaml"), release, 0o600); err != nil {
		return err
	}
	_, err = p.Kubectl(ctx, nil, "apply", "--server-side", "--force-conflicts", "--field-manager=plane", "-k", dir)
	return err
}

// Release returns the file with the release's manifests of kueue or jobset. A build
// would download this file; here it is adapted to the plane. The Deployment has no
// replicas, because the program runs beside the cluster and serves its webhooks at
// a port of loopback. Each Service is another name of localhost, and the API server
// still demands a certificate of the Service's own name.
func (p *Plane) Release(name string) string { return p.path("release-" + name + ".yaml") }

// writeRelease writes the file that Release returns.
func (p *Plane) writeRelease(c controller, port string) error {
	manifests, err := os.ReadFile(p.programs.manifest(c.manifests()))
	if err != nil {
		return err
	}
	objects, err := decode(manifests)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, object := range objects {
		if err := p.adapt(object, c, number); err != nil {
			return err
		}
		// JSON is YAML, and keeps integers exact.
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "---\n%s\n", text)
	}
	return os.WriteFile(p.Release(c.name), out.Bytes(), 0o600)
}

// adapt changes an object of a controller as Release says.
func (p *Plane) adapt(object map[string]any, c controller, port int) (err error) {
	switch object["kind"] {
	case "Deployment":
		if p.metrics[c.namespace].pods, err = podLabels(object); err != nil {
			return err
		}
		object["spec"].(map[string]any)["replicas"] = 0
	case "APIService":
		visibility, err := strconv.Atoi(p.kueuePorts[3])
		if err != nil {
			return err
		}
		object["spec"].(map[string]any)["service"].(map[string]any)["port"] = visibility
	case "Service":
		object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
	}
	p.direct(object, port, c.secret == "")
	return nil
}

// direct sets the port in every client configuration of a webhook in the value, and
// the plane's authority if the plane issues the certificate.
func (p *Plane) direct(value any, port int, issued bool) {
	switch value := value.(type) {
	case map[string]any:
		if config, ok := value["clientConfig"].(map[string]any); ok {
			if service, ok := config["service"].(map[string]any); ok {
				service["port"] = port
				if issued {
					config["caBundle"] = base64.StdEncoding.EncodeToString(p.authority.pem)
				}
				return
			}
		}
		for _, element := range value {
			p.direct(element, port, issued)
		}
	case []any:
		for _, element := range value {
			p.direct(element, port, issued)
		}
	}
}

// runController starts a controller with its configuration, the rights of its own
// account, and its own ports for webhooks, health and metrics, and waits until it
// is ready. It writes the ports into config.
func (p *Plane) runController(ctx context.Context, c controller, config map[string]any,
	ports []string) (*process, error) {
	certificates := p.path(c.name + "-certificates")
	if c.secret == "" {
		name := c.service + "." + c.namespace + ".svc"
		if err := p.authority.issue(certificates, name, nil, []string{name}); err != nil {
			return nil, err
		}
		config["internalCertManagement"] = map[string]any{"enable": false}
	}
	token, err := p.Kubectl(ctx, nil, "create", "token", c.account, "--namespace="+c.namespace, "--duration=24h")
	if err != nil {
		return nil, err
	}
	if err := p.writeKubeconfig(c.name+".kubeconfig", map[string]string{"token": token}); err != nil {
		return nil, err
	}

	number, err := strconv.Atoi(ports[0])
	if err != nil {
		return nil, err
	}
	config["webhook"] = map[string]any{"host": "127.0.0.1", "port": number, "certDir": certificates}
	health := "127.0.0.1:" + ports[1]
	config["health"] = map[string]any{"healthProbeBindAddress": health}
	metrics, _ := config["metrics"].(map[string]any)
	if metrics == nil {
		metrics = map[string]any{}
	}
	p.metrics[c.namespace].serve(metrics["bindAddress"], ports[2])
	metrics["bindAddress"] = "127.0.0.1:" + ports[2]
	config["metrics"] = metrics
	config["leaderElection"] = map[string]any{"leaderElect": false}
	text, err := yaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	if err := p.write(c.name+"-configuration.yaml", text); err != nil {
		return nil, err
	}
	s, err := p.start(c.name, "--config="+p.path(c.name+"-configuration.yaml"),
		"--kubeconfig="+p.path(c.name+".kubeconfig"), "--zap-log-level=info")
	if err != nil {
		return nil, err
	}
	if c.secret != "" {
		if err := p.poll(ctx, s, func() error { return p.mount(ctx, c, certificates) }); err != nil {
			return s, err
		}
	}
	return s, p.ready(ctx, s, "http://"+health+"/readyz")
}

// mount writes the files of a program's certificate Secret, as the kubelet would.
func (p *Plane) mount(ctx context.Context, c controller, dir string) error {
	out, err := p.Kubectl(ctx, nil, "get", "secret", c.secret, "--namespace="+c.namespace, "-o", "json")
	if err != nil {
		return err
	}
	var secret struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(out), &secret); err != nil {
		return err
	}
	if len(secret.Data["tls.crt"]) == 0 {
		return fmt.Errorf("secret %s has no certificate yet", c.secret)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range secret.Data {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Prepare makes the plane ready for a deploy folder. For a folder with Kueue it installs
// Kueue and starts it, or restarts it, with the configuration in
// kubernetes/system/kueue-configuration.yaml. It changes the addresses, the paths of
// certificates, and leader election, which needs a cluster. For a folder with KAI Scheduler
// it only creates the namespace: the plane does not run KAI Scheduler. It refuses a folder
// for which a GitOps tool installs Kueue: see StartCharts.
func (p *Plane) Prepare(ctx context.Context, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "gitops")); err == nil {
		return fmt.Errorf("%s: a GitOps tool installs Kueue", folder)
	}
	file := filepath.Join(folder, "kubernetes/system/kueue-configuration.yaml")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p.Apply(ctx,
			[]map[string]any{
				{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kai-scheduler"}},
			})
	} else if err != nil {
		return err
	}
	var object struct{ Data map[string]string }
	if err := yaml.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	const key = "controller_manager_config.yaml"
	if object.Data[key] == "" {
		return fmt.Errorf("%s: no data %q", file, key)
	}
	p.StopKueue()
	if err := p.configureKueue(object.Data[key]); err != nil {
		return fmt.Errorf("%s: %s: %w", file, key, err)
	}
	webhooks := filepath.Join(folder, "kubernetes/system/kueue-webhooks")
	if err := p.installController(ctx, kueue, p.kueuePorts[0], webhooks); err != nil {
		return err
	}
	return p.StartKueue(ctx)
}

// configureKueue sets the configuration with which StartKueue starts Kueue, from a
// configuration for a cluster.
func (p *Plane) configureKueue(text string) (err error) {
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return err
	}
	if p.kueuePorts == nil {
		if p.kueuePorts, err = p.ports.take(4); err != nil {
			return err
		}
	}
	port, err := strconv.Atoi(p.kueuePorts[3])
	if err != nil {
		return err
	}
	config["visibilityServer"] = map[string]any{"bindAddress": "127.0.0.1", "bindPort": port}
	const name = "visibility-server"
	if err := p.authority.issue(p.path(visibilityCertificates), name, nil,
		[]string{name + "." + kueue.namespace + ".svc"}); err != nil {
		return err
	}
	p.kueueConfig, err = yaml.Marshal(config)
	return err
}

// StartKueue starts Kueue with the configuration of the folder for which the plane
// was last prepared, and waits until the API server reaches its webhooks.
func (p *Plane) StartKueue(ctx context.Context) (err error) {
	config := map[string]any{}
	if err := yaml.Unmarshal(p.kueueConfig, &config); err != nil {
		return err
	}
	if p.kueue, err = p.runController(ctx, kueue, config, p.kueuePorts); err != nil {
		return err
	}
	// The program runs before its certificate has reached the API server.
	flavor := []byte("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: probe}}")
	return p.poll(ctx, p.kueue, func() error {
		_, err := p.Kubectl(ctx, flavor, "create", "--dry-run=server", "-f", "-")
		return err
	})
}

// StopKueue stops Kueue if it runs, like scaling its Deployment to zero. The API
// server then refuses every request that one of its webhooks would handle.
func (p *Plane) StopKueue() {
	if p.kueue == nil {
		return
	}
	p.end(p.kueue)
	p.kueue = nil
}

// Bin returns the folder of the plane's programs.
func (p *Plane) Bin() string { return p.programs.bin() }

// decode reads a stream of YAML documents.
func decode(text []byte) ([]map[string]any, error) {
	var objects []map[string]any
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, err
		}
		if len(object) > 0 {
			objects = append(objects, object)
		}
	}
	return objects, nil
}
