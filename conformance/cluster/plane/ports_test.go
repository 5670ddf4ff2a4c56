package plane

import (
	"net"
	"slices"
	"strconv"
	"testing"
)

// TestPorts reserves the ports of two planes, and takes all ports of the first, of which
// another program uses one.
func TestPorts(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	var ranges []*portRange
	for range 2 {
		r, err := reservePorts()
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		ranges = append(ranges, r)
	}
	first, second := ranges[0], ranges[1]
	if first.next == second.next {
		t.Fatalf("two planes have the ports from %d", first.next)
	}
	used := strconv.Itoa(first.next)
	if listener, err := net.Listen("tcp", "127.0.0.1:"+used); err == nil {
		defer listener.Close()
	}
	one, err := first.take(1)
	if err != nil {
		t.Fatal(err)
	}
	more, err := first.take(9)
	if err != nil {
		t.Fatal(err)
	}
	all := append(one, more...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 10 || slices.Contains(all, used) {
		t.Errorf("taken are %v, and another program uses %s", all, used)
	}
	if free, err := first.take(portsOfPlane - 10); err == nil {
		t.Errorf("%d ports are left", len(free))
	}
}
