package main

import (
	"strings"
	"testing"
)

func TestFindChecksum(t *testing.T) {
	const name = "batchwright_v1.2.3_linux_amd64.tar.gz"
	sum := strings.Repeat("0a", 32)
	for _, test := range []struct{ about, list, want string }{
		{"as sha256sum prints it", "x\n" + sum + "  " + name + "\n", sum},
		{"a binary file", sum + " *" + name + "\n", sum},
		{"lines of Windows, upper case", strings.ToUpper(sum) + "  " + name + "\r\n", sum},
		{"without a line end", sum + "  " + name, sum},
		{"of another version", sum + "  batchwright_v1.2.4_linux_amd64.tar.gz\n", ""},
		{"of a file in a directory", sum + "  dist/" + name + "\n", ""},
		{"another kind of checksum", sum[:40] + "  " + name + "\n", ""},
		{"a page that is no list", "<html>\n" + name + "\n \n" + sum, ""},
		{"nothing", "", ""},
	} {
		if got, ok := findChecksum([]byte(test.list), name); got != test.want || ok != (test.want != "") {
			t.Errorf("%s: got %q, %t", test.about, got, ok)
		}
	}
}
