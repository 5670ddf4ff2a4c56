package plane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The loopback ports of planes are below the range from which Linux and macOS choose the
// ports of outgoing connections: such a connection could otherwise take a port before its
// program does. A plane needs ten ports, and one more for each Prometheus.
const lowestPort, highestPort, portsOfPlane = 10_000, 32_000, 40

// portRange holds the loopback ports that belong to one plane.
type portRange struct {
	next, end int
	lock      *os.File // keeps other planes from the ports
}

// reservePorts reserves ports for a plane. No other plane of the user gets them until the
// range is closed.
func reservePorts() (*portRange, error) {
	c, err := userCache()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.dir, "ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	const ranges = (highestPort - lowestPort) / portsOfPlane
	for _, i := range rand.Perm(ranges) {
		first := lowestPort + i*portsOfPlane
		lock, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(first)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		err = flock(lock, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &portRange{first, first + portsOfPlane, lock}, nil
		}
		lock.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", lock.Name(), err)
		}
	}
	return nil, fmt.Errorf("%d planes have reserved all ports between %d and %d", ranges, lowestPort, highestPort)
}

// take returns ports that no program uses. It returns each port once.
func (r *portRange) take(n int) ([]string, error) {
	var free []string
	for len(free) < n {
		if r.next == r.end {
			return nil, fmt.Errorf("this plane has no %d free ports left", n)
		}
		port := strconv.Itoa(r.next)
		r.next++
		if listener, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			listener.Close()
			free = append(free, port)
		}
	}
	return free, nil
}

func (r *portRange) close() { r.lock.Close() }
