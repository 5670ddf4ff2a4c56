package blueprint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// reportUndefinedElements reports the elements of a list that are only _, which stands for
// an element of a list in another file, and returns whether there are any.
func (g *grammar) reportUndefinedElements(element, list cue.Value, path []string) bool {
	var undefined []string
	f := diag.Finding{
		Code: "E0106", Severity: diag.Error, Path: diag.Path(path), Label: "want " + describeWanted(element),
		Help: "remove the _, or write the element in a list of another file",
	}
	for i, item := range elements(list) {
		at := append(slices.Clip(path), diag.Index(i))
		span := g.locate.fieldSpan(false, at...)
		if item.IncompleteKind() != cue.TopKind || span.Text() != "_" {
			continue
		}
		if undefined = append(undefined, diag.Path(at)); len(undefined) == 1 {
			f.Path, f.Span = diag.Path(at), span
		}
	}
	if len(undefined) == 0 || g.partial {
		g.mistakes += len(undefined)
		return len(undefined) > 0
	}
	if len(undefined) > 1 {
		f.Help = "write the elements in a list of another file, or remove each _ that has no element there"
	}
	const most = 8
	f.Message = "no file defines " + words.And(undefined[:min(len(undefined), most)])
	if len(undefined) > most {
		f.Message = fmt.Sprintf("no file defines %d elements of %s", len(undefined), diag.Path(path))
	}
	if !g.alreadyFound(f.Span.Spot("")) {
		g.addFinding(f)
	}
	return true
}

// reportOverlaid reports a list that is laid over a list of another file, with too few _
// before an element: the element is then unified with one of the other list. It returns
// whether there is one.
func (g *grammar) reportOverlaid(list cue.Value, path []string) bool {
	lists := g.locate.valueSpans(path)
	over := slices.IndexFunc(lists, func(s diag.Span) bool { return overlayList.MatchString(s.Text()) })
	if len(lists) < 2 || over < 0 {
		return false
	}
	for i, item := range elements(list) {
		if !mergesTwo(item) {
			continue
		}
		f := diag.Finding{
			Code: "E0107", Severity: diag.Error, Path: diag.Path(path), Span: lists[over],
			Message: fmt.Sprintf("two lists write %s, with different fields",
				diag.Path(append(slices.Clip(path), diag.Index(i)))),
			Help: "begin the list with one _ for each element of the other list",
		}
		for j, other := range lists {
			if j != over {
				f.Related = append(f.Related, diag.Related{Span: other, Message: "the other list"})
			}
		}
		g.addFinding(f)
		return true
	}
	return false
}

// overlayList is the beginning of a list whose first element another list defines.
var overlayList = regexp.MustCompile(`^\[\s*_\s*,`)

// mergesTwo reports whether several fields of a struct have conflicting values.
func mergesTwo(v cue.Value) bool {
	conflicts := 0
	for _, field := range allFields(v) {
		if slices.ContainsFunc(cueerrors.Errors(field.Err()), func(e cueerrors.Error) bool {
			format, _ := e.Msg()
			return strings.HasPrefix(format, conflicting) || strings.HasPrefix(format, listLengths)
		}) {
			conflicts++
		}
	}
	return conflicts > 1
}
