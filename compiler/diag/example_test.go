package diag_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
)

// A finding points into its source, and says how to mend the mistake.
func ExampleWriteText() {
	source := &diag.Source{Name: "platform.cue", Content: []byte("name:   \"small\"\nregion: \"us-centrall\"\n")}
	start := strings.Index(string(source.Content), `"us-centrall"`)
	var list diag.List
	list.Add(diag.Finding{
		Code: "E0103", Severity: diag.Error, Message: "unknown region us-centrall",
		Span: diag.Span{Source: source, Start: start, End: start + len(`"us-centrall"`)},
		Help: "did you mean \"us-central1\"?",
	})
	if err := diag.WriteText(os.Stdout, &list, diag.TextOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// platform.cue:2:9: error[E0103]: unknown region us-centrall
	//   |
	// 2 | region: "us-centrall"
	//   |         ^^^^^^^^^^^^^
	//   = help: did you mean "us-central1"?
	//
	// 1 error
}

// Nearest proposes the name that was probably meant.
func ExampleNearest() {
	fmt.Println(diag.Nearest("l4-sopt", []string{"l4-spot", "a100", "l4-reserved"}))
	// Output: l4-spot
}
