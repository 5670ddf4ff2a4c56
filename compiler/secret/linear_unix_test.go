//go:build unix

package secret

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLinear: a text takes as long as its parts take one after the other, whatever is
// repeated in it. It counts the processor's time, which other programs do not change: the
// square of the length would take eight times as much.
func TestLinear(t *testing.T) {
	const size, parts, most, least = 1 << 16, 8, 4, 20 * time.Millisecond
	if testing.Short() { // as with the race detector, which makes the search many times slower
		t.Skip("takes long; make test runs it")
	}
	for _, part := range []string{
		"token=", "-----BEGIN PRIVATE KEY-----", "a", "sk-", "AIza", "\\", privateKey("PRIVATE KEY", "\n"),
		"--token ", `"token": "`, "://", "a://b:c", "eyJ", "eyJ.", "--token,", "a:b@", "curl -u ", "curl -u a:", "-u ",
	} {
		text := strings.Repeat(part, size/len(part))
		Mask(text)
		apart := processorTime(t, func() {
			for range parts {
				Mask(text)
			}
		})
		together := processorTime(t, func() { Mask(strings.Repeat(text, parts)) })
		if together > most*max(apart, least) {
			t.Errorf("%q: %v together, %v apart", part, together, apart)
		}
	}
}

// processorTime returns the processor's time in user mode that a function takes.
func processorTime(t *testing.T, do func()) time.Duration {
	t.Helper()
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		t.Fatal(err)
	}
	return time.Duration(after.Utime.Nano() - before.Utime.Nano())
}
