module github.com/batchwright/batchwright

go 1.26.0

require (
	cuelabs.dev/go/oci/ociregistry v0.0.0-20260601085548-328ff8e2c943 // the grammar of image references
	cuelang.org/go v0.17.1 // the blueprint's language
	github.com/GoogleCloudPlatform/gke-networking-api v0.2.10 // the objects' own Go types
	github.com/agext/levenshtein v1.2.1 // did you mean
	github.com/google/go-cmp v0.7.0 // comparisons in tests
	github.com/hashicorp/hcl/v2 v2.25.0 // writing and checking Terraform
	github.com/rogpeppe/go-internal v1.16.0 // txtar archives, diffs, file locks, command-line tests
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // the blueprint's JSON Schema in a test
	github.com/sourcegraph/jsonrpc2 v0.2.3 // the language server's requests and answers
	github.com/spf13/cobra v1.10.2 // the command line, and the manual
	github.com/spf13/pflag v1.0.10 // the flags that cobra parses
	github.com/zclconf/go-cty v1.19.0 // values in Terraform
	go.yaml.in/yaml/v2 v2.4.4 // YAML as Kubernetes prints it
	go.yaml.in/yaml/v3 v3.0.5 // YAML with the lines it is on
	golang.org/x/mod v0.42.0 // versions; reading go.mod in a test
	golang.org/x/sync v0.24.0 // many file syncs at once
	golang.org/x/sys v0.49.0 // a pseudo-terminal in a test
	golang.org/x/term v0.47.0 // whether a stream is a terminal
	golang.org/x/text v0.43.0 // the width of characters under a caret
	k8s.io/api v0.36.4 // the objects' own Go types
	k8s.io/apimachinery v0.36.4 // the objects' own Go types; quantities
	k8s.io/klog/v2 v2.140.0 // an argument of the toleration check in a test
	sigs.k8s.io/jobset v0.12.0 // the objects' own Go types
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // JSON with a list of unknown fields
	sigs.k8s.io/kueue v0.19.2 // the objects' own Go types
	sigs.k8s.io/yaml v1.6.0 // YAML as Kubernetes reads it
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/apparentlymart/go-textseg/v17 v17.0.1 // indirect
	github.com/cockroachdb/apd/v3 v3.2.3 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/emicklei/go-restful/v3 v3.13.0 // indirect
	github.com/emicklei/proto v1.14.3 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-openapi/jsonpointer v0.23.2 // indirect
	github.com/go-openapi/jsonreference v0.21.5 // indirect
	github.com/go-openapi/swag v0.26.0 // indirect
	github.com/go-openapi/swag/cmdutils v0.26.0 // indirect
	github.com/go-openapi/swag/conv v0.26.0 // indirect
	github.com/go-openapi/swag/fileutils v0.26.0 // indirect
	github.com/go-openapi/swag/jsonname v0.26.1 // indirect
	github.com/go-openapi/swag/jsonutils v0.26.0 // indirect
	github.com/go-openapi/swag/loading v0.26.0 // indirect
	github.com/go-openapi/swag/mangling v0.26.0 // indirect
	github.com/go-openapi/swag/netutils v0.26.0 // indirect
	github.com/go-openapi/swag/stringutils v0.26.0 // indirect
	github.com/go-openapi/swag/typeutils v0.26.0 // indirect
	github.com/go-openapi/swag/yamlutils v0.26.0 // indirect
	github.com/google/gnostic-models v0.7.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/pelletier/go-toml/v2 v2.3.1 // indirect
	github.com/protocolbuffers/txtpbfmt v0.0.0-20260420112717-c39628bde8b5 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	honnef.co/go/tools v0.8.2 // indirect
	k8s.io/kube-openapi v0.0.0-20260618221249-bc653b64f974 // indirect
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // indirect
)

tool honnef.co/go/tools/cmd/staticcheck
