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
func ExampleNearestSize() {
	machines := []string{
		"c3-standard-8", "c3-standard-8-lssd", "g2-standard-24", "n2-highmem-24", "n2-standard-2", "n2-standard-16",
		"n2-standard-32",
	}
	for _, wrong := range []string{
		"n2-standard-24", "n2-standart-15", "n22-standard-16", "c3-standard-8-ssd", "c3-standard-9-lssd", "n2-standard",
	} {
		fmt.Printf("%s: %s\n", wrong, diag.NearestSize(wrong, machines))
	}
	// Output:
	// n2-standard-24: n2-standard-32
	// n2-standart-15: n2-standard-16
	// n22-standard-16: n2-standard-16
	// c3-standard-8-ssd: c3-standard-8-lssd
	// c3-standard-9-lssd: c3-standard-8-lssd
	// n2-standard: n2-standard-2
}

func ExampleNearest() {
	fmt.Println(diag.Nearest("l4-sopt", []string{"l4-spot", "a100", "l4-reserved"}))
	// Output: l4-spot
}
