package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// endpoint is the address at which a controller serves its metrics.
type endpoint struct {
	pods    map[string]string // labels of the release's pods
	port    int               // that the pods would serve at
	address string            // where the program does, "" if it does not run
}

// serve records the loopback port of a program that is configured to serve at an
// address. A nil address means the release's own address.
func (e *endpoint) serve(configured any, port string) {
	e.port, e.address = 8443, "127.0.0.1:"+port
	if text, ok := configured.(string); ok {
		e.port, _ = strconv.Atoi(text[strings.LastIndex(text, ":")+1:])
	}
}

// podLabels returns the labels of a Deployment's pods.
func podLabels(deployment map[string]any) (map[string]string, error) {
	var d struct {
		Spec struct {
			Template struct {
				Metadata struct{ Labels map[string]string }
			}
		}
	}
	text, err := json.Marshal(deployment)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d.Spec.Template.Metadata.Labels, err
}

// Prometheus scrapes the controllers of the plane.
type Prometheus struct {
	plane   *Plane
	process *process
	url     string
}

// scrapeInterval is short, because tests wait for samples.
const scrapeInterval = time.Second

// StartPrometheus starts a Prometheus as Managed Prometheus would run it in a
// cluster with that name and location. It scrapes the targets of the PodMonitorings
// on the plane, and loads a file of rules. StartPrometheus waits until every target
// has been scraped. Stopping the plane also stops the Prometheus.
func (p *Plane) StartPrometheus(ctx context.Context, cluster, location, rules string) (*Prometheus, error) {
	configs, err := p.scrapeConfigs(ctx, cluster, location)
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(map[string]any{
		"global": map[string]any{
			"scrape_interval": scrapeInterval.String(), "evaluation_interval": scrapeInterval.String(),
		},
		"rule_files":     []string{rules},
		"scrape_configs": configs,
	})
	if err != nil {
		return nil, err
	}
	if err := p.write("prometheus.yaml", text); err != nil {
		return nil, err
	}
	free, err := p.ports.take(1)
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + free[0]
	s, err := p.start("prometheus", "--config.file="+p.path("prometheus.yaml"),
		"--storage.tsdb.path="+p.path("prometheus"),
		"--web.listen-address="+address, "--log.level=warn")
	if err != nil {
		return nil, err
	}
	m := &Prometheus{p, s, "http://" + address}
	if err := p.ready(ctx, s, m.url+"/-/ready"); err != nil {
		return nil, err
	}
	return m, p.poll(ctx, s, func() error { return m.scraped(ctx, len(configs)) })
}

// Stop stops the Prometheus.
func (m *Prometheus) Stop() { m.plane.end(m.process) }

// scraped returns an error that says why a target has not been scraped yet.
func (m *Prometheus) scraped(ctx context.Context, targets int) error {
	up, err := m.Query(ctx, "up == 1", time.Now())
	if err != nil || len(up) == targets {
		return err
	}
	response, err := http.Get(m.url + "/api/v1/targets")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			ActiveTargets []struct{ ScrapePool, ScrapeURL, LastError string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	return fmt.Errorf("%d of %d targets can be scraped: %+v", len(up), targets, answer.Data.ActiveTargets)
}

// Sample is a series at one time.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Query evaluates an expression at a time.
func (m *Prometheus) Query(ctx context.Context, expr string, at time.Time) ([]Sample, error) {
	query := url.Values{"query": {expr}, "time": {at.Format(time.RFC3339Nano)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/api/v1/query?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any // time, value
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	var samples []Sample
	for _, series := range answer.Data.Result {
		text, _ := series.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, Sample{series.Metric, value})
	}
	return samples, nil
}

// podMonitoring holds the fields of a PodMonitoring that the plane can simulate.
// Source: prometheus-engine 0.17, doc/api.md.
type podMonitoring struct {
	Selector  struct{ MatchLabels map[string]string }
	Endpoints []struct {
		Port          int
		Scheme        string
		Path          string
		Interval      string
		TLS           struct{ InsecureSkipVerify bool }
		Authorization struct {
			Type        string
			Credentials struct {
				Secret struct{ Name, Key string }
			}
		}
	}
}

// scrapeConfigs turns the PodMonitorings into configuration of Prometheus as
// Managed Prometheus does: every target gets its labels, and a metric's own label
// of the same name becomes exported_NAME. Two things differ: the interval, and the
// addresses. The controllers run beside the cluster, on loopback, so no pods are
// discovered. Source: prometheus-engine 0.17,
// pkg/operator/apis/monitoring/v1/pod_config.go.
func (p *Plane) scrapeConfigs(ctx context.Context, cluster, location string) ([]map[string]any, error) {
	out, err := p.Kubectl(ctx, nil, "get", "podmonitorings", "--all-namespaces", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name, Namespace string }
			Spec     json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, err
	}
	var configs []map[string]any
	for _, item := range list.Items {
		id := "PodMonitoring " + item.Metadata.Namespace + "/" + item.Metadata.Name
		var spec podMonitoring
		strict := json.NewDecoder(bytes.NewReader(item.Spec))
		strict.DisallowUnknownFields() // what is not played is not held against anything
		if err := strict.Decode(&spec); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		target := p.metrics[item.Metadata.Namespace]
		if target == nil || target.address == "" {
			return nil, fmt.Errorf("%s: no controller runs for that namespace", id)
		}
		for name, value := range spec.Selector.MatchLabels {
			if target.pods[name] != value {
				return nil, fmt.Errorf("%s selects %s=%s, and the release's pods have %v", id, name, value, target.pods)
			}
		}
		for _, e := range spec.Endpoints {
			if e.Port != target.port {
				return nil, fmt.Errorf("%s: port %d, and the pods serve metrics at %d", id, e.Port, target.port)
			}
			secret := e.Authorization.Credentials.Secret
			token, err := p.collectorSecret(ctx, item.Metadata.Namespace, secret.Name, secret.Key)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			file := item.Metadata.Namespace + "-metrics.token"
			if err := p.write(file, token); err != nil {
				return nil, err
			}
			instance := fmt.Sprintf("%s-controller-manager-0:%d", item.Metadata.Name, e.Port)
			configs = append(configs, map[string]any{
				"job_name":      fmt.Sprintf("%s/%d", id, e.Port),
				"scheme":        e.Scheme,
				"metrics_path":  e.Path,
				"authorization": map[string]any{"type": e.Authorization.Type, "credentials_file": p.path(file)},
				"tls_config":    map[string]any{"insecure_skip_verify": e.TLS.InsecureSkipVerify},
				"static_configs": []any{map[string]any{
					"targets": []string{target.address},
					"labels": map[string]string{
						"project_id": "plane", "location": location, "cluster": cluster,
						"namespace": item.Metadata.Namespace, "job": item.Metadata.Name, "instance": instance,
					},
				}},
			})
		}
	}
	return configs, nil
}

// collectorSecret reads a Secret with the rights of Managed Prometheus' collector.
func (p *Plane) collectorSecret(ctx context.Context, namespace, name, key string) ([]byte, error) {
	out, err := p.Kubectl(ctx, nil, "get", "secret", name, "--namespace="+namespace, "-o", "json",
		"--as=system:serviceaccount:gmp-system:collector")
	if err != nil {
		return nil, err
	}
	var secret struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(out), &secret); err != nil {
		return nil, err
	}
	if len(secret.Data[key]) == 0 {
		return nil, fmt.Errorf("secret %s has no %q", name, key)
	}
	return secret.Data[key], nil
}

// MetricsStatus returns the HTTP status with which the controller of a namespace
// answers a request for its metrics with a token, or without one if token is "".
func (p *Plane) MetricsStatus(ctx context.Context, namespace, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+p.metrics[namespace].address+"/metrics",
		nil)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The controllers sign their certificates themselves.
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	return response.Status, response.Body.Close()
}
