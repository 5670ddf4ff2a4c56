package terraform

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// FuzzFiles: the texts of a plan are literals in HCL, and the files formatted.
// HCL's strings are in Unicode's normal form C.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	harmless := readFiles(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		if labelMark.MatchString(s) {
			t.Skip() // an alert's reference to a label
		}
		hostile.Want(t, s)
		hostile.Compare(t, s, harmless, readFiles(t, s), norm.NFC.String)
	})
}

// readFiles returns the content of every file of a plan that holds a text.
func readFiles(t testing.TB, text string) any {
	t.Helper()
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		p.Project, p.Region, p.Cluster.MinVersion, p.Cluster.SecurityGroup = text, "r"+text, text+" ", text
		p.NodeAccount.Display, p.NodeAccount.Roles = text, []string{text, "x"}
		p.Teams[0].Account.Display, p.Teams[0].Roles, p.Teams[1].Bucket = text, []string{text}, "b"+text
		p.Teams[0].Members, p.Monitoring.MemberRoles = []string{"user:" + text}, []string{text}
		p.Delivery.StatePrefix, p.Delivery.StateBucket = text, text
		p.Capacities[1].PoolLabels = []ir.KeyValue{{Key: "note", Value: text}}
		p.Capacities[2].Reservation.Name = text
		p.Capacities[3].PoolTaints = []ir.Taint{{Key: "k" + text, Value: text, Effect: "NoSchedule"}}
		p.Cluster.AuthorizedNetworks = []ir.NamedRange{{Name: text, CIDR: "203.0.113.0/24"}}
		p.Monitoring.NotificationChannels = []string{text}
	}))
	files["alerts.tf"] = alertFile(monitoring.Alert{
		Name: text, Group: text, Expr: text + text, Severity: "warning", Summary: text, Action: "Look.\n" + text,
	})
	out := map[string]any{}
	for name, content := range files {
		out[name] = bodyTree(parseFile(t, files, name), content)
	}
	return out
}

// bodyTree returns blocks in order, and attributes by name.
func bodyTree(b *hclsyntax.Body, source []byte) any {
	attributes := map[string]any{}
	for name, a := range b.Attributes {
		attributes[name] = expressionTree(a.Expr, source)
	}
	blocks := []any{}
	for _, block := range b.Blocks {
		labels := []any{block.Type}
		for _, l := range block.Labels {
			labels = append(labels, l)
		}
		blocks = append(blocks, labels, bodyTree(block.Body, source))
	}
	return []any{attributes, blocks}
}

// expressionTree returns the value of an expression; of one that refers to
// something its parts, and at last its source.
func expressionTree(e hclsyntax.Expression, source []byte) any {
	if v, diags := e.Value(nil); !diags.HasErrors() {
		return valueTree(v)
	}
	out := []any{}
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		out = append(out, e.Name)
		for _, arg := range e.Args {
			out = append(out, expressionTree(arg, source))
		}
	case *hclsyntax.TupleConsExpr:
		for _, element := range e.Exprs {
			out = append(out, expressionTree(element, source))
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			out = append(out, expressionTree(item.KeyExpr, source), expressionTree(item.ValueExpr, source))
		}
	default:
		return string(e.Range().SliceBytes(source))
	}
	return out
}

func valueTree(v cty.Value) any {
	switch kind := v.Type(); {
	case v.IsNull():
		return nil
	case kind == cty.String:
		return v.AsString()
	case kind.IsPrimitiveType():
		return v.GoString()
	case kind.IsObjectType() || kind.IsMapType():
		out := map[string]any{}
		for name, value := range v.AsValueMap() {
			out[name] = valueTree(value)
		}
		return out
	default:
		out := []any{}
		for _, value := range v.AsValueSlice() {
			out = append(out, valueTree(value))
		}
		return out
	}
}
