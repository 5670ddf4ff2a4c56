# The two targets a newcomer needs: build and test. CONTRIBUTING.md describes the rest.

.PHONY: build rehearse-kai test quick conformance boards site mutants golden race format check bench fuzz release clean

# The flags of a release, for everything: packages are compiled once for the programs, their
# tests, all clones on a machine, and releases.
export CGO_ENABLED ?= 0
export GOFLAGS := -trimpath $(GOFLAGS)

# batchwright-rehearse contains Kueue: the first time it takes some minutes.
build:
	go build -o bin/batchwright ./cmd/batchwright
	go -C rehearse build -ldflags='-s -w' -o $(CURDIR)/bin/batchwright-rehearse ./cmd/batchwright-rehearse

# batchwright-rehearse-kai contains KAI Scheduler and much of Kubernetes: only rehearsals of
# platforms with KAI Scheduler need it.
rehearse-kai:
	go -C rehearse/kai build -ldflags='-s -w' -o $(CURDIR)/bin/batchwright-rehearse-kai ./cmd/batchwright-rehearse-kai

# make check runs all of go vet, once for all tests. The time limit is for a busy machine.
# Tests are many programs that run for a short time: without the data for debuggers they are
# linked in two thirds of the time, and with less garbage collection they take less CPU time.
TEST = test -vet=off -ldflags='-s -w' -timeout 90m
export GOGC ?= 400

# All tests that require no external tool and, except for workflows, no tool library. Tests
# run both programs: the time limits are not for their first build.
test: build
	go $(TEST) $(VERBOSE) ./...
	go -C conformance/workflows $(TEST) $(VERBOSE) -count=1 .
	go -C conformance/mutants $(TEST) $(VERBOSE) -count=1 -run '^TestPlaces$$' .
	go -C rehearse $(TEST) $(VERBOSE) ./...
	go -C release $(TEST) $(VERBOSE) -short ./...

# The tests to run while editing: the rules, the emitters, all finding cases, and the
# reference systems' folders. Skips long tests and tests that start programs.
quick:
	go $(TEST) -short ./schema ./compiler/... ./emit/... ./golden/folders

# Tests with the real tools: a repository that init makes with cue and, if installed,
# pre-commit; pictures with Mermaid, if Chromium and npm are installed; rehearsal pages in
# Chromium, if installed; and golden folders with Terraform, which must be installed, KAI
# Scheduler's code, Argo CD and Flux, and a control plane (Kubernetes, Kueue, JobSet) with
# Prometheus, built and run here.
conformance:
	conformance/run

# Pictures of the Grafana dashboards with 4, 40 and 400 teams, in bin/boards, for a
# person to look at. It tests nothing, and needs npm and Chromium.
boards:
	conformance/boards/run

# The documentation site in bin/site/dist: docs/ with a reference that the program generates.
# It needs npm. "npm --prefix bin/site run preview" shows the site.
site:
	go build -o bin/batchwright ./cmd/batchwright
	rm -rf bin/site
	go run ./docs/site bin/batchwright . bin/site
	npm --prefix bin/site ci --ignore-scripts --no-audit --no-fund --silent
	npm --prefix bin/site run build --silent

# Adds mistakes to copies of compiled folders and of the compiler's source, in each run one or
# a few that are independent. The tools of make conformance must detect each. Six run at a
# time on any machine, because control planes mostly wait.
mutants:
	go -C conformance/mutants $(TEST) -count=1 -parallel 6 -v .

# The tests that write goldens. They check them with real parsers first.
golden:
	go test ./compiler/rules ./compiler/blueprint ./compiler/blueprint/load -run '^TestFindings$$' -update
	go test ./golden/folders ./golden/jsonschema ./golden/pulls ./golden/review \
		-run '^Test(Blueprints|TPUForms|GitOps|TakeOver|JSONSchema|Comments|PrintedReviews)$$' -update
	go test ./golden/cli -run '^TestCommandLine$$' -update # it reads goldens of the others
	go test ./golden/references -update

# Runs the race detector on packages that start goroutines or share values between them,
# and on a compilation; golden/rooms checks this list against the source. Of the cases of
# findings, the families from identities to indefinite, labels, load and quota are enough.
CONCURRENT = ./cmd/batchwright/... ./compiler ./compiler/blueprint/... ./compiler/explain ./compiler/exports \
	./compiler/fit ./compiler/importer ./compiler/progress ./compiler/rules ./emit ./emit/disk ./emit/kubeyaml ./emit/review
race: export CGO_ENABLED = 1
race:
	go $(TEST) -race -short -skip '^TestFindings$$/^[^ilq]' $(CONCURRENT)
	go $(TEST) -race ./golden/folders -run '^TestFromFileSystem$$'
	go -C rehearse $(TEST) -race ./program ./world
	go -C rehearse $(TEST) -race -run 'Parts?$$' ./runner

format:
	@files=$$(gofmt -l .) || exit 1; [ -z "$$files" ] || { printf 'gofmt would change:\n%s\n' "$$files"; exit 1; }

# staticcheck omits rehearse/kai, because that requires another version of Kubernetes, which
# takes a minute to read.
check: format
	go build -o bin/ honnef.co/go/tools/cmd/staticcheck
	go -C conformance/lint build -o $(CURDIR)/bin/ github.com/mgechev/revive
	bin/revive -config conformance/lint/revive.toml -set_exit_status ./cmd/... ./compiler/... ./docs/... ./emit/... ./golden/... ./schema/...
	for module in conformance rehearse release; do \
		(cd $$module && $(CURDIR)/bin/revive -config $(CURDIR)/conformance/lint/revive.toml -set_exit_status ./...) || exit 1; \
	done
	for module in . conformance conformance/cluster conformance/gitops conformance/mutants conformance/page conformance/pictures conformance/repository conformance/terraform conformance/workflows rehearse rehearse/kai release; do \
		(cd $$module && go vet ./... && { [ $$module = rehearse/kai ] || $(CURDIR)/bin/staticcheck ./...; } && \
			go mod tidy -diff) || exit 1; \
	done

bench:
	go test -run '^$$' -bench . ./compiler ./emit/folder ./emit/rehearsal/report ./golden/scale
	go -C rehearse test -run '^$$' -bench . -benchtime 1x ./runner

# Every fuzz target for FUZZTIME, one after the other. A failure does not stop the
# others; the targets that failed are listed at the end.
FUZZTIME ?= 10m
fuzz:
	@failed=; \
	for package in $$(go list ./...); do \
		targets=$$(go test -list '^Fuzz' $$package) || failed="$$failed $$package"; \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package || \
				failed="$$failed $$package.$$target"; \
		done; \
	done; \
	if [ -n "$$failed" ]; then printf 'FAILED: %s\n' $$failed; exit 1; fi

# The files of a release in dist, from a tag at HEAD; docs/releases.md describes them.
# With VERIFY=1 everything is built twice, and compared. release/go.mod names the version
# of Go: another one gives other bytes.
release:
	GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' release/go.mod) go -C release run . -version '$(VERSION)' $(if $(VERIFY),-verify)

# The programs of make conformance stay in the user's cache directory, for all clones:
# docs/conformance.md.
clean:
	rm -rf bin
