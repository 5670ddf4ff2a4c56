package terraform

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// kubectlApply is the folder of the second group of `gcluster deploy`, beside the root
// terraform/. It is a Terraform root that installs Kueue and the controllers, and applies the
// manifests of the folder kubernetes/, which stay the only description of the objects. It
// bears the name of Cluster Toolkit's module for the same purpose. The build does not use
// it: only this root has providers besides Google's.
const kubectlApply = ir.ToolkitGroup

// releaseModule is the folder, below the root, of the module that installs a release.
const releaseModule = "modules/release"

// The providers of the root besides Google's, at the versions that are tested. Cluster
// Toolkit's own module kubectl-apply uses the same two.
const (
	kubectlProvider, kubectlVersion = "gavinbunney/kubectl", "1.19.0"
	httpProvider, httpVersion       = "hashicorp/http", "3.5.0"
)

// kubectlApplyFiles returns the files of the root, none if gcluster cannot install the
// platform's software.
func kubectlApplyFiles(p *ir.Platform) []emit.File {
	if !p.ToolkitApplies() {
		return nil
	}
	var files []emit.File
	for _, f := range []rootFile{
		{"versions.tf", applyVersions},
		{"providers.tf", applyProviders},
		{"backend.tf", applyBackend},
		{"variables.tf", func(b *body, p *ir.Platform) { declareVariables(b, applyVariables(p)) }},
		{"terraform.tfvars", func(b *body, p *ir.Platform) { setVariables(b, applyVariables(p)) }},
		{"releases.tf", applyReleases},
		{"manifests.tf", applyManifests},
		{releaseModule + "/main.tf", releaseMain},
		{releaseModule + "/variables.tf", func(b *body, p *ir.Platform) { releaseVariables(b) }},
		{releaseModule + "/versions.tf", releaseVersions},
	} {
		file := hclwrite.NewEmptyFile()
		f.write(&body{Body: file.Body()}, p)
		files = append(files, emit.File{Path: kubectlApply + "/" + f.name, Content: file.Bytes()})
	}
	return files
}

// requireProviders writes the providers of a root with their versions, or those of a
// module without.
func requireProviders(terraform *body, withVersions bool, providers ...[3]string) {
	required := terraform.block("required_providers")
	for _, p := range providers {
		entries := []entry{{"source", stringTokens(p[1])}}
		if withVersions {
			entries = append(entries, entry{"version", stringTokens(p[2])})
		}
		required.setTokens(p[0], objectTokens(entries))
	}
}

func applyVersions(b *body, p *ir.Platform) {
	terraform := b.block("terraform")
	terraform.setString("required_version", ">= 1.9")
	requireProviders(terraform, true,
		[3]string{"google", googleProvider, p.Versions.GoogleProvider},
		[3]string{"http", httpProvider, httpVersion},
		[3]string{"kubectl", kubectlProvider, kubectlVersion})
}

func releaseVersions(b *body, _ *ir.Platform) {
	requireProviders(b.block("terraform"), false,
		[3]string{"http", httpProvider}, [3]string{"kubectl", kubectlProvider})
}

func applyProviders(b *body, _ *ir.Platform) {
	google := b.block("provider", "google")
	google.setExpr("project", "var.project_id")
	google.setExpr("region", "var.region")
	b.data("google_client_config", "current")
	cluster := b.data("google_container_cluster", "main")
	cluster.setExpr("name", "var.cluster_name")
	cluster.setExpr("location", "var.region")
	b.note("The DNS endpoint has a certificate of a public authority. A webhook that does not answer",
		"yet rejects an object: the provider tries again for about five minutes.")
	kubectl := b.block("provider", "kubectl")
	kubectl.setExpr("host", `"https://${data.google_container_cluster.main`+
		`.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint}"`)
	kubectl.setExpr("token", "data.google_client_config.current.access_token")
	kubectl.setBool("load_config_file", false)
	kubectl.setNumber("apply_retry_count", 15)
}

// applyBackend writes the location of the root's state, beside that of terraform/.
func applyBackend(b *body, p *ir.Platform) {
	gcs := b.block("terraform").block("backend", "gcs")
	gcs.setString("bucket", p.Delivery.StateBucket)
	gcs.setString("prefix", p.Delivery.StatePrefix+"-"+kubectlApply)
}

func applyVariables(p *ir.Platform) []variable {
	vars := []variable{
		projectVariable("project_id", "Google Cloud project of the platform.", p.Project),
		regionVariable("region", "Region of the control plane.", p.Region),
		{name: "cluster_name", kind: "string", description: "Name of the cluster.",
			value: stringValue(p.Cluster.Name)},
	}
	release := func(name, software string, r ir.Release) {
		vars = append(vars, variable{
			name: name + "_release", kind: "object({ url = string, sha256 = string })",
			description: "Release manifest of " + software + `, and its SHA-256. Any manifest is accepted if it is "".`,
			value: func() hclwrite.Tokens {
				return objectTokens([]entry{{"url", stringTokens(r.Manifest)}, {"sha256", stringTokens(r.SHA256)}})
			},
		})
	}
	release("kueue", "Kueue", p.Versions.KueueRelease())
	for _, c := range p.InstalledControllers() {
		release(c.Field, c.Name, c.Release())
	}
	return vars
}

// applyReleases writes a call of the module for each release. With the platform's
// configuration, Kueue handles only the namespaces of teams, and so do its webhooks: while
// Kueue is down, they block nobody else's requests.
func applyReleases(b *body, p *ir.Platform) {
	call := func(name string) *body {
		module := b.block("module", name)
		module.setString("source", "./"+releaseModule)
		module.addBlankLine()
		module.setExpr("release", "var."+constant(name)+"_release")
		return module
	}
	b.block("locals").setExpr("kueue_configuration",
		`file("${path.module}/../kubernetes/system/kueue-configuration.yaml")`)
	b.note("The controller reads its configuration only when it starts: the digest in its pods restarts it.",
		"Its webhooks see the namespaces that the configuration selects.")
	kueue := call("kueue")
	kueue.setExpr("configuration", "local.kueue_configuration")
	kueue.setExpr("namespace_selector", "yamldecode(yamldecode(local.kueue_configuration).data"+
		`["controller_manager_config.yaml"]).managedJobsNamespaceSelector`)
	kueue.setExpr("pod_annotations", `{ "batchwright/configuration" = sha256(local.kueue_configuration) }`)
	for _, c := range p.InstalledControllers() {
		call(c.Field)
	}
}

// applyManifests writes the objects of kubernetes/. Terraform destroys in the opposite
// order: first what is in the teams' namespaces and the namespaces with their jobs, then the
// queues, then flavors and policies, and the controllers last, because they remove the
// finalizers. It waits until namespaces, queues, and what all share are gone. It does not
// wait for objects in a namespace: Kubernetes deletes a LocalQueue, a Secret or a
// ServiceAccount with the request, and a namespace is gone only when it is empty.
func applyManifests(b *body, p *ir.Platform) {
	b.data("kubectl_kustomize_documents", "platform").setExpr("target", `"${path.module}/../kubernetes"`)
	locals := b.block("locals")
	locals.note("The module kueue applies Kueue's configuration.")
	locals.setExpr("objects", `{
  for document in data.kubectl_kustomize_documents.platform.documents :
  join("/", compact([
    yamldecode(document).kind,
    try(yamldecode(document).metadata.namespace, ""),
    yamldecode(document).metadata.name,
  ])) => document
  if yamldecode(document).metadata.name != yamldecode(local.kueue_configuration).metadata.name
}`)
	locals.setExpr("accounts", `{ for id, document in local.objects : id => document`+
		` if startswith(id, "ServiceAccount/") }`)
	locals.setExpr("namespaced", `{ for id, document in local.objects : id => document`+
		` if length(split("/", id)) == 3 && !contains(keys(local.accounts), id) }`)
	locals.setExpr("namespaces", `{ for id, document in local.objects : id => document`+
		` if startswith(id, "Namespace/") }`)
	locals.setExpr("queues", `{ for id, document in local.objects : id => document`+
		` if startswith(id, "ClusterQueue/") }`)
	locals.setExpr("shared", `{ for id, document in local.objects : id => document`+
		` if !contains(keys(merge(local.accounts, local.namespaced, local.namespaces, local.queues)), id) }`)

	dependencies := []hclwrite.Tokens{traversalTokens("module", "kueue")}
	for _, c := range p.InstalledControllers() {
		dependencies = append(dependencies, traversalTokens("module", c.Field))
	}
	b.note("Kubernetes does not change the value of a PriorityClass: Terraform creates it again.")
	shared := manifestResource(b, "shared", "local.shared", true)
	awaitDeletion(shared)
	shared.setExpr("force_new", `startswith(each.key, "PriorityClass/")`)
	shared.addBlankLine()
	shared.setTokens("depends_on", tupleTokens(dependencies...))

	b.note("Kueue keeps a ResourceFlavor as long as a ClusterQueue uses it.")
	queues := manifestResource(b, "queues", "local.queues", true)
	awaitDeletion(queues)
	queues.addBlankLine()
	queues.setExpr("depends_on", "[kubectl_manifest.shared]")

	namespaces := manifestResource(b, "namespaces", "local.namespaces", true)
	awaitDeletion(namespaces)
	namespaces.addBlankLine()
	namespaces.setExpr("depends_on", "[kubectl_manifest.queues]")

	b.note("Kubernetes deletes a token's Secret that exists before its ServiceAccount.")
	accounts := manifestResource(b, "accounts", "local.accounts", true)
	accounts.addBlankLine()
	accounts.setExpr("depends_on", "[kubectl_manifest.namespaces]")

	b.note("Kueue does not move a LocalQueue to another ClusterQueue: Terraform creates it again. Jobs that",
		"run continue.")
	namespaced := manifestResource(b, "namespaced", "local.namespaced", true)
	namespaced.setExpr("force_new", `startswith(each.key, "LocalQueue/")`)
	namespaced.addBlankLine()
	namespaced.setExpr("depends_on", "[kubectl_manifest.accounts]")
	if p.OwnFiles() != nil {
		applyOwnManifests(b)
	}
}

// applyOwnManifests writes the administrator's own manifests, after all objects of the
// platform. One resource has no order of its objects: what others need is a resource before
// it, and what needs others is a resource after it. A destroy waits for each of them, because
// any object can have a finalizer that a controller of the next resource removes.
func applyOwnManifests(b *body) {
	b.data("kubectl_kustomize_documents", "own").setExpr("target",
		constant(`"${path.module}/../`+ir.OwnFolder+`"`))
	locals := b.block("locals")
	locals.note("The administrator's own manifests. Objects of two API groups can have the same kind and name.")
	locals.setExpr("own_objects", `{
  for document in data.kubectl_kustomize_documents.own.documents :
  join("/", compact([
    join(".", concat([yamldecode(document).kind], try(regex("^(.+)/", yamldecode(document).apiVersion), []))),
    try(yamldecode(document).metadata.namespace, ""),
    yamldecode(document).metadata.name,
  ])) => document
}`)
	locals.setExpr("own_kinds", `[
  for id, document in local.own_objects :
  join(".", [yamldecode(document).spec.names.kind, yamldecode(document).spec.group])
  if startswith(id, "CustomResourceDefinition.")
]`)
	locals.setExpr("own_foundations", `{ for id, document in local.own_objects : id => document`+
		` if can(regex("^(Namespace/|CustomResourceDefinition[.])", id)) }`)
	locals.setExpr("own_dependents", `{ for id, document in local.own_objects : id => document`+
		` if startswith(id, "Secret/") || contains(local.own_kinds, split("/", id)[0]) }`)
	locals.setExpr("own", `{ for id, document in local.own_objects : id => document`+
		` if !contains(keys(merge(local.own_foundations, local.own_dependents)), id) }`)

	for _, wave := range []struct {
		name                 string
		documents, dependsOn constant
		notes                []constant
	}{
		{"own_foundations", "local.own_foundations", "namespaced", []constant{
			"As in a build, a field that another program manages is a conflict, and nothing waits for pods.",
		}},
		{"own", "local.own", "own_foundations", nil},
		{"own_dependents", "local.own_dependents", "own", []constant{
			"Their controllers run as long as custom resources exist, and remove the finalizers. Kubernetes",
			"deletes a token's Secret that exists before its ServiceAccount.",
		}},
	} {
		if wave.notes != nil {
			b.note(wave.notes...)
		}
		r := manifestResource(b, wave.name, wave.documents, false)
		awaitDeletion(r)
		r.setBool("wait_for_rollout", false)
		r.addBlankLine()
		r.setExpr("depends_on", "[kubectl_manifest."+wave.dependsOn+"]")
	}
}

// manifestResource writes the resource of a map of documents, applied as the build applies
// them. A document that leaves the map is deleted. With force, a field that another program
// manages is no conflict.
func manifestResource(b *body, name string, documents constant, force bool) *body {
	r := b.resource("kubectl_manifest", name)
	r.setExpr("for_each", documents)
	r.addBlankLine()
	r.setExpr("yaml_body", "each.value")
	r.setBool("server_side_apply", true)
	r.setBool("force_conflicts", force)
	return r
}

// awaitDeletion makes Terraform wait until each deleted object is gone. The provider then
// looks at each object every 10 s, at 10 objects at a time, so only the resources whose
// objects must be gone before the next ones are deleted wait.
func awaitDeletion(r *body) { r.setBool("wait", true) }

func releaseVariables(b *body) {
	for _, v := range []struct {
		name, description string
		kind, fallback    constant
	}{
		{"release", "URL and SHA-256 of the release manifest.", "object({ url = string, sha256 = string })", ""},
		{"configuration", "ConfigMap that replaces the one of the release, as YAML. null if it stays.",
			"string", "null"},
		{"namespace_selector", "Namespaces whose objects the webhooks see, if the release selects some. null if it " +
			"stays.", "any", "null"},
		{"pod_annotations", "Annotations of the controllers' pods.", "map(string)", "{}"},
	} {
		block := b.block("variable", v.name)
		block.setString("description", v.description)
		block.setExpr("type", v.kind)
		if v.fallback != "" {
			block.setExpr("default", v.fallback)
		}
	}
}

// releaseMain writes the module: a release in the order that its webhooks need. A destroy
// waits only for the CustomResourceDefinitions and namespaces, which are gone when all in
// them is: custom resources are gone before, and nothing needs the controllers any more.
func releaseMain(b *body, _ *ir.Platform) {
	manifest := b.data("http", "manifest")
	manifest.setExpr("url", "var.release.url")
	check := manifest.block("lifecycle").block("postcondition")
	check.setExpr("condition", `var.release.sha256 == "" || sha256(self.response_body) == var.release.sha256`)
	check.setExpr("error_message", `"The SHA-256 of ${var.release.url} is ${sha256(self.response_body)}. `+
		`If it is right, set versions.sha256 in the blueprint and compile again."`)
	b.data("kubectl_file_documents", "release").setExpr("content", "data.http.manifest.response_body")

	locals := b.block("locals")
	locals.setExpr("released", `{
  for document in values(data.kubectl_file_documents.release.manifests) :
  join("/", compact([
    yamldecode(document).kind,
    try(yamldecode(document).metadata.namespace, ""),
    yamldecode(document).metadata.name,
  ])) => yamldecode(document)
}`)
	locals.setExpr("configuration", `{
  for document in compact([var.configuration]) :
  "ConfigMap/${yamldecode(document).metadata.namespace}/${yamldecode(document).metadata.name}" => document
}`)
	locals.setExpr("objects", `merge({
  for id, object in local.released : id => yamlencode(merge(object,
    { for field in ["webhooks"] : field => [
      for webhook in object[field] : merge(webhook, {
        for selector in ["namespaceSelector"] : selector => var.namespace_selector if can(webhook[selector])
      })
    ] if var.namespace_selector != null && can(object[field]) },
    { for field in ["spec"] : field => merge(object.spec, { template = merge(object.spec.template, {
      metadata = merge(object.spec.template.metadata, {
        annotations = merge(try(object.spec.template.metadata.annotations, {}), var.pod_annotations)
      })
    }) }) if object.kind == "Deployment" },
  ))
}, local.configuration)`)
	locals.setExpr("foundations", `toset([for id in keys(local.objects) : id`+
		` if can(regex("^(Namespace|CustomResourceDefinition)/", id))])`)
	locals.setExpr("deployments", `toset([for id in keys(local.objects) : id if startswith(id, "Deployment/")])`)

	for _, wave := range []struct {
		name      string
		ids       constant
		dependsOn constant
	}{
		{"foundations", "local.foundations", ""},
		{"settings", "setsubtract(keys(local.objects), setunion(local.foundations, local.deployments))",
			"[kubectl_manifest.foundations]"},
		{"deployments", "local.deployments", "[kubectl_manifest.settings]"},
	} {
		r := b.resource("kubectl_manifest", wave.name)
		r.setExpr("for_each", wave.ids)
		r.addBlankLine()
		r.setExpr("yaml_body", "local.objects[each.key]")
		r.setBool("server_side_apply", true)
		r.setBool("force_conflicts", true)
		if wave.name == "foundations" {
			awaitDeletion(r)
		}
		// An APIService is available only when its Deployment is.
		r.setBool("wait_for_rollout", wave.name == "deployments")
		if wave.dependsOn != "" {
			r.addBlankLine()
			r.setExpr("depends_on", wave.dependsOn)
		}
	}
}
