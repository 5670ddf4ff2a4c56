package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// askOwners explains what must happen to the service accounts that belong to somebody
// else. The platform changes nothing about them: whoever may act as an account has all
// its rights, so its owner decides who may; and a role that both Terraform and the owner
// grant would be one binding, which the platform's end would remove.
func askOwners(d *document, p *ir.Platform) {
	teams := p.ForeignAccounts()
	if len(teams) == 0 {
		return
	}
	d.Heading(3, foreignHeading)
	d.Para("These teams' jobs act as service accounts that belong to somebody else. The platform neither creates ",
		"nor deletes these accounts, and grants them no role on a project:")
	rows := make([][]markup, 0, len(teams))
	for _, t := range teams[:min(len(teams), fewTeams)] {
		rows = append(rows, []markup{codeSpan(t.Name), codeSpan(t.Account.Address)})
	}
	d.Table([]markup{"Team", "Service account"}, rows)
	ask := markup("When the cluster exists, ask the owner")
	if !p.OwnsCluster() {
		ask = "Ask the owner"
	}
	d.Para(ask, " of each account to let the team's Kubernetes service account act ",
		"as it. Until then, the jobs of the team get no credentials of Google Cloud. `./create-platform.sh --prepare` ",
		"prints the command for each account that lacks this right:")
	var lines []string
	for _, t := range teams[:min(len(teams), fewTeams)] {
		lines = append(lines, shellCommand("gcloud", "iam", "service-accounts", "add-iam-policy-binding",
			t.Account.Address, "--member=serviceAccount:"+p.Project+".svc.id.goog["+t.Namespace+"/"+t.KubeAccount+"]",
			"--role=roles/iam.workloadIdentityUser", unconditional))
	}
	d.Code("sh", lines...)
	writes := markup("logs and metrics")
	if p.Monitoring.TensorBoard != "" {
		writes = "logs and metrics, or data to the TensorBoard"
	}
	d.Para("Jobs that write ", writes, " to ", codeSpan(p.Project), " themselves need these roles there: ",
		codeList(p.JobRoles), ". The output of containers needs no role. Grant the roles to the account if its jobs ",
		"need them, and revoke them yourself when you destroy the platform.")
}
