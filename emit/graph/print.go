package graph

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
)

// Dot returns a graph in Graphviz's dot language.
func (g *Graph) Dot() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "digraph %s {\n  rankdir=LR;\n  node [shape=box];\n", dotQuote(g.Platform))
	inside := map[string][]Node{}
	for _, n := range g.Nodes {
		inside[n.Parent] = append(inside[n.Parent], n)
	}
	var drawBoxes func(parent, indent string)
	drawBoxes = func(parent, indent string) {
		for _, n := range inside[parent] {
			label := dotQuote(strings.Join(n.boxLines(), "\n"))
			if !n.Kind.holds() {
				shape := map[Kind]string{Flavor: ",shape=oval", Pool: ",shape=cylinder"}[n.Kind]
				fmt.Fprintf(&out, "%s%s [label=%s%s];\n", indent, dotQuote(n.ID), label, shape)
				continue
			}
			fmt.Fprintf(&out, "%[1]ssubgraph %[2]s {\n%[1]s  label=%[3]s;\n", indent, dotQuote("cluster "+n.ID), label)
			if len(inside[n.ID]) == 0 { // Graphviz does not draw an empty box
				fmt.Fprintf(&out, "%s  %s [style=invis,label=\"\"];\n", indent, dotQuote(n.ID))
			}
			drawBoxes(n.ID, indent+"  ")
			fmt.Fprintf(&out, "%s}\n", indent)
		}
	}
	drawBoxes("", "  ")
	for _, e := range g.Edges {
		label := ""
		if e.Label != "" {
			label = " [label=" + dotQuote(e.Label) + "]"
		}
		fmt.Fprintf(&out, "  %s -> %s%s;\n", dotQuote(e.From), dotQuote(e.To), label)
	}
	out.WriteString("}\n")
	return out.Bytes()
}

// JSON returns a graph as JSON, for programs.
func (g *Graph) JSON() ([]byte, error) {
	out := struct {
		Version  int    `json:"version"`
		Type     string `json:"type"`
		Platform string `json:"platform"`
		Nodes    []Node `json:"nodes"`
		Edges    []Edge `json:"edges"`
	}{1, "graph", g.Platform, append([]Node{}, g.Nodes...), append([]Edge{}, g.Edges...)}
	var buffer bytes.Buffer
	err := console.EncodeJSON(&buffer, out, "")
	return buffer.Bytes(), err
}

// boxLines returns the lines of text in a box.
func (n Node) boxLines() []string {
	first := n.Name
	if n.Kind.holds() && len(n.Names) == 0 {
		first = string(n.Kind) + " " + n.Name
	}
	return append([]string{first}, n.Lines...)
}

// dotQuote quotes text. In quoted text only quotes and backslashes are special.
func dotQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
