package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// demanded says what must be there first for what the organisation demands.
func demanded(d *document, p *ir.Platform) {
	if key := p.Security.KMSKey; key != "" {
		d.Para("Boot disks and the Secrets in etcd are encrypted with ", code(key),
			". Before the first build, let the agents of ",
			"Compute Engine and of GKE use the key; they exist once `./create-platform.sh --prepare` has enabled ",
			"the services:")
		grant := func(agent string) string {
			return command("gcloud", "kms", "keys", "add-iam-policy-binding", key,
				"--role=roles/cloudkms.cryptoKeyEncrypterDecrypter") +
				` --member="serviceAccount:service-$number@` + agent + `.iam.gserviceaccount.com"`
		}
		d.Code("sh",
			"number=$("+command("gcloud", "projects", "describe", p.Project, "--format=value(projectNumber)")+")",
			grant("compute-system"), grant("container-engine-robot"))
		d.Para("The cluster stops when the key is disabled or destroyed. ",
			"What a destroyed key has encrypted is lost.")
	}
	if p.Security.BinaryAuthorization {
		d.Para("GKE starts only images that the Binary Authorization policy of the project admits. ",
			"The policy is the project's, not this folder's: it must admit the images of ", schedulerName(p),
			", JobSet and the teams. ",
			"GKE's own are admitted if the policy trusts Google's system images.")
	}
}

// logged says which audit logs the platform turns on.
func logged(d *document, p *ir.Platform) {
	if !p.Security.DataAccessLogs {
		return
	}
	d.Para(file("create-platform.sh"), " turns on the Data Access audit logs of GKE and Cloud Storage: who reads and "+
		"writes what, in every cluster and bucket of ",
		code(p.Project), ". It keeps what the project logs besides. Cloud Logging bills the logs by volume. ",
		"They stay on when the platform is destroyed; the ", console("audit logs of the project", "iam-admin/audit", p.Project), " "+
			"turn them off.")
}

// schedulerName names what starts the teams' jobs.
func schedulerName(p *ir.Platform) markup {
	if p.Scheduler == ir.KAI {
		return "KAI Scheduler"
	}
	return "Kueue"
}
