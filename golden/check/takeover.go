package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// checkImport checks an import block: its resource is declared, with a key if the
// resource has instances, and cannot be destroyed; its ID is text, and for Terraform 1.5 a
// literal.
func (r *tfRoot) checkImport(block *hclsyntax.Block, ctx *hcl.EvalContext) {
	body := block.Body
	for name := range body.Attributes {
		if name != "to" && name != "id" && name != "for_each" {
			r.errorf(block.Range(), "an import has no argument %s", name)
		}
	}
	to, id, each := body.Attributes["to"], body.Attributes["id"], body.Attributes["for_each"]
	if to == nil || id == nil || r.caller != nil {
		r.errorf(block.Range(), "an import is in the root, and has to and id")
		return
	}
	var resource *tfResource
	for address := range nodeReferences(to.Expr) {
		if found := r.resources[address]; found != nil {
			resource = found
		}
	}
	if resource == nil {
		r.errorf(to.SrcRange, "there is no such resource to import to")
		return
	}
	whole, _ := to.Expr.(*hclsyntax.ScopeTraversalExpr)
	if keyed := whole == nil || len(whole.Traversal) > 2; keyed != (resource.body.Attributes["for_each"] != nil) {
		r.errorf(to.SrcRange, "%s is imported with a key, or without: %t", resource.address, keyed)
	}
	if !preventsDestroy(resource.body) {
		r.errorf(to.SrcRange, "%s is imported and can be destroyed", resource.address)
	}
	if r.isOld() {
		if _, diags := id.Expr.Value(nil); diags.HasErrors() || each != nil {
			r.errorf(id.SrcRange, "Terraform 1.5 takes only a literal id, and no for_each")
		}
	}
	if each != nil {
		r.evaluateArgument(body, "for_each", ctx, cty.Set(cty.String))
		ctx = ctx.NewChild()
		ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{
			"key": cty.StringVal("a"), "value": cty.StringVal("a"),
		})}
	}
	r.evaluateArgument(body, "id", ctx, cty.String)
}

// preventsDestroy reports whether Terraform refuses to destroy a resource.
func preventsDestroy(body *hclsyntax.Body) bool {
	for _, block := range body.Blocks {
		if a := block.Body.Attributes["prevent_destroy"]; block.Type == "lifecycle" && a != nil {
			v, diags := a.Expr.Value(nil)
			return !diags.HasErrors() && v.RawEquals(cty.True)
		}
	}
	return false
}

// letGoFile holds the blocks for the former owners of what a platform takes over.
const letGoFile = "takeover/removed.tf"

// checkLetGo checks the blocks for former owners like Terraform: a removed block names a
// resource, without keys, and keeps it; a moved block moves an instance to the address of
// a removed block, and to the same type.
func checkLetGo(folder fs.FS) []error {
	source, err := fs.ReadFile(folder, letGoFile)
	if err != nil {
		return nil // the platform takes nothing over, or its former owners have no Terraform
	}
	file, diags := hclsyntax.ParseConfig(source, letGoFile, hcl.InitialPos)
	if diags.HasErrors() {
		return []error{diags}
	}
	var errs []error
	if !bytes.Equal(source, hclwrite.Format(source)) {
		errs = append(errs, fmt.Errorf("%s: terraform fmt would change it", letGoFile))
	}
	body := file.Body.(*hclsyntax.Body)
	if len(body.Attributes) > 0 || len(body.Blocks) == 0 {
		errs = append(errs, fmt.Errorf("%s: want blocks alone", letGoFile))
	}
	removed, moved := map[string]bool{}, map[string]bool{}
	for _, block := range body.Blocks {
		if err := readLetGo(block, removed, moved); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", block.Range(), err))
		}
	}
	for to := range moved {
		if !removed[to] {
			errs = append(errs, fmt.Errorf("%s: %s is moved, and not removed", letGoFile, to))
		}
	}
	return errs
}

// readLetGo checks one block, and adds its address to removed or moved.
func readLetGo(block *hclsyntax.Block, removed, moved map[string]bool) error {
	from, keys, err := addressOf(block.Body.Attributes["from"])
	if err != nil {
		return err
	}
	switch block.Type {
	case "removed":
		if keys > 0 || removed[from] {
			return fmt.Errorf("%s is removed twice, or has a key", from)
		}
		removed[from] = true
		for _, inner := range block.Body.Blocks {
			if a := inner.Body.Attributes["destroy"]; inner.Type == "lifecycle" && a != nil {
				if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.RawEquals(cty.False) {
					return nil
				}
			}
		}
		return fmt.Errorf("%s is destroyed", from)
	case "moved":
		to, more, err := addressOf(block.Body.Attributes["to"])
		if err != nil {
			return err
		}
		if keys == 0 || more > 0 || typeOfAddress(from) != typeOfAddress(to) {
			return fmt.Errorf("%s cannot move to %s", from, to)
		}
		moved[to] = true
		return nil
	}
	return fmt.Errorf("a block %s", block.Type)
}

// addressOf returns the address in an argument, and the number of keys in it.
func addressOf(a *hclsyntax.Attribute) (address string, keys int, err error) {
	if a == nil {
		return "", 0, fmt.Errorf("no address")
	}
	traversal, diags := hcl.AbsTraversalForExpr(a.Expr)
	if diags.HasErrors() {
		return "", 0, diags
	}
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			address = step.Name
		case hcl.TraverseAttr:
			address += "." + step.Name
		default:
			keys++
		}
	}
	return address, keys, nil
}

// typeOfAddress returns the type of the resource with an address without keys.
func typeOfAddress(address string) string {
	for {
		kind, rest, _ := strings.Cut(address, ".")
		if kind != "module" {
			return kind
		}
		_, address, _ = strings.Cut(rest, ".")
	}
}
