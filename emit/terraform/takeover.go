package terraform

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// letGoFile holds the blocks with which the Terraform configurations of former owners
// let go of the resources that the platform takes over.
const letGoFile = "takeover/removed.tf"

// The types of the resources that a platform can take over.
const (
	clusterType = "google_container_cluster"
	poolType    = "google_container_node_pool"
)

// writeImports writes an import block for each resource that the platform takes over.
//
// Infrastructure Manager runs Terraform 1.5, in which the id of an import block is a
// literal and the block has no for_each. Sources: hashicorp/terraform, pull requests
// 33618 (1.6) and 33932 (1.7).
//
// Import blocks and prevent_destroy were tried with Terraform 1.11.4 and its built-in
// terraform_data, as a second import after the first, and with a changed
// triggers_replace. An import block of a resource that is in the state does nothing. A
// plan that imports a resource and would also replace it is printed, with "Warning: this
// will destroy the imported resource", and then fails: "Instance cannot be destroyed".
// Without prevent_destroy, such a plan succeeds, and its apply destroys the resource. A
// replace_triggered_by does not replace an imported resource if the resource that it
// names is created in the same plan.
func writeImports(b *body, p *ir.Platform) {
	if !p.TakesOver() {
		return
	}
	b.note("These resources exist already, and the next apply imports them. Once a resource is in",
		"the state, its block does nothing.")
	if p.Cluster.TakeOver != nil {
		block := b.block("import")
		block.setTokens("to", traversalTokens(clusterType, "main"))
		if p.Delivery.InfrastructureManager {
			block.setString("id", p.ClusterPath())
		} else {
			block.setExpr("id", `"projects/${var.project_id}/locations/${var.region}/clusters/${var.cluster_name}"`)
		}
	}
	for _, c := range p.TakenOverCapacities() {
		switch {
		case p.Delivery.InfrastructureManager:
			for _, pool := range c.Pools() {
				block := b.block("import")
				block.setTokens("to", poolInstance(c, pool))
				block.setString("id", p.Project+"/"+p.Cluster.Location+"/"+p.Cluster.Name+"/"+pool)
			}
		case c.Sliced():
			block := b.block("import")
			block.setTokens("for_each",
				hclwrite.TokensForFunctionCall("toset", hclwrite.TokensForValue(stringTuple(c.Pools()))))
			block.setTokens("to", indexTokens(traversalTokens(poolType, resourceLabel(c.Name)),
				traversalTokens("each", "key")))
			block.setTokens("id", poolID(p, traversalTokens("each", "key")))
		default:
			block := b.block("import")
			block.setTokens("to", poolInstance(c, c.Name))
			block.setTokens("id", poolID(p, stringTokens(c.Name)))
		}
	}
}

// poolInstance returns a reference to the resource of one of a capacity's pools.
func poolInstance(c ir.Capacity, pool string) hclwrite.Tokens {
	resource := traversalTokens(poolType, resourceLabel(c.Name))
	if c.Sliced() {
		return indexTokens(resource, stringTokens(pool))
	}
	return resource
}

// poolID returns an expression for the ID by which the provider imports the pool with a
// name. Source: documentation of the provider hashicorp/google,
// google_container_node_pool, "Import".
func poolID(p *ir.Platform, name hclwrite.Tokens) hclwrite.Tokens {
	location := constant("var.region")
	if !p.OwnsCluster() {
		location = "var.cluster_location"
	}
	return hclwrite.TokensForFunctionCall("join", stringTokens("/"), tupleTokens(
		traversalTokens("var", "project_id"), sourceTokens(location), traversalTokens("var", "cluster_name"), name))
}

// indexTokens returns the tokens of an element, as in list[key].
func indexTokens(list, key hclwrite.Tokens) hclwrite.Tokens {
	out := append(hclwrite.Tokens{}, list...)
	out = append(out, newToken(hclsyntax.TokenOBrack, "["))
	out = append(out, key...)
	return append(out, newToken(hclsyntax.TokenCBrack, "]"))
}

// preventDestroy lets Terraform refuse every plan that would replace or destroy a
// resource that was taken over.
func preventDestroy(lifecycle *body, reason constant) {
	lifecycle.note(reason)
	lifecycle.setBool("prevent_destroy", true)
}

// letGo returns takeover/removed.tf, and no file if no configuration must let go of a
// resource. It returns an error for an address that is none, which the schema excludes.
func letGo(p *ir.Platform) ([]emit.File, error) {
	if !p.HasFormerConfiguration() {
		return nil, nil
	}
	file := hclwrite.NewEmptyFile()
	b := &body{Body: file.Body()}
	b.note("For the Terraform configurations of the former owners: Terraform forgets these resources",
		"and leaves them as they are. README.md says what else to do.")
	release := func(kind, label string, t ir.TakeOver) error {
		if t.From == "" {
			return nil
		}
		address, diags := hclsyntax.ParseTraversalAbs([]byte(t.From), "", hcl.InitialPos)
		if diags.HasErrors() {
			return fmt.Errorf("terraform: %q is no address of a resource: %w", t.From, diags)
		}
		from := hclwrite.TokensForTraversal(address)
		if t.NamesInstance() {
			moved := traversalTokens(kind, label)
			b.note("A removed block cannot name one instance of a resource, so the instance moves first.")
			block := b.block("moved")
			block.setTokens("from", from)
			block.setTokens("to", moved)
			from = moved
		}
		block := b.block("removed")
		block.setTokens("from", from)
		block.block("lifecycle").setLiteral("destroy", cty.False)
		return nil
	}
	if t := p.Cluster.TakeOver; t != nil {
		if err := release(clusterType, "taken_over", *t); err != nil {
			return nil, err
		}
	}
	for _, c := range p.TakenOverCapacities() {
		if err := release(poolType, "taken_over_"+resourceLabel(c.Name), *c.TakeOver); err != nil {
			return nil, err
		}
	}
	return []emit.File{{Path: letGoFile, Content: file.Bytes()}}, nil
}
