package main

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
)

// The line of a meter appears after patience, and changes after each redraw.
const (
	patience = time.Second
	redraw   = 200 * time.Millisecond
)

// A terminal obeys these: to the start of the line, and erase it from there on.
const (
	lineStart = "\r"
	eraseRest = "\x1b[K"
)

// meter shows a person who waits at a terminal how far a command is: one line, which
// is erased before the command writes anything else. A command encloses each piece of
// work in start and end, and writes only outside of them.
//
// On a stream that is no terminal a meter shows nothing, and starts no timer. A
// nil meter shows nothing either.
type meter struct {
	w io.Writer
	// columns returns the width of the terminal, and reports whether the stream is one
	// that can erase a line.
	columns          func() (int, bool)
	patience, redraw time.Duration

	mu    sync.Mutex
	tasks []*task
	began time.Time   // when the first piece of work began; zero until the line is drawn first
	timer *time.Timer // draws the line again and again; nil without tasks
	drawn bool
	off   bool // another process writes to the terminal
}

// task is a piece of work. Its label distinguishes it from others of the same time.
type task struct {
	label string
	at    progress.Progress
}

func newMeter(w io.Writer) *meter {
	columns := func() (int, bool) { return terminalColumns(w) }
	return &meter{w: w, columns: columns, patience: patience, redraw: redraw}
}

// terminalColumns returns the width of a terminal, and reports whether the stream is a
// terminal that can erase a line.
func terminalColumns(w io.Writer) (int, bool) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	const usual = 80
	columns, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || columns == 0 { // a terminal that nobody has given a size
		columns = usual
	}
	return columns, true
}

// start says that a piece of work begins. The work reports to the Progress, which is
// nil if nobody sees it. The line is erased when the work, and other work of the same
// time, has ended. The label can be empty.
func (m *meter) start(label string) (at *progress.Progress, end func()) {
	if !m.onTerminal() {
		return nil, func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off {
		return nil, func() {}
	}
	t := &task{label: label}
	m.tasks = append(m.tasks, t)
	if m.timer == nil {
		m.timer = time.AfterFunc(m.redraw, m.drawAgain)
	}
	return &t.at, func() { m.end(t) }
}

// enter is start for work that has one stage and does not report.
func (m *meter) enter(stage progress.Stage) (end func()) {
	at, end := m.start("")
	at.Start(stage, "")
	return end
}

// end says that a piece of work has ended.
func (m *meter) end(t *task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks = slices.DeleteFunc(m.tasks, func(other *task) bool { return other == t })
	if len(m.tasks) == 0 {
		m.stop()
	}
}

// stop ends the redrawing, and erases the line. The caller must hold mu.
func (m *meter) stop() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	m.eraseLine()
}

// drawAgain draws the line, and plans the next time.
func (m *meter) drawAgain() {
	m.drawTask(time.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Reset(m.redraw)
	}
}

// drawTask draws the first task that is at work. The time that a command waits for its
// input does not count as work.
func (m *meter) drawTask(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tasks {
		state := t.at.Now()
		if state.Stage == progress.Idle {
			continue
		}
		if m.began.IsZero() {
			m.began = now.Add(-redraw)
		}
		if elapsed := now.Sub(m.began); elapsed >= m.patience {
			m.drawLine(progressLine(t.label, state, elapsed))
		}
		return
	}
}

// draw shows a line of the caller's own. The caller must erase it before it writes
// anything else.
func (m *meter) draw(line string) {
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.drawLine(line)
	}
}

// drawLine replaces the line. The last column stays empty, because some terminals
// begin another line when it is written. The caller must hold mu.
func (m *meter) drawLine(line string) {
	columns, ok := m.columns()
	if !ok || columns < 2 {
		return
	}
	m.drawn = true
	io.WriteString(m.w, lineStart+words.Truncate(line, columns-1)+eraseRest)
}

// erase removes the line.
func (m *meter) erase() {
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.eraseLine()
	}
}

// eraseLine is erase for a caller that holds mu.
func (m *meter) eraseLine() {
	if m.drawn {
		io.WriteString(m.w, lineStart+eraseRest)
		m.drawn = false
	}
}

// handOver erases the line and shows no other: from now on, another process shows its
// own line on the same terminal.
func (m *meter) handOver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off, m.tasks = true, nil
	m.stop()
}

// eraseOther erases the line that another process may have left when it died.
func (m *meter) eraseOther() {
	if m.onTerminal() {
		io.WriteString(m.w, lineStart+eraseRest)
	}
}

// onTerminal reports whether there is a meter, and its stream can erase a line.
func (m *meter) onTerminal() bool {
	if m == nil {
		return false
	}
	_, ok := m.columns()
	return ok
}

// startRendering says that the folder of a plan is rendered now.
func startRendering(at *progress.Progress, p *ir.Platform) {
	at.Start(progress.Rendering, countText(len(p.Teams), "team", "teams"))
}

// progressLine says in a few words how far a task is. It has only ASCII characters, so
// each of them is one column of a terminal.
func progressLine(label string, s progress.State, elapsed time.Duration) string {
	var b strings.Builder
	if label != "" {
		b.WriteString(strings.Trim(strconv.QuoteToASCII(label), `"`) + ": ")
	}
	b.WriteString(stageText(s))
	if s.Total > 0 {
		b.WriteString(": " + groupText(s.Done) + " of " + groupText(s.Total))
	}
	switch {
	case s.Stage > progress.Judging: // all findings are known
	case s.Findings == 0:
		b.WriteString(", no findings so far")
	default:
		b.WriteString(", " + countText(s.Findings, "finding", "findings") + " so far")
	}
	b.WriteString(" (" + words.Span(int64(elapsed/time.Second)) + ")")
	return b.String()
}

// stageText names the work of a stage.
func stageText(s progress.State) string {
	return map[progress.Stage]string{
		progress.Reading:    "reading the files",
		progress.Evaluating: "evaluating the blueprint",
		progress.Checking:   "checking " + s.Subject,
		progress.Planning:   "resolving names and defaults",
		progress.Judging:    "checking rules",
		progress.Rendering:  "rendering the folder of " + s.Subject,
		progress.Writing:    "writing files",
		progress.Comparing:  "comparing",
		progress.Rehearsing: "rehearsing " + s.Subject + " on both platforms",
		progress.Importing:  "reading the exports",
	}[s.Stage]
}

// groupText returns a number with separated thousands.
func groupText(n int) string { return words.GroupDigits(strconv.Itoa(n)) }

// countText returns a number with separated thousands, and its noun.
func countText(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return groupText(n) + " " + many
}
