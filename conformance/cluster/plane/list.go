package plane

import (
	"context"
	"crypto/tls"
	"encoding/json"
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
	version    string // with the group
	namespaced bool
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
		path := "/apis/"
		if !strings.Contains(found.version, "/") {
			path = "/api/"
		}
		path += found.version + "/"
		if found.namespaced && namespace != "" {
			path += "namespaces/" + namespace + "/"
		}
		var list struct {
			APIVersion, Kind string
			Items            []json.RawMessage
		}
		if err := p.read(ctx, path+kind+"?"+query.Encode(), "application/json", &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			all = append(all, Object{list.APIVersion, strings.TrimSuffix(list.Kind, "List"), item})
		}
	}
	return all, nil
}

// resource returns what the API server says of a kind. The first group that has the kind
// counts, as for kubectl.
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
					Resources []struct{ Resource, Scope string }
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
						p.resources[r.Resource] = resource{strings.TrimPrefix(group.Metadata.Name+"/"+v.Version, "/"),
							r.Scope == "Namespaced"}
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

// read reads a path of the API server as the administrator. It tries again for as long as
// the API server asks for that.
func (p *Plane) read(ctx context.Context, path, accept string, into any) error {
	if p.client == nil {
		certificate, err := tls.LoadX509KeyPair(p.path("admin", "tls.crt"), p.path("admin", "tls.key"))
		if err != nil {
			return err
		}
		p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: p.authority.pool(), Certificates: []tls.Certificate{certificate},
		}}}
	}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.server+path, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Accept", accept)
		response, err := p.client.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return err
		}
		if response.StatusCode == http.StatusOK {
			return json.Unmarshal(text, into)
		}
		// The API server asks for another try, for example when a definition is new.
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			return fmt.Errorf("%s: %s\n%s", path, response.Status, text)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %s\n%s", path, ctx.Err(), response.Status, text)
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
}
