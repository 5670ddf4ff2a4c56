package main

import "testing"

func TestSource(t *testing.T) {
	tests := []struct {
		version buildVersion
		want    string
	}{
		{buildVersion{Version: "v1.2.3", Revision: "abc"}, "v1.2.3"},
		{buildVersion{Version: "v1.2.3-rc.1"}, "v1.2.3-rc.1"},
		{buildVersion{Version: "v1.2.3+dirty", Revision: "abc", Modified: true}, "abc"},
		{buildVersion{Version: "v0.0.0-20260102030405-0123456789ab"}, "0123456789ab"},
		{
			buildVersion{Version: "v0.0.0-20260102030405-0123456789ab+dirty", Revision: "0123456789abcdef"},
			"0123456789abcdef",
		},
		{buildVersion{Version: "(devel)"}, "main"},
	}
	for _, test := range tests {
		if got := test.version.source(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.version, got, test.want)
		}
	}
}
