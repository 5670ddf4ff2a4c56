package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Object is an object in the cluster, with its fields in JSON.
type Object struct {
	APIVersion, Kind string
	JSON             json.RawMessage
}

// resource is a kind of objects that the API server has.
type resource struct {
	name       string // in paths
	version    string // with the group
	namespaced bool
}

// path returns the path of the resource's objects in a namespace, or in all if it is "".
func (r resource) path(namespace string) string {
	path := "/apis/"
	if !strings.Contains(r.version, "/") {
		path = "/api/"
	}
	path += r.version + "/"
	if r.namespaced && namespace != "" {
		path += "namespaces/" + namespace + "/"
	}
	return path + r.name
}

// List returns the objects of kinds, as kubectl get finds them with the same options. kinds
// holds plural names, separated by commas. The options are --all-namespaces, --namespace=NAME,
// --selector=LABELS and --field-selector=FIELDS. Tests look at the cluster all the time, and
// List needs a tenth of the CPU time of kubectl.
func (p *Plane) List(ctx context.Context, kinds string, options ...string) ([]Object, error) {
	namespace, query := "default", url.Values{}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "--all-namespaces":
			namespace = ""
		case "--namespace":
			namespace = value
		case "--selector":
			query.Set("labelSelector", value)
		case "--field-selector":
			query.Set("fieldSelector", value)
		default:
			return nil, fmt.Errorf("unknown option %s", option)
		}
	}
	var all []Object
	for kind := range strings.SplitSeq(kinds, ",") {
		found, err := p.resource(ctx, kind)
		if err != nil {
			return nil, err
		}
		var list struct {
			APIVersion, Kind string
			Items            []json.RawMessage
		}
		if err := p.read(ctx, found.path(namespace)+"?"+query.Encode(), "application/json", &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			all = append(all, Object{list.APIVersion, strings.TrimSuffix(list.Kind, "List"), item})
		}
	}
	return all, nil
}

// resource returns what the API server says of a kind, by its name or its plural name. The
// first group that has the kind counts, as for kubectl.
func (p *Plane) resource(ctx context.Context, kind string) (resource, error) {
	if found, ok := p.resources[kind]; ok {
		return found, nil
	}
	// The definition of the kind may be new.
	p.resources = map[string]resource{}
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for _, path := range []string{"/api", "/apis"} {
		var groups struct {
			Items []struct {
				Metadata struct{ Name string }
				Versions []struct {
					Version   string
					Resources []struct {
						Resource, Scope string
						ResponseKind    struct{ Kind string }
					}
				}
			}
		}
		if err := p.read(ctx, path, aggregated, &groups); err != nil {
			return resource{}, err
		}
		for _, group := range groups.Items {
			for _, v := range group.Versions { // the preferred version first
				for _, r := range v.Resources {
					if _, known := p.resources[r.Resource]; !known {
						version := strings.TrimPrefix(group.Metadata.Name+"/"+v.Version, "/")
						found := resource{r.Resource, version, r.Scope == "Namespaced"}
						p.resources[r.Resource], p.resources[r.ResponseKind.Kind] = found, found
					}
				}
			}
		}
	}
	found, ok := p.resources[kind]
	if !ok {
		return resource{}, fmt.Errorf("the API server has no %s", kind)
	}
	return found, nil
}

// Member is a user of the cluster. The zero Member is the administrator.
type Member struct {
	User   string
	Groups []string
}

// Submit creates an object as a member does, with kubectl create's strict validation. In a dry
// run, the API server refuses or accepts it without keeping it. A warning of the API server is
// an error, as it is in Kubectl. Submit needs a tenth of the CPU time of kubectl.
func (p *Plane) Submit(ctx context.Context, as Member, object map[string]any, dryRun bool) error {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	found, err := p.resource(ctx, fmt.Sprint(object["kind"]))
	if err != nil {
		return err
	}
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	query := url.Values{"fieldValidation": {"Strict"}}
	if dryRun {
		query.Set("dryRun", "All")
	}
	return p.act(ctx, as, http.MethodPost, found.path(namespace)+"?"+query.Encode(), body)
}

// Delete deletes an object of a kind as a member does, and what the object owns. An object that
// is gone already is no error.
func (p *Plane) Delete(ctx context.Context, as Member, kind, namespace, name string) error {
	found, err := p.resource(ctx, kind)
	if err != nil {
		return err
	}
	return p.act(ctx, as, http.MethodDelete, found.path(namespace)+"/"+name+"?propagationPolicy=Background", nil)
}

// act sends a request of a member to the API server.
func (p *Plane) act(ctx context.Context, as Member, method, path string, body []byte) error {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if as.User != "" {
		header["Impersonate-User"], header["Impersonate-Group"] = []string{as.User}, as.Groups
	}
	response, text, err := p.send(ctx, method, path, header, body)
	if err != nil {
		return err
	}
	var status struct{ Message string }
	switch warnings := response.Header.Values("Warning"); {
	case method == http.MethodDelete && response.StatusCode == http.StatusNotFound:
		return nil
	case response.StatusCode >= http.StatusBadRequest:
		if err := json.Unmarshal(text, &status); err != nil {
			return fmt.Errorf("%s %s: %s\n%s", method, path, response.Status, text)
		}
		return errors.New(status.Message)
	case len(warnings) > 0:
		return fmt.Errorf("%s %s: warned: %q", method, path, warnings)
	}
	return nil
}

// read reads a path of the API server as the administrator.
func (p *Plane) read(ctx context.Context, path, accept string, into any) error {
	response, text, err := p.send(ctx, http.MethodGet, path, http.Header{"Accept": {accept}}, nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s\n%s", path, response.Status, text)
	}
	return json.Unmarshal(text, into)
}

// send sends a request to the API server as the administrator, and returns the answer with its
// text. It tries again for as long as the API server asks for that, for example when a
// definition is new.
func (p *Plane) send(ctx context.Context, method, path string, header http.Header, body []byte) (
	*http.Response, []byte, error) {
	if p.client == nil {
		certificate, err := tls.LoadX509KeyPair(p.path("admin", "tls.crt"), p.path("admin", "tls.key"))
		if err != nil {
			return nil, nil, err
		}
		p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: p.authority.pool(), Certificates: []tls.Certificate{certificate},
		}}}
	}
	for {
		request, err := http.NewRequestWithContext(ctx, method, p.server+path, bytes.NewReader(body))
		if err != nil {
			return nil, nil, err
		}
		request.Header = header
		response, err := p.client.Do(request)
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, nil, err
		}
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			return response, text, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%s: %w: %s\n%s", path, ctx.Err(), response.Status, text)
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
}
