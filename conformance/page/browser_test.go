// Package page opens pages of rehearsals in a browser, and uses them as a reader does.
package page

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is the longest time in which the browser must answer.
const patience = 5 * time.Minute

// browser is a Chromium that obeys the DevTools protocol through pipes.
// Source: Chromium's --remote-debugging-pipe.
type browser struct {
	t        *testing.T
	write    *os.File
	messages chan message
	session  string
	last     int
	// problems are the messages that the page printed to the console, what its content
	// security policy refused, and its requests except the page itself.
	problems []string
}

// message is an answer or an event of the browser.
type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  json.RawMessage
	Params struct {
		Type, TargetID   string
		Request          struct{ URL string }
		Entry            struct{ Text, URL string }
		ExceptionDetails json.RawMessage
		Args             []struct{ Value any }
	}
}

// findBrowser returns the path of a browser, or skips the test.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("Chromium is not installed: no page was opened")
	return ""
}

// startBrowser starts a browser with an empty tab. The browser ends with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	args := []string{
		"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
		"--no-first-run", "--user-data-dir=" + t.TempDir(),
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	cmd := exec.Command(findBrowser(t), append(args, "about:blank")...)
	toBrowser, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // the files 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{t: t, write: write, messages: make(chan message, 1024)}
	go readMessages(read, b.messages)
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser: %v", err)
		}
		write.Close()
	})
	var created struct{ TargetID string }
	b.decode(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), &created)
	var attached struct{ SessionID string }
	b.decode(b.call("Target.attachToTarget", map[string]any{"targetId": created.TargetID, "flatten": true}), &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": countCanvas})
	return b
}

// countCanvas counts what a page asks of its canvases and paths.
const countCanvas = `globalThis.canvasCalls = 0;
for (const {prototype} of [CanvasRenderingContext2D, Path2D]) {
	for (const [name, {value}] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
		if (typeof value === 'function' && name !== 'constructor') {
			prototype[name] = function (...of) {
				canvasCalls++;
				return value.apply(this, of);
			};
		}
	}
}`

// readMessages sends the messages of the browser, each of which ends in a zero byte, to a
// channel, and closes it at their end.
func readMessages(read *os.File, messages chan<- message) {
	defer close(messages)
	defer read.Close()
	for in := bufio.NewReaderSize(read, 1<<20); ; {
		line, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			m = message{Method: "unreadable: " + err.Error()}
		}
		messages <- m
	}
}

// decode decodes an answer.
func (b *browser) decode(answer json.RawMessage, to any) {
	b.t.Helper()
	if err := json.Unmarshal(answer, to); err != nil {
		b.t.Fatal(err)
	}
}

// call calls a method of the protocol, and returns its answer.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	content, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.write.Write(append(content, 0)); err != nil {
		b.t.Fatal(err)
	}
	late := time.After(patience)
	for {
		select {
		case <-late:
			b.t.Fatalf("%s: no answer in %v", method, patience)
		case m, ok := <-b.messages:
			switch {
			case !ok:
				b.t.Fatalf("%s: the browser ended", method)
			case m.ID == b.last && m.Error != nil:
				b.t.Fatalf("%s: %s", method, m.Error)
			case m.ID == b.last:
				return m.Result
			}
			b.note(m)
		}
	}
}

// note notes an event that a page must not cause.
func (b *browser) note(m message) {
	switch m.Method {
	case "Runtime.consoleAPICalled":
		b.problems = append(b.problems, fmt.Sprintf("the console: %s %v", m.Params.Type, m.Params.Args))
	case "Runtime.exceptionThrown":
		b.problems = append(b.problems, "an exception: "+string(m.Params.ExceptionDetails))
	case "Log.entryAdded":
		b.problems = append(b.problems, "the log: "+m.Params.Entry.Text+" "+m.Params.Entry.URL)
	case "Network.requestWillBeSent":
		if url := m.Params.Request.URL; !strings.HasPrefix(url, "file://") || !strings.HasSuffix(url, pageName) {
			b.problems = append(b.problems, "a request: "+url)
		}
	}
}

// eval returns the value of an expression in the page, which JSON must be able to hold.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value T }
		ExceptionDetails json.RawMessage
	}
	b.decode(b.call("Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	}), &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// pageName is the name of the file that a browser opens.
const pageName = "rehearsal.html"

// open opens a page with a width and a color scheme, and waits until it is drawn.
func (b *browser) open(path string, width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false,
	})
	b.call("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	})
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Boolean(document.documentElement?.dataset.drawn)") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("the page was not drawn in %v: %q", patience, b.problems)
		}
	}
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	event := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		event["text"] = key
	}
	b.call("Input.dispatchKeyEvent", event)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// mouse moves the mouse, or presses or releases its left button.
func (b *browser) mouse(kind string, x, y float64) {
	b.t.Helper()
	event := map[string]any{"type": kind, "x": x, "y": y}
	if kind != "mouseMoved" {
		event["button"], event["clickCount"] = "left", 1
	}
	b.call("Input.dispatchMouseEvent", event)
}

// window returns the text that says which time the charts show.
func (b *browser) window() string {
	b.t.Helper()
	return eval[string](b, "document.getElementById('window').textContent")
}

// checkProblems reports what the page must not do.
func (b *browser) checkProblems() {
	b.t.Helper()
	for _, p := range slices.Compact(b.problems) {
		b.t.Error(p)
	}
	b.problems = nil
}

// save writes a picture of the whole page.
func (b *browser) save(path string) {
	b.t.Helper()
	var picture struct{ Data string }
	b.decode(b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}), &picture)
	content, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
