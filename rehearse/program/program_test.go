package program

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that there is a line for each second, and none after the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := &reporter{}
		stop := r.start(&out)
		time.Sleep(1500 * time.Millisecond)
		r.note(86400, 120)
		time.Sleep(time.Second)
		stop()
		time.Sleep(5 * time.Second)
		want := `{"now":0,"done":0}` + "\n" + `{"now":86400,"done":120}` + "\n"
		if out.String() != want {
			t.Errorf("lines %q, want %q", out.String(), want)
		}
	})
}
