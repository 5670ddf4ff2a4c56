package plane

import (
	"context"
	"fmt"
	"strconv"
)

// chartJobSet is JobSet as its chart installs it (JobSet 0.12: charts/jobset).
var chartJobSet = controller{
	jobset.name, jobset.module, jobset.namespace, "jobset-controller", jobset.service, jobset.secret,
}

// Adapt returns the objects of the charts of Kueue and JobSet as the plane can have them,
// in their order: see Release. It leaves other objects as they are.
func (p *Plane) Adapt(objects []map[string]any) (adapted []map[string]any, err error) {
	if p.kueuePorts == nil {
		if p.kueuePorts, err = p.ports.take(4); err != nil {
			return nil, err
		}
	}
	for _, object := range objects {
		for _, c := range []struct {
			controller
			port string
		}{{kueue, p.kueuePorts[0]}, {chartJobSet, p.jobSetPorts[0]}} {
			if !belongs(object, c.namespace) {
				continue
			}
			port, err := strconv.Atoi(c.port)
			if err == nil {
				err = p.adapt(object, c.controller, port)
			}
			if err != nil {
				return nil, err
			}
		}
		adapted = append(adapted, object)
	}
	return adapted, nil
}

// belongs reports whether an object is in a namespace, or names a Service in it.
func belongs(value any, namespace string) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range []string{"metadata", "service"} {
			if inner, ok := value[field].(map[string]any); ok && inner["namespace"] == namespace {
				return true
			}
		}
		for _, element := range value {
			if belongs(element, namespace) {
				return true
			}
		}
	case []any:
		for _, element := range value {
			if belongs(element, namespace) {
				return true
			}
		}
	}
	return false
}

// StartCharts starts JobSet and Kueue with the accounts and the configuration that their
// charts have brought. It does what the kubelet and the Deployments do in a cluster.
func (p *Plane) StartCharts(ctx context.Context) error { return p.startInstalled(ctx, chartJobSet) }

// WriteReleases writes the files that Release returns, for somebody who installs Kueue and
// JobSet from them on an empty plane. StartReleases starts both once they are installed.
func (p *Plane) WriteReleases() (err error) {
	if p.kueuePorts == nil {
		if p.kueuePorts, err = p.ports.take(4); err != nil {
			return err
		}
	}
	if err := p.writeRelease(kueue, p.kueuePorts[0]); err != nil {
		return err
	}
	return p.writeRelease(jobset, p.jobSetPorts[0])
}

// StartReleases is StartCharts for releases.
func (p *Plane) StartReleases(ctx context.Context) error { return p.startInstalled(ctx, jobset) }

// startInstalled starts JobSet and Kueue with the configuration that is in the cluster.
func (p *Plane) startInstalled(ctx context.Context, jobSet controller) error {
	const key = "controller_manager_config.yaml"
	text, err := p.Kubectl(ctx, nil, "get", "configmap", "kueue-manager-config", "--namespace="+kueue.namespace,
		`--output=go-template={{index .data "`+key+`"}}`)
	if err != nil {
		return err
	}
	if err := p.configureKueue(text); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if err := p.runJobSet(ctx, jobSet); err != nil {
		return err
	}
	return p.StartKueue(ctx)
}
