# The two targets a newcomer needs: build and test. README.md tells the rest.

.PHONY: build test golden check bench clean

build:
	go build -o bin/batchwright ./cmd/batchwright

test:
	go test ./...
	go -C conformance test -count=1 ./...

golden:
	go test ./golden -update

check:
	test -z "$$(gofmt -l .)"
	go vet ./... && go -C conformance vet ./...
	go build -o bin/ honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./... && cd conformance && ../bin/staticcheck ./...
	go mod tidy -diff && go -C conformance mod tidy -diff

bench:
	go test -run '^$$' -bench . ./compiler ./emit/folder ./golden/scale

clean:
	rm -rf bin
