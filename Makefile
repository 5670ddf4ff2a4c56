# The two targets a newcomer needs: build and test. README.md tells the rest.

.PHONY: build test conformance golden check bench fuzz clean

build:
	go build -o bin/batchwright ./cmd/batchwright

test:
	go test ./...
	go -C conformance test -count=1 ./...

# The golden folders on a control plane that runs here.
conformance:
	go -C conformance/cluster test -count=1 -timeout 60m -v .

golden:
	go test ./golden -update

check:
	test -z "$$(gofmt -l .)"
	go vet ./... && go -C conformance vet ./... && go -C conformance/cluster vet ./...
	go build -o bin/ honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./... && cd conformance && ../bin/staticcheck ./... && cd cluster && ../../bin/staticcheck ./...
	go mod tidy -diff && go -C conformance mod tidy -diff && go -C conformance/cluster mod tidy -diff

bench:
	go test -run '^$$' -bench . ./compiler ./emit/folder ./golden/scale

# Every fuzz target for FUZZTIME, one after the other.
FUZZTIME ?= 10m
fuzz:
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package || exit 1; \
		done; \
	done

clean:
	rm -rf bin conformance/cluster/bin
