package pictures

import (
	"bytes"
	"html"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	renderhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// renderMarkdown returns the HTML of a comment, with the classes that GitHub gives to alerts and
// to the lines of a diff.
func renderMarkdown(t *testing.T, source []byte) string {
	t.Helper()
	converter := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(alerts{}, 100))),
		goldmark.WithRendererOptions(renderhtml.WithUnsafe(),
			renderer.WithNodeRenderers(util.Prioritized(diffs{}, 100))),
	)
	var out bytes.Buffer
	if err := converter.Convert(source, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// alertTitles has the kinds of alerts, by the text with which they begin.
// Source: docs.github.com, Basic writing and formatting syntax, Alerts.
var alertTitles = map[string]string{
	"[!NOTE]": "Note", "[!TIP]": "Tip", "[!IMPORTANT]": "Important", "[!WARNING]": "Warning", "[!CAUTION]": "Caution",
}

// alerts turns quotations that begin with the name of an alert into alerts.
type alerts struct{}

func (alerts) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		first, ok := n.FirstChild().(*ast.Paragraph)
		if n.Kind() != ast.KindBlockquote || !entering || !ok {
			return ast.WalkContinue, nil
		}
		line := first.Lines().At(0)
		title, ok := alertTitles[strings.TrimSpace(string(line.Value(reader.Source())))]
		if !ok {
			return ast.WalkContinue, nil
		}
		removeLine(first)
		n.SetAttributeString("class", "markdown-alert markdown-alert-"+strings.ToLower(title))
		head := ast.NewParagraph()
		head.SetAttributeString("class", "markdown-alert-title")
		head.AppendChild(head, ast.NewString([]byte(title)))
		n.InsertBefore(n, first, head)
		return ast.WalkContinue, nil
	})
}

// removeLine removes the first line of a paragraph, and a paragraph that has no other.
func removeLine(p *ast.Paragraph) {
	for end := false; !end && p.FirstChild() != nil; {
		word, ok := p.FirstChild().(*ast.Text)
		end = ok && word.SoftLineBreak()
		p.RemoveChild(p, p.FirstChild())
	}
	if p.FirstChild() == nil {
		p.Parent().RemoveChild(p.Parent(), p)
	}
}

// diffs renders blocks of code in which the first character of a line gives its color.
type diffs struct{}

func (d diffs) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, d.render)
}

// diffClasses are the classes of the lines of a diff. Source: github-markdown-css.
var diffClasses = map[byte]string{'+': "pl-mi1", '-': "pl-md", '!': "pl-mc", '@': "pl-mdr"}

func (diffs) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<div class="highlight"><pre>`)
	for _, segment := range n.Lines().Sliced(0, n.Lines().Len()) {
		line := strings.TrimSuffix(string(segment.Value(source)), "\n")
		class := ""
		if line != "" {
			class = diffClasses[line[0]]
		}
		_, _ = w.WriteString(`<span class="` + class + `">` + html.EscapeString(line) + "</span>\n")
	}
	_, _ = w.WriteString("</pre></div>\n")
	return ast.WalkSkipChildren, nil
}

// TestMarkdown checks the HTML of what GitHub renders in its own way.
func TestMarkdown(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{
			"> [!CAUTION]\n> **one**\n>\n> two",
			`<blockquote class="markdown-alert markdown-alert-caution"><p class="markdown-alert-title">Caution</p>` +
				"\n<p><strong>one</strong></p>\n<p>two</p>\n</blockquote>\n",
		},
		{"> [!CAUTION] one", "<blockquote>\n<p>[!CAUTION] one</p>\n</blockquote>\n"},
		{
			"```diff\n- <a>\n b\n```",
			`<div class="highlight"><pre><span class="pl-md">- &lt;a&gt;</span>` + "\n" +
				`<span class=""> b</span>` + "\n</pre></div>\n",
		},
		{
			"<details><summary>s</summary>\n\n`a`\n\n</details>",
			"<details><summary>s</summary>\n<p><code>a</code></p>\n</details>",
		},
	} {
		if got := renderMarkdown(t, []byte(test.source)); got != test.want {
			t.Errorf("%q is %q, want %q", test.source, got, test.want)
		}
	}
}
