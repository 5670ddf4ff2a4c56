package dashboards

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// checkPolicies checks the alert policies in a Terraform file. The values to which
// they refer must be constants in the same file.
func checkPolicies(content []byte) []error {
	file, diags := hclsyntax.ParseConfig(content, "", hcl.InitialPos)
	if diags.HasErrors() {
		return []error{diags}
	}
	body := file.Body.(*hclsyntax.Body)
	constants := localValues(body)

	var errs []error
	for _, block := range policies(body) {
		instances, err := instances(block.Body, constants)
		if err != nil {
			errs = append(errs, fmt.Errorf("alert policy %s: %w", block.Labels[1], err))
		}
		for _, name := range slices.Sorted(maps.Keys(instances)) {
			for _, err := range checkPolicy(block.Body, instances[name]) {
				errs = append(errs, fmt.Errorf("alert policy %s%s: %w", block.Labels[1], name, err))
			}
		}
	}
	return errs
}

// localValues is a scope with those of a file's locals that are constant.
func localValues(body *hclsyntax.Body) *hcl.EvalContext {
	locals := map[string]cty.Value{}
	for _, block := range blocks(body, "locals") {
		for name, attribute := range block.Body.Attributes {
			if value, diags := attribute.Expr.Value(nil); !diags.HasErrors() {
				locals[name] = value
			}
		}
	}
	return &hcl.EvalContext{Variables: map[string]cty.Value{"local": cty.ObjectVal(locals)}}
}

// policies returns the resources of a file that are alert policies.
func policies(body *hclsyntax.Body) []*hclsyntax.Block {
	return slices.DeleteFunc(blocks(body, "resource"), func(b *hclsyntax.Block) bool {
		return len(b.Labels) != 2 || b.Labels[0] != "google_monitoring_alert_policy"
	})
}

// promqlConditions returns the conditions of a policy that are PromQL.
func promqlConditions(policy *hclsyntax.Body) []*hclsyntax.Body {
	var out []*hclsyntax.Body
	for _, conditions := range blocks(policy, "conditions") {
		for _, condition := range blocks(conditions.Body, "condition_prometheus_query_language") {
			out = append(out, condition.Body)
		}
	}
	return out
}

// instances returns the scope of each instance of a resource, by its index: ""
// for the only one.
func instances(body *hclsyntax.Body, constants *hcl.EvalContext) (map[string]*hcl.EvalContext, error) {
	attribute, ok := body.Attributes["for_each"]
	if !ok {
		return map[string]*hcl.EvalContext{"": constants}, nil
	}
	value, diags := attribute.Expr.Value(constants)
	if diags.HasErrors() {
		return nil, fmt.Errorf("for_each is not constant: %w", diags)
	}
	if !value.CanIterateElements() || value.LengthInt() == 0 {
		return nil, errors.New("for_each has no elements")
	}
	out := map[string]*hcl.EvalContext{}
	for key, element := range value.Elements() {
		scope := constants.NewChild()
		scope.Variables = map[string]cty.Value{
			"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": element}),
		}
		out[fmt.Sprintf("[%q]", key.AsString())] = scope
	}
	return out, nil
}

// variable finds a label's value in the documentation of an alert policy.
var variable = regexp.MustCompile(`\$\{metric_or_resource\.label\.(\w+)\}`)

func checkPolicy(body *hclsyntax.Body, scope *hcl.EvalContext) []error {
	var errs []error
	var have map[string]bool
	conditions := promqlConditions(body)
	for _, condition := range conditions {
		labels, conditionErrs := checkCondition(condition, scope)
		have = labels
		errs = append(errs, conditionErrs...)
	}
	// Source: Cloud Monitoring documentation, alert policies: 1 to 6.
	if n := len(conditions); n == 0 || n > 6 {
		errs = append(errs, fmt.Errorf("%d conditions on PromQL, want 1 to 6", n))
	}
	for _, documentation := range blocks(body, "documentation") {
		content, err := constant(documentation.Body, "content", scope)
		if err != nil {
			errs = append(errs, err)
		}
		if strings.Contains(content, "{{") {
			errs = append(errs,
				fmt.Errorf("documentation %q: Cloud Monitoring has no templates, but variables", content))
		}
		for _, label := range variable.FindAllStringSubmatch(content, -1) {
			if have != nil && !have[label[1]] {
				errs = append(errs, fmt.Errorf("documentation speaks of label %s, which the query drops", label[1]))
			}
		}
	}
	return errs
}

// checkCondition returns the labels of the query, too.
func checkCondition(body *hclsyntax.Body, scope *hcl.EvalContext) (map[string]bool, []error) {
	query, err := constant(body, "query", scope)
	if err != nil {
		return nil, []error{err}
	}
	labels, errs := queryLabels(query)

	interval, err := constant(body, "evaluation_interval", scope)
	if err != nil {
		return labels, append(errs, err)
	}
	// Source: provider documentation of the argument.
	if seconds, err := strconv.Atoi(strings.TrimSuffix(interval, "s")); err != nil || seconds <= 0 || seconds%30 != 0 {
		errs = append(errs, fmt.Errorf("evaluation_interval %q is not a multiple of 30 seconds", interval))
	}
	// When the policy is created, Kueue has not run and its metrics do not
	// exist yet.
	if validation, err := constant(body, "disable_metric_validation", scope); err != nil || validation != "true" {
		errs = append(errs, errors.New("disable_metric_validation is not true"))
	}
	return labels, errs
}

// blocks returns the blocks of a type.
func blocks(body *hclsyntax.Body, kind string) []*hclsyntax.Block {
	var out []*hclsyntax.Block
	for _, block := range body.Blocks {
		if block.Type == kind {
			out = append(out, block)
		}
	}
	return out
}

// constant returns an attribute's value as a string.
func constant(body *hclsyntax.Body, name string, scope *hcl.EvalContext) (string, error) {
	attribute, ok := body.Attributes[name]
	if !ok {
		return "", fmt.Errorf("no %s", name)
	}
	value, diags := attribute.Expr.Value(scope)
	if diags.HasErrors() {
		return "", fmt.Errorf("%s is not constant: %w", name, diags)
	}
	switch value.Type() {
	case cty.String:
		return value.AsString(), nil
	case cty.Bool:
		return strconv.FormatBool(value.True()), nil
	default:
		return "", fmt.Errorf("%s is a %s", name, value.Type().FriendlyName())
	}
}
