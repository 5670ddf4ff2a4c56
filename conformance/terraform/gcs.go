package terraform

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// bucket is a double of Cloud Storage for Terraform's backend gcs. It lists, reads,
// writes and deletes the objects of one bucket, and respects the generations with
// which the backend locks a state.
type bucket struct {
	name string

	mu      sync.Mutex
	objects map[string]object
	last    int // generation
}

type object struct {
	content    []byte
	generation int
}

// newBucket returns an empty bucket.
func newBucket(name string) *bucket { return &bucket{name: name, objects: map[string]object{}} }

// bucketVariables returns the environment variables with which the backend finds the bucket
// that a server has.
func bucketVariables(server string) []string {
	return []string{
		"GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT=" + server + "/storage/v1/", "GOOGLE_OAUTH_ACCESS_TOKEN=none",
	}
}

// count returns the number of objects whose names have the suffix.
func (b *bucket) count(suffix string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.objects {
		if strings.HasSuffix(name, suffix) {
			n++
		}
	}
	return n
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path, objects := r.URL.EscapedPath(), "/storage/v1/b/"+b.name+"/o"
	name, ok := strings.CutPrefix(path, objects)
	switch {
	case path == "/upload"+objects && r.Method == http.MethodPost:
		b.write(w, r)
		return
	case ok && name == "" && r.Method == http.MethodGet:
		b.list(w, r.URL.Query())
		return
	case !ok: // the way in which objects are read
		name, ok = strings.CutPrefix(path, "/"+b.name)
	}
	if name, err := url.PathUnescape(strings.TrimPrefix(name, "/")); ok && err == nil {
		b.serve(w, r, name)
		return
	}
	http.Error(w, r.Method+" "+path+" is not played here", http.StatusNotImplemented)
}

func (b *bucket) list(w http.ResponseWriter, query url.Values) {
	var out struct {
		Items []map[string]string `json:"items"`
	}
	for name, o := range b.objects {
		if strings.HasPrefix(name, query.Get("prefix")) {
			out.Items = append(out.Items, b.describe(name, o))
		}
	}
	respond(w, out)
}

func (b *bucket) serve(w http.ResponseWriter, r *http.Request, name string) {
	o, ok := b.objects[name]
	query := r.URL.Query()
	match := query.Get("ifGenerationMatch")
	switch {
	case !ok:
		http.Error(w, "there is no "+name, http.StatusNotFound)
	case match != "" && match != strconv.Itoa(o.generation):
		http.Error(w, "another generation", http.StatusPreconditionFailed)
	case r.Method == http.MethodDelete:
		delete(b.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/storage/v1/") && query.Get("alt") != "media":
		respond(w, b.describe(name, o))
	case r.Method == http.MethodGet:
		w.Header().Set("X-Goog-Generation", strconv.Itoa(o.generation))
		w.Header().Set("Content-Length", strconv.Itoa(len(o.content)))
		_, _ = w.Write(o.content)
	default:
		http.Error(w, r.Method+" is not played here", http.StatusNotImplemented)
	}
}

// write stores an object that one request sends together with its description.
func (b *bucket) write(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.URL.Query().Get("uploadType") != "multipart" {
		http.Error(w, "an upload in parts is not played here", http.StatusNotImplemented)
		return
	}
	var description struct{ Name string }
	parts := multipart.NewReader(r.Body, params["boundary"])
	var content []byte
	first, err := parts.NextPart()
	if err == nil {
		err = json.NewDecoder(first).Decode(&description)
	}
	if err == nil {
		var second *multipart.Part
		if second, err = parts.NextPart(); err == nil {
			content, err = io.ReadAll(second)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	match := r.URL.Query().Get("ifGenerationMatch")
	if match != "" && match != strconv.Itoa(b.objects[description.Name].generation) {
		http.Error(w, "another generation", http.StatusPreconditionFailed)
		return
	}
	b.last++
	o := object{content, b.last}
	b.objects[description.Name] = o
	respond(w, b.describe(description.Name, o))
}

func (b *bucket) describe(name string, o object) map[string]string {
	return map[string]string{
		"kind": "storage#object", "bucket": b.name, "name": name, "size": strconv.Itoa(len(o.content)),
		"generation": strconv.Itoa(o.generation), "metageneration": "1",
	}
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
