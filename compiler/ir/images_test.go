package ir

import "testing"

func TestCopy(t *testing.T) {
	mirror := Images{Mirror: "us-docker.pkg.dev/net/mirror"}
	for image, want := range map[string]string{
		"ubuntu:24.04":                        "docker.io/library/ubuntu:24.04",
		"alpine/helm:3.19.0":                  "docker.io/alpine/helm:3.19.0",
		"registry.k8s.io/kueue/kueue:v0.19.2": "registry.k8s.io/kueue/kueue:v0.19.2",
		"localhost:5000/a/b@sha256:0":         "localhost:5000/a/b@sha256:0",
	} {
		if got := mirror.Copy(image); got != mirror.Mirror+"/"+want {
			t.Errorf("copy of %s: %s", image, got)
		}
		if got := (Images{}).Copy(image); got != image {
			t.Errorf("without a mirror %s is %s", image, got)
		}
	}
}

func TestInProject(t *testing.T) {
	for mirror, want := range map[string]bool{
		"us-docker.pkg.dev/net/mirror": true, "us-docker.pkg.dev/network/mirror": false,
		"registry.example.com/net/mirror": false, "": false,
	} {
		if got := (Images{Mirror: mirror}).InProject("net"); got != want {
			t.Errorf("%q is in the project: %v", mirror, got)
		}
	}
}
