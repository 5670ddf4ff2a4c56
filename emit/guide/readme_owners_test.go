package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestAskOwners checks that README.md tells the owners of accounts what to do, and that
// no page says that the platform creates such an account.
func TestAskOwners(t *testing.T) {
	p := newPlatform(2)
	for i := range p.Teams {
		p.Teams[i].Account = nil
	}
	p.Teams[0].Account = &ir.TeamAccount{Address: "research@data-project.iam.gserviceaccount.com"}
	pages := map[string]string{}
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		pages[f.Path] = string(f.Content)
	}
	for page, want := range map[string]string{
		readmePage:    "add-iam-policy-binding research@data-project.iam.gserviceaccount.com ",
		usingPage:     "`research@data-project.iam.gserviceaccount.com`",
		referencePage: "Some service accounts existed before",
	} {
		if !strings.Contains(pages[page], want) {
			t.Errorf("%s has no %q", page, want)
		}
	}
	if strings.Contains(pages[readmePage], "the teams that have one") {
		t.Error("README.md says that the script creates the accounts of teams")
	}
}
