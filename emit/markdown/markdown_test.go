package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	tests := map[string]Markup{
		"plain words, 4 + 4": "plain words, 4 + 4",
		"a|b":                "a&#124;b",
		"`c` *b* _i_ ~s~":    "\\`c\\` \\*b\\* \\_i\\_ \\~s\\~",
		"[l](u) ![i](u)":     `\[l\](u) !\[i\](u)`,
		"<b>&amp;</b>":       "&lt;b&gt;&amp;amp;&lt;/b&gt;",
		`back\slash`:         `back\\slash`,
		"https://e.com":      `https\://e.com`,
		"www.e.com":          `www\.e.com`,
		"a@e.com":            "a&#64;e.com",
		"two\nlines\tand":    "two lines and",
		"\u202egnp.exe":      " gnp.exe",
		"\xff":               "\uFFFD",
	}
	for in, want := range tests {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	tests := map[string]Markup{
		"":          "",
		"name":      "`name`",
		"<b> $x$":   "`<b> $x$`",
		"a`b":       "``a`b``",
		"`a``":      "``` `a`` ```",
		" a ":       "`  a  `",
		"a\nb":      "`a b`",
		"a\u2028b":  "`a b`",
		"pod|image": "`pod|image`",
	}
	for in, want := range tests {
		if got := Code(in); got != want {
			t.Errorf("Code(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	tests := map[string]Markup{
		"terraform/":           "[`terraform/`](terraform/)",
		".ghpc/artifacts/a":    "[`.ghpc/artifacts/a`](.ghpc/artifacts/a)",
		"a b)c/<d>":            "[`a b)c/<d>`](a%20b%29c/%3Cd%3E)",
		"x](http://e.com) `y`": "[`` x](http://e.com) `y` ``](x%5D%28http://e.com%29%20%60y%60)",
	}
	for in, want := range tests {
		if got := File(in); got != want {
			t.Errorf("File(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSection checks anchors against examples of GitHub's documentation, "Basic writing
// and formatting syntax".
func TestSection(t *testing.T) {
	tests := map[Markup]Markup{
		"Sample Section":                   "[Sample Section](#sample-section)",
		"Remove a team, a tier":            "[Remove a team, a tier](#remove-a-team-a-tier)",
		"This'll be a Helpful Section":     "[This'll be a Helpful Section](#thisll-be-a-helpful-section)",
		"A heading with \U0001f4a1 emoji!": "[A heading with \U0001f4a1 emoji!](#a-heading-with--emoji)",
		"under_score-dash":                 "[under_score-dash](#under_score-dash)",
	}
	for in, want := range tests {
		if got := section(in); got != want {
			t.Errorf("section(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestContents checks that the contents list the headings of level 2 of the document
// that is appended.
func TestContents(t *testing.T) {
	var page, body, empty Document
	page.Heading(1, "Page")
	body.Heading(2, "One thing")
	body.Heading(3, "Part of it")
	body.Heading(2, "Two")
	page.Contents(&empty)
	page.Contents(&body)
	page.Append(&body)
	page.Append(&empty)
	want := "# Page\n\n- [One thing](#one-thing)\n- [Two](#two)\n\n## One thing\n\n### Part of it\n\n## Two\n"
	if diff := cmp.Diff(want, string(page.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestDocument(t *testing.T) {
	var d Document
	d.Heading(2, "Title")
	d.Para("Some ", Code("words"), ".")
	d.List("one", "two")
	d.Table([]Markup{"Name", "Number"}, [][]Markup{{Code("a|b"), "1"}, {"", "20"}})
	d.Table([]Markup{"Nothing"}, nil)
	d.Code("sh", "echo ```", "trailing ")
	want := "## Title\n\nSome `words`.\n\n- one\n- two\n\n| Name | Number |\n| --- | ---: |\n| `a\\|b` | 1 |\n|  | " +
		"20 |\n\n````sh\necho ```\ntrailing\n````\n"
	if diff := cmp.Diff(want, string(d.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// TestFold checks that a reader of Markdown reads what is folded, and that nothing is
// folded without a body.
func TestFold(t *testing.T) {
	var d, body Document
	d.Fold("Empty", &body)
	body.List(Code("a"))
	d.Para("Some words.")
	d.Fold("<b>Jobs</b>", &body)
	want := "Some words.\n\n<details><summary><b>Jobs</b></summary>\n\n- `a`\n\n</details>\n"
	if diff := cmp.Diff(want, string(d.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// TestLinkedText checks that only plain addresses become links, and that text which looks
// like one stays text.
func TestLinkedText(t *testing.T) {
	const plain = "https://e.com/a-b_c.d/~e/"
	tests := map[string]Markup{
		"Open " + plain + ", then":     "Open <" + plain + ">, then",
		"at https://e.com: of":         "at <https://e.com>: of",
		"(https://e.com/a.)":           `(https\://e.com/a.)`,
		"https://e.com/a.":             "<https://e.com/a>.",
		"https://e.com?!":              "<https://e.com>?!",
		"https://":                     `https\://`,
		"http://e.com":                 `http\://e.com`,
		"xhttps://e.com":               `xhttps\://e.com`,
		"HTTPS://e.com":                `HTTPS\://e.com`,
		"https://e.com@f.com":          `https\://e.com&#64;f.com`,
		"https://e.com:8080/":          `https\://e.com:8080/`,
		"https://e.com/?q=1":           `https\://e.com/?q=1`,
		"https://e.com/%2e":            `https\://e.com/%2e`,
		"https://e.com/#x":             `https\://e.com/#x`,
		"https://e.com><img/src=x>":    `https\://e.com&gt;&lt;img/src=x&gt;`,
		"https://e.com](http://f.com)": `https\://e.com\](http\://f.com)`,
		"https://e.com\n<b>*x*":        `<https://e.com> &lt;b&gt;\*x\*`,
		"https://e.c\u043em":           "https\\://e.c\u043em",
	}
	for in, want := range tests {
		if diff := cmp.Diff(want, LinkedText(in)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}
