package dashboards

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// checkQuery parses PromQL, whose variables must be replaced, and checks it against
// the metrics that the schedulers export.
func checkQuery(query string) []error {
	_, errs := queryLabels(query)
	return errs
}

// queryLabels is like checkQuery, and also returns the labels that the result can
// have, or nil if they are unknown.
func queryLabels(query string) (map[string]bool, []error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return nil, []error{fmt.Errorf("query %s: %w", query, err)}
	}
	c := checker{metrics: inventory(kueueMetrics + kaiMetrics)}
	have := c.labels(expr)
	for i, err := range c.errs {
		c.errs[i] = fmt.Errorf("query %s: %w", query, err)
	}
	return have, c.errs
}

type checker struct {
	metrics map[string]metric
	errs    []error
}

func (c *checker) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// labels returns the labels that series of an expression can have, or nil if they
// are unknown. It reports the mistakes in the expression.
func (c *checker) labels(expr parser.Expr) map[string]bool {
	switch e := expr.(type) {
	case *parser.VectorSelector:
		return c.selector(e)
	case *parser.MatrixSelector:
		return c.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return c.labels(e.Expr)
	case *parser.ParenExpr:
		return c.labels(e.Expr)
	case *parser.UnaryExpr:
		return c.labels(e.Expr)
	case *parser.StepInvariantExpr:
		return c.labels(e.Expr)
	case *parser.AggregateExpr:
		return c.aggregate(e)
	case *parser.BinaryExpr:
		return c.binary(e)
	case *parser.Call:
		return c.call(e)
	default: // literals
		return nil
	}
}

func (c *checker) selector(s *parser.VectorSelector) map[string]bool {
	name := s.Name
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			name = m.Value
		}
	}
	switch {
	case strings.HasPrefix(name, "kueue_"), strings.HasPrefix(name, "multikueue_"):
		return c.ownSelector("Kueue", name, s.LabelMatchers)
	case strings.HasPrefix(name, "kai_"):
		return c.ownSelector("KAI Scheduler", name, s.LabelMatchers)
	case strings.Contains(name, ":"), strings.Contains(name, "/"):
		c.systemSelector(name, s.LabelMatchers)
	case strings.HasPrefix(name, "jobset_"):
		if matcher(s.LabelMatchers, "namespace") != nil {
			c.errorf("%s: namespace is the controller's own; the JobSet's is exported_namespace", name)
		}
	}
	return nil
}

// ownSelector checks a metric of a scheduler.
func (c *checker) ownSelector(scheduler, name string, matchers []*labels.Matcher) map[string]bool {
	m, suffix, ok := c.metric(name)
	if !ok {
		c.errorf("%s has no metric %s", scheduler, name)
		return nil
	}
	if slices.Contains(m.labels, "replica_role") {
		// Replicas that wait for leadership export gauges, too.
		role := matcher(matchers, "replica_role")
		if role == nil || role.Matches("follower") {
			c.errorf(`%s counts followers twice: match replica_role!="follower"`, name)
		}
	}
	have := m.scraped(suffix == "_bucket")
	for _, m := range matchers {
		if m.Name != model.MetricNameLabel && !have[m.Name] {
			c.errorf("%s has no label %s", name, m.Name)
		}
	}
	if slices.Contains(m.labels, "namespace") && matcher(matchers, "namespace") != nil {
		c.errorf("%s: namespace is %s's own; the queue's is exported_namespace", name, scheduler)
	}
	return have
}

// metric finds a metric by its name in queries, which for histograms has a suffix.
func (c *checker) metric(name string) (m metric, suffix string, ok bool) {
	if m, ok := c.metrics[name]; ok && m.kind != "histogram" {
		return m, "", true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if m, ok := c.metrics[strings.TrimSuffix(name, suffix)]; ok && m.kind == "histogram" &&
			strings.HasSuffix(name, suffix) {
			return m, suffix, true
		}
	}
	return metric{}, "", false
}

// systemSelector checks a metric of Cloud Monitoring itself.
func (c *checker) systemSelector(name string, matchers []*labels.Matcher) {
	// Source: Cloud Monitoring documentation, PromQL: a metric of several
	// resource types can only be queried with a resource type.
	if matcher(matchers, "monitored_resource") == nil {
		c.errorf("%s needs a matcher of monitored_resource", name)
	}
	if matcher(matchers, "cluster") != nil {
		c.errorf("%s calls the cluster cluster_name", name)
	}
	if strings.HasPrefix(name, "kubernetes_io:") && matcher(matchers, "cluster_name") == nil {
		c.errorf("%s is not limited to the platform's cluster: match cluster_name", name)
	}
}

func matcher(matchers []*labels.Matcher, label string) *labels.Matcher {
	for _, m := range matchers {
		if m.Name == label {
			return m
		}
	}
	return nil
}

func (c *checker) aggregate(e *parser.AggregateExpr) map[string]bool {
	have := c.labels(e.Expr)
	if have != nil {
		c.want(have, e.Grouping, "grouped by")
	}
	if !e.Without {
		return set(e.Grouping)
	}
	if have == nil {
		return nil
	}
	out := maps.Clone(have)
	for _, label := range e.Grouping {
		delete(out, label)
	}
	return out
}

func (c *checker) binary(e *parser.BinaryExpr) map[string]bool {
	left, right := c.labels(e.LHS), c.labels(e.RHS)
	m := e.VectorMatching
	if m == nil { // one side is a scalar
		if left == nil {
			return right
		}
		return left
	}
	if m.On {
		if left != nil {
			c.want(left, m.MatchingLabels, "matched on")
		}
		if right != nil {
			c.want(right, m.MatchingLabels, "matched on")
		}
	}
	switch {
	case e.Op == parser.LAND, e.Op == parser.LUNLESS:
		return left
	case left == nil || right == nil:
		return nil
	case e.Op == parser.LOR:
		out := maps.Clone(left)
		maps.Copy(out, right)
		return out
	case m.Card != parser.CardOneToOne:
		out := maps.Clone(left)
		if m.Card == parser.CardOneToMany {
			out = maps.Clone(right)
		}
		maps.Copy(out, set(m.Include))
		return out
	case m.On:
		return set(m.MatchingLabels)
	default:
		return left
	}
}

func (c *checker) call(e *parser.Call) map[string]bool {
	var have map[string]bool
	for _, arg := range e.Args {
		if inner := c.labels(arg); inner != nil {
			have = inner
		}
	}
	switch e.Func.Name {
	case "rate", "irate", "increase":
		c.counted(e)
	case "label_replace", "label_join":
		if have != nil {
			have = maps.Clone(have)
			have[e.Args[1].(*parser.StringLiteral).Val] = true
		}
	case "histogram_quantile":
		if have != nil {
			if !have["le"] {
				c.errorf("%s without the label le", e.Func.Name)
			}
			have = maps.Clone(have)
			delete(have, "le")
		}
	case "absent", "absent_over_time", "vector":
		return nil
	}
	return have
}

// counted reports rates of gauges.
func (c *checker) counted(e *parser.Call) {
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			if m, ok := c.metrics[s.Name]; ok && m.kind == "gauge" {
				c.errorf("%s of %s, which is a gauge", e.Func.Name, s.Name)
			}
			if s.Name == "kubernetes_io:node_interruption_count" { // a gauge, in spite of its name
				c.errorf("%s of %s, which is a gauge: use sum_over_time", e.Func.Name, s.Name)
			}
		}
		return nil
	})
}

func (c *checker) want(have map[string]bool, wanted []string, how string) {
	for _, label := range wanted {
		if !have[label] {
			c.errorf("%s %s, a label the series do not have", how, label)
		}
	}
}

func set(names []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}
