package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// explainDemanded explains what must exist before the first build because of security
// settings.
func explainDemanded(d *document, p *ir.Platform) {
	if key := p.Security.KMSKey; key != "" {
		explainKey(d, p, key)
	}
	if topic := p.Security.BulletinTopic; topic != "" {
		d.Para("GKE sends security bulletins and news of upgrades to the Pub/Sub topic ", codeSpan(topic),
			". The topic must exist: the build does not create it. Without a subscription, nobody gets the messages.")
	}
	if p.Security.BinaryAuthorization {
		d.Para("GKE starts only images that the Binary Authorization policy of the project admits. ",
			"The policy belongs to the project, not to this folder. It must admit the images of ",
			escapeText(p.Scheduler.Facts().Name), ", JobSet and the teams. ",
			"It admits GKE's own images if it trusts Google's system images.")
	}
}

// explainKey explains who must be able to use the key. In a cluster of others, the key
// encrypts only the boot disks of the platform's node pools. Source: GKE documentation,
// "Use customer-managed encryption keys (CMEK)".
func explainKey(d *document, p *ir.Platform, key string) {
	what, exist := markup("boot disks and the Secrets in etcd"), markup("The agents exist")
	agents := markup("the agents of Compute Engine and of GKE")
	stops := markup("The cluster stops when the key is disabled or destroyed.")
	used := []string{"compute-system", "container-engine-robot"}
	if !p.OwnsCluster() {
		what, exist = "the boot disks of the platform's nodes", "The agent exists"
		agents = "the agent of Compute Engine"
		stops, used = "No such node starts while the key is disabled.", used[:1]
	}
	d.Para("The key ", codeSpan(key), " encrypts ", what, ". Before the first build, let ", agents, " use the key. ",
		exist, " after `./create-platform.sh --prepare` has enabled the services:")
	lines := []string{
		"number=$(" + shellCommand("gcloud", "projects", "describe", p.Project, "--format=value(projectNumber)") + ")",
	}
	for _, agent := range used {
		lines = append(lines, shellCommand("gcloud", "kms", "keys", "add-iam-policy-binding", key,
			"--role=roles/cloudkms.cryptoKeyEncrypterDecrypter", unconditional)+
			` --member="serviceAccount:service-$number@`+agent+`.iam.gserviceaccount.com"`)
	}
	d.Code("sh", lines...)
	d.Para(stops, " All data that a destroyed key has encrypted is lost.")
}

// explainLogging explains which audit logs the platform turns on.
func explainLogging(d *document, p *ir.Platform) {
	if !p.Security.DataAccessLogs {
		return
	}
	d.Para(fileLink("create-platform.sh"),
		" turns on the Data Access audit logs of GKE and Cloud Storage. They record who ",
		"reads and writes what, in every cluster and bucket of ", codeSpan(p.Project),
		". The script keeps the project's other audit logs on. Cloud Logging bills the logs by volume. ",
		"They stay on when the platform is destroyed. To turn them off, use the page ",
		consoleLink("audit logs of the project", "iam-admin/audit", p.Project), ".")
}
