package workflows_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The owners of comments: of the token with which a workflow comments, and another
// person.
const (
	ourselves = 5
	somebody  = 6
)

// marker is the first line of a review, which standInBatchwright prints, and review is
// the whole text.
const (
	marker = "<!-- batchwright review: p -->\n"
	review = marker + "\n### Review & 1 + 1 = 2, 100%\n"
)

// comment is a comment on a pull request.
type comment struct {
	id, owner int
	body      string
}

// discussion serves the comments of one pull request, as the REST APIs of GitHub and
// GitLab do. Listing answers with 200, creating with 201, updating with 200 and deleting
// with 204, or 404 if the comment is not there. Without the right, writing answers with
// 403.
//
// Sources: GitHub documentation, "REST API endpoints for issue comments"; GitLab
// documentation, "Notes API" and "Troubleshooting the REST API".
type discussion struct {
	*httptest.Server
	mutex    sync.Mutex
	comments []comment
	readOnly bool
	// loses reports whether each comment is deleted by somebody else once it is listed.
	loses bool
}

const (
	githubComments = "/repos/o/r/issues/7/comments"
	githubComment  = "/repos/o/r/issues/comments/"
	gitlabComments = "/projects/3/merge_requests/7/notes"
)

func newDiscussion(t *testing.T, comments []comment) *discussion {
	d := &discussion{comments: slices.Clone(comments)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// ServeHTTP answers one request.
func (d *discussion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	token := r.Header.Get("PRIVATE-TOKEN") + r.Header.Get("Authorization")
	name, single := strings.CutPrefix(r.URL.Path, githubComment)
	if !single {
		name, single = strings.CutPrefix(r.URL.Path, gitlabComments+"/")
	}
	list := r.URL.Path == githubComments || r.URL.Path == gitlabComments
	id, _ := strconv.Atoi(name)
	at := slices.IndexFunc(d.comments, func(c comment) bool { return c.id == id })
	switch {
	case token != "token" && token != "Bearer token":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodGet && r.URL.Path == "/user":
		fmt.Fprintf(w, `{"id": %d}`, ourselves)
	case r.Method == http.MethodGet && list:
		d.serveList(w, r)
	case d.readOnly:
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodPost && list:
		d.comments = append(d.comments, comment{1000, ourselves, bodyOf(r)})
		w.WriteHeader(http.StatusCreated)
	case !single || at < 0:
		http.NotFound(w, r)
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, githubComment),
		r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, gitlabComments):
		d.comments[at].body = bodyOf(r)
	case r.Method == http.MethodDelete:
		d.comments = slices.Delete(d.comments, at, at+1)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// serveList answers with one page of comments, in the forms of both services.
func (d *discussion) serveList(w http.ResponseWriter, r *http.Request) {
	size, page := 30, 1
	for name, number := range map[string]*int{"per_page": &size, "page": &page} {
		if n, err := strconv.Atoi(r.FormValue(name)); err == nil {
			*number = n
		}
	}
	listed := []map[string]any{}
	for _, c := range d.comments[min((page-1)*size, len(d.comments)):min(page*size, len(d.comments))] {
		login := "somebody"
		if c.owner == ourselves {
			login = "github-actions[bot]"
		}
		listed = append(listed, map[string]any{
			"id": c.id, "body": c.body, "author": map[string]any{"id": c.owner},
			"user": map[string]any{"id": c.owner, "login": login},
		})
	}
	if d.loses {
		d.comments = nil
	}
	_ = json.NewEncoder(w).Encode(listed)
}

// bodyOf returns the text of a comment that a request writes, in JSON or as a form.
func bodyOf(r *http.Request) string {
	if r.Header.Get("Content-Type") != "application/json" {
		return r.PostFormValue("body")
	}
	var request struct{ Body string }
	_ = json.NewDecoder(r.Body).Decode(&request)
	return request.Body
}

// standInGhAPI is "gh api" for the server at API.
const standInGhAPI = `#!/bin/bash
set -euo pipefail
shift
method=GET pages="" request=(curl --fail --silent --show-error --header "Authorization: Bearer $GH_TOKEN")
while [ $# -gt 0 ]; do
  case "$1" in
  --paginate) pages=1 ;;
  --silent) request+=(--output /dev/null) ;;
  --method) method=$2; shift ;;
  -F) request+=(--data-urlencode "${2/=@/@}"); shift ;;
  *) path=$1 ;;
  esac
  shift
done
page=1
while [ -n "$pages" ] && list=$("${request[@]}" "$API/$path?page=$page") && [ "$list" != "[]" ]; do
  printf '%s' "$list"
  page=$((page + 1))
done
[ -n "$pages" ] || "${request[@]}" --request "$method" "$API/$path"
`

// commenters returns for each template a function that runs its lines which comment on a
// pull request. The review says that something changes if changed is "1".
func commenters() map[string]func(t *testing.T, d *discussion, changed string) (log string, err error) {
	return map[string]func(t *testing.T, d *discussion, changed string) (string, error){
		"github.yml": func(t *testing.T, d *discussion, changed string) (string, error) {
			var w workflow
			readYAML(t, templates+"github.yml", &w)
			r := newShell(t, map[string]string{
				"API": d.URL, "GH_TOKEN": "token", "PULL_REQUEST": "7", "CHANGED": changed,
			})
			writeFile(t, r.runPath("bin/gh"), standInGhAPI)
			writeFile(t, r.runPath("review.md"), review)
			for _, step := range w.Jobs["review"].Steps {
				if step.Name == "Comment on the pull request" {
					return r.runBash(step.Run)
				}
			}
			t.Fatal("no step comments")
			return "", nil
		},
		"gitlab-ci.yml": func(t *testing.T, d *discussion, changed string) (string, error) {
			var file struct {
				Batchwright struct{ Script []string }
			}
			readYAML(t, templates+"gitlab-ci.yml", &file)
			r := newShell(t, map[string]string{
				"CI_API_V4_URL": d.URL, "CI_MERGE_REQUEST_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7",
				"CI_MERGE_REQUEST_DIFF_BASE_SHA": "0123456789ab", "REVIEW_TOKEN": "token", "DIFF": changed,
			})
			return r.runBash(strings.Join(file.Batchwright.Script, "\n"))
		},
		"cloudbuild.yaml": func(t *testing.T, d *discussion, changed string) (string, error) {
			r := newShell(t, map[string]string{"REPO_FULL_NAME": "o/r", "_PR_NUMBER": "7", "REVIEW_TOKEN": "token"})
			writeFile(t, r.runPath("bin/apt-get"), "#!/bin/bash\n")
			writeFile(t, r.runPath("bin/review.md"), review)
			writeFile(t, r.runPath("bin/changed"), changed+"\n")
			curl := "#!/bin/bash\nPATH=" + os.Getenv("PATH") + " exec curl \"${@/#https:\\/\\/api.github.com/" +
				strings.ReplaceAll(d.URL, "/", `\/`) + "}\"\n"
			writeFile(t, r.runPath("bin/curl"), curl)
			return r.runStep(t, "comment")
		},
	}
}

// TestComment plays the lines of each template that comment on a pull request against
// an API with comments: a review gets one comment, which is updated, and deleted if
// nothing is left to say.
func TestComment(t *testing.T) {
	ours := comment{12, ourselves, marker + "\nan earlier one"}
	others := []comment{
		{10, ourselves, "<!-- batchwright review: p-b -->\nof another platform"},
		{11, somebody, marker + "\na copy"},
	}
	many := make([]comment, 130)
	for i := range many {
		many[i] = comment{200 + i, somebody, "a comment"}
	}
	then := func(before []comment, last comment) []comment { return slices.Concat(before, []comment{last}) }
	updated, created := comment{12, ourselves, review}, comment{1000, ourselves, review}
	for name, test := range map[string]struct {
		before          []comment
		changed         string
		after           []comment
		readOnly, loses bool
		fails           bool
	}{
		"the first review":         {changed: "1", after: []comment{created}},
		"the first of ours":        {before: others, changed: "1", after: then(others, created)},
		"a later one":              {before: []comment{ours}, changed: "1", after: []comment{updated}},
		"after many comments":      {before: then(many, ours), changed: "1", after: then(many, updated)},
		"nothing changes":          {before: others, changed: "0", after: others},
		"nothing changes any more": {before: then(others, ours), changed: "0", after: others},
		"no right to create":       {changed: "1", readOnly: true, fails: true},
		"no right to update": {
			before: []comment{ours}, changed: "1", after: []comment{ours}, readOnly: true, fails: true,
		},
		"no right to delete": {
			before: []comment{ours}, changed: "0", after: []comment{ours}, readOnly: true, fails: true,
		},
		"deleted by somebody": {before: []comment{ours}, changed: "0", loses: true, fails: true},
	} {
		for template, run := range commenters() {
			t.Run(template+"/"+name, func(t *testing.T) {
				t.Parallel()
				d := newDiscussion(t, test.before)
				d.readOnly, d.loses = test.readOnly, test.loses
				log, err := run(t, d, test.changed)
				failed := err != nil
				if template == "github.yml" { // the run goes on: a pull request from a fork has no right
					failed = err != nil || strings.Contains(log, "::notice title=batchwright::this run could not")
				}
				if failed != test.fails || template == "github.yml" && err != nil {
					t.Errorf("fails: %v, want %v\n%s", failed, test.fails, log)
				}
				if !slices.Equal(d.comments, test.after) {
					t.Errorf("comments %v, want %v\n%s", d.comments, test.after, log)
				}
			})
		}
	}
}
