package page

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal/page"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// pictures is the folder for the pages and pictures of them, for a person to look at.
var pictures = flag.String("pictures", "", "write the pages and pictures of them to this existing `folder`")

const (
	// maxBytes bounds the page of 60,000 jobs.
	maxBytes = 8 << 20
	// maxCalls and maxCallsOfJob bound the canvas calls until all charts are drawn. A page
	// may make maxCalls, plus maxCallsOfJob for each job.
	maxCalls      = 6000
	maxCallsOfJob = 4
)

// writePage writes the page of an invented rehearsal, and returns its path.
func writePage(t *testing.T, jobs int, until int64) string {
	t.Helper()
	p := inventPlatform()
	s, h := invent(p, jobs, until)
	var out bytes.Buffer
	if err := page.Write(&out, p, s, h, report.Of(p, s, h, p.Rehearsals[0].Expect)); err != nil {
		t.Fatal(err)
	}
	if out.Len() > maxBytes {
		t.Errorf("the page of %d jobs has %d bytes", jobs, out.Len())
	}
	if *pictures != "" {
		kept := filepath.Join(*pictures, fmt.Sprintf("%d-jobs.html", jobs))
		if err := os.WriteFile(kept, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), pageName)
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// blankCharts returns how many charts have at most two colors in their plot, and
// blankTimeline whether the timeline does.
const (
	blankCharts   = `[...document.querySelectorAll('.uplot')]` + areBlank
	blankTimeline = `[document.querySelector('#timeline .uplot')]` + areBlank
)

const areBlank = `.filter((chart) => {
	const canvas = chart.querySelector('canvas');
	const over = chart.querySelector('.u-over');
	const x = over.offsetLeft * devicePixelRatio;
	const y = over.offsetTop * devicePixelRatio;
	const width = Math.max(over.offsetWidth * devicePixelRatio, 1);
	const height = Math.max(over.offsetHeight * devicePixelRatio, 1);
	const copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
	copy.drawImage(canvas, -x, -y);
	const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
	return new Set(pixels).size < 3;
}).length`

// TestPages opens pages with few and with many jobs, light and dark, wide and narrow.
func TestPages(t *testing.T) {
	b := startBrowser(t)
	for _, test := range []struct {
		jobs  int
		until int64
	}{{60, 2 * day}, {60000, 60 * day}} {
		path := writePage(t, test.jobs, test.until)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 480} {
				name := fmt.Sprintf("%d-jobs-%s-%d", test.jobs, scheme, width)
				b.open(path, width, scheme)
				calls, most := eval[int](b, "canvasCalls"), maxCalls+maxCallsOfJob*test.jobs
				t.Logf("%s: drawn by %d calls, %s ms after it was opened", name, calls,
					eval[string](b, "document.documentElement.dataset.drawn"))
				if calls > most {
					t.Errorf("%s: drawn by %d calls, want at most %d", name, calls, most)
				}
				if got, want := eval[int](b, "document.querySelectorAll('.uplot').length"), 3+teams; got != want {
					t.Errorf("%s: %d charts, want %d", name, got, want)
				}
				if n := eval[int](b, blankCharts); n > 0 {
					t.Errorf("%s: %d charts are blank", name, n)
				}
				if n := eval[int](b, "document.documentElement.scrollWidth"); n > width {
					t.Errorf("%s: the page is %d pixels wide", name, n)
				}
				if n := eval[int](b, "document.querySelectorAll('img').length"); n > 0 {
					t.Errorf("%s: the name of a team became HTML", name)
				}
				header := eval[string](b, "document.querySelector('header').innerText")
				for _, want := range []string{
					"Ten teams train and try.", `90% of jobs of tier "hp" start within 3h`, "not met",
				} {
					if !strings.Contains(header, want) {
						t.Errorf("%s: the page begins with %q, without %q", name, header, want)
					}
				}
				if *pictures != "" {
					b.save(filepath.Join(*pictures, name+".png"))
				}
				b.checkZoom(test.until)
				if *pictures != "" {
					b.save(filepath.Join(*pictures, name+"-zoomed.png"))
				}
				b.checkProblems()
			}
		}
	}
}

// checkZoom zooms in by six keys, to a 64th of the time, and reports how long each took.
func (b *browser) checkZoom(until int64) {
	b.t.Helper()
	const presses = 6
	eval[any](b, "document.querySelector('#timeline').focus()")
	began := time.Now()
	for range presses {
		b.press("+")
	}
	// The browser draws before it calls the function.
	eval[any](b, "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
	b.t.Logf("a key that zooms takes %d ms", time.Since(began).Milliseconds()/presses)
	middle, length := until/2, until>>presses
	want := words.FormatSeconds(middle-length/2) + " to " + words.FormatSeconds(middle+length/2)
	if got := b.window(); got != want {
		b.t.Errorf("after %d keys + it shows %s, want %s", presses, got, want)
	}
	if n := eval[int](b, blankTimeline); n > 0 {
		b.t.Error("the timeline is blank after zooming")
	}
}

// TestEmpty opens the page of a rehearsal without jobs.
func TestEmpty(t *testing.T) {
	b := startBrowser(t)
	b.open(writePage(t, 0, day), 1280, "light")
	if got := eval[int](b, "document.querySelectorAll('.uplot').length"); got != 3 {
		t.Errorf("%d charts, want three: jobs, waiting jobs, nodes", got)
	}
	if got := eval[string](b, "document.getElementById('p-timeline').textContent"); got != "No job had quota." {
		t.Errorf("below the title is %q", got)
	}
	b.checkProblems()
}

// TestUse zooms by keyboard and by mouse, and looks at jobs.
func TestUse(t *testing.T) {
	b := startBrowser(t)
	b.open(writePage(t, 60, 2*day), 1280, "light")
	const all = "0s to 2d"
	if got := b.window(); got != all {
		t.Errorf("the page shows %s at first", got)
	}
	for _, chart := range []string{"#timeline", "#waiting", "#nodes", "#teams .small"} {
		eval[any](b, "document.querySelector('"+chart+"').focus()")
		for _, test := range []struct{ key, want string }{
			{"+", "12h to 1d12h"}, {"ArrowLeft", "6h to 1d6h"}, {"ArrowRight", "12h to 1d12h"}, {"-", all},
			{"+", "12h to 1d12h"}, {"0", all},
		} {
			b.press(test.key)
			if got := b.window(); got != test.want {
				t.Errorf("%s: after the key %s it shows %s, want %s", chart, test.key, got, test.want)
			}
		}
	}
	eval[any](b, "document.querySelector('#timeline').focus()")
	b.press("ArrowDown")
	first := eval[string](b, "document.getElementById('job').textContent")
	b.press("ArrowDown")
	if second := eval[string](b, "document.getElementById('job').textContent"); !strings.Contains(first, "train-1,") ||
		!strings.Contains(first, "Arrived at ") || second == first {
		t.Errorf("the keys show the jobs %q and %q", first, second)
	}
	type point struct{ X, Y float64 }
	place := eval[point](b, `(() => {
		scrollTo(0, 0);
		const box = document.querySelector('#timeline .u-over').getBoundingClientRect();
		return {x: box.left + box.width / 4, y: box.top + 30};
	})()`)
	shown := false
	for x := place.X; x < place.X+400 && !shown; x += 10 {
		b.mouse("mouseMoved", x, place.Y)
		shown = eval[bool](b, "!document.getElementById('tip').hidden")
	}
	if text := eval[string](b, "tip.textContent"); !shown || !strings.Contains(text, "train-") {
		t.Errorf("the mouse shows %q", text)
	}
	if *pictures != "" {
		b.save(filepath.Join(*pictures, "60-jobs-pointed-at.png"))
	}
	b.mouse("mousePressed", place.X, place.Y)
	b.mouse("mouseMoved", place.X+50, place.Y)
	b.mouse("mouseMoved", place.X+100, place.Y)
	b.mouse("mouseReleased", place.X+100, place.Y)
	if got := b.window(); got == all {
		t.Error("dragging does not zoom")
	}
	eval[any](b, "document.querySelector('[data-act=reset]').click()")
	if got := b.window(); got != all {
		t.Errorf("the button Reset shows %s", got)
	}
	b.checkProblems()
}
