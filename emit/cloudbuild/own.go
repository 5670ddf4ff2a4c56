package cloudbuild

import "github.com/batchwright/batchwright/compiler/ir"

// applyOwn returns the steps that apply the administrator's own manifests, after the
// platform's objects, and delete the objects that no manifest has any more.
func applyOwn(p *ir.Platform) []task {
	if p.Own == nil {
		return nil
	}
	return []task{scriptStep(p, 1800, "own-manifests", readScript("own-manifests.sh"), ownVariables(p)...)}
}

// deleteOwn returns the steps that delete the objects of the administrator's own manifests:
// their load balancers and disks would outlive the cluster.
func deleteOwn(p *ir.Platform) []task {
	if p.Own == nil {
		return nil
	}
	return []task{clusterStep(p, 1800, "own-manifests", readScript("own-delete.sh"), ownVariables(p)...)}
}

func ownVariables(p *ir.Platform) []variable {
	return []variable{{"FOLDER", ir.OwnFolder}, {"OWN", ir.LabelOwn + "=" + p.Name}}
}
