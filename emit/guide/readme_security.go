package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// explainDemanded explains what must exist before the first build because of security
// settings.
func explainDemanded(d *document, p *ir.Platform) {
	if key := p.Security.KMSKey; key != "" {
		d.Para("The key ", codeSpan(key),
			" encrypts boot disks and the Secrets in etcd. Before the first build, let the agents ",
			"of Compute Engine and of GKE use the key. The agents exist after `./create-platform.sh --prepare` has "+
				"enabled ",
			"the services:")
		grant := func(agent string) string {
			return shellCommand("gcloud", "kms", "keys", "add-iam-policy-binding", key,
				"--role=roles/cloudkms.cryptoKeyEncrypterDecrypter", unconditional) +
				` --member="serviceAccount:service-$number@` + agent + `.iam.gserviceaccount.com"`
		}
		d.Code("sh",
			"number=$("+shellCommand("gcloud", "projects", "describe", p.Project, "--format=value(projectNumber)")+")",
			grant("compute-system"), grant("container-engine-robot"))
		d.Para("The cluster stops when the key is disabled or destroyed. ",
			"All data that a destroyed key has encrypted is lost.")
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
