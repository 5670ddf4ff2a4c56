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
	filled := map[string]bool{}
	for _, n := range g.Nodes {
		filled[n.Parent] = true
	}
	g.visitBoxes(func(n Node, depth int, opens bool) {
		indent := strings.Repeat("  ", depth+1)
		label := dotQuote(strings.Join(n.boxLines(), "\n"))
		switch {
		case !opens:
			fmt.Fprintf(&out, "%s}\n", indent)
		case n.Kind.holds():
			fmt.Fprintf(&out, "%[1]ssubgraph %[2]s {\n%[1]s  label=%[3]s;\n", indent, dotQuote("cluster "+n.ID), label)
			if !filled[n.ID] { // Graphviz does not draw an empty box
				fmt.Fprintf(&out, "%s  %s [style=invis,label=\"\"];\n", indent, dotQuote(n.ID))
			}
		default:
			shape := map[Kind]string{Flavor: ",shape=oval", Pool: ",shape=cylinder"}[n.Kind]
			fmt.Fprintf(&out, "%s%s [label=%s%s];\n", indent, dotQuote(n.ID), label, shape)
		}
	})
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

// visitBoxes visits the nodes in order. It calls draw for every node with opens set to
// true, and for a node that contains others a second time with opens set to false,
// after the nodes inside it. depth is the number of nodes around it.
func (g *Graph) visitBoxes(draw func(n Node, depth int, opens bool)) {
	inside := map[string][]Node{}
	for _, n := range g.Nodes {
		inside[n.Parent] = append(inside[n.Parent], n)
	}
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, n := range inside[parent] {
			draw(n, depth, true)
			walk(n.ID, depth+1)
			if n.Kind.holds() {
				draw(n, depth, false)
			}
		}
	}
	walk("", 0)
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
