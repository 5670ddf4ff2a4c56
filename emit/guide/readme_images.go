package guide

import (
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// ownImages returns the workloads, by name, that run an image of the platform's
// repository which somebody must build, and these images without the name of the
// repository. An image with a digest is built already, because only a build knows its
// digest.
func ownImages(p *ir.Platform) (workloads, images []string) {
	prefix := p.ImageRepository() + "/"
	for _, t := range templatesOf(p) {
		all := []string{t.Image}
		for _, a := range t.Auxiliaries {
			all = append(all, a.Image)
		}
		for _, image := range all {
			if name, own := strings.CutPrefix(image, prefix); own && !strings.Contains(name, "@") {
				workloads, images = withName(workloads, t.Template), withName(images, name)
			}
		}
	}
	return workloads, images
}

// exampleImage returns an image to build: the first that a workload needs, or else an
// example.
func exampleImage(p *ir.Platform) string {
	if _, images := ownImages(p); images != nil {
		return images[0]
	}
	return "my-image:1.0"
}

// sourceDirectory returns the directory from which the examples build exampleImage: it
// has the name of the image. If a workload needs the image, the directory is beside the
// blueprint, and the blueprint is in the directory above the folder, as in a repository
// that "batchwright init" has made.
func sourceDirectory(p *ir.Platform) string {
	name, _, _ := strings.Cut(path.Base(exampleImage(p)), ":")
	if _, images := ownImages(p); images != nil {
		return path.Join("..", name)
	}
	return name
}

// besideBlueprint says where the directory with the Dockerfile is, if the workloads of
// the blueprint need images.
func besideBlueprint(p *ir.Platform) markup {
	if _, images := ownImages(p); images == nil {
		return ""
	}
	return " The directory is beside the blueprint: in a repository that `batchwright init` has made, it is " +
		codeSpan(sourceDirectory(p)) + ", seen from this folder."
}

// explainImages explains how an administrator builds an image of the teams with Cloud
// Build. Source for the rights: Cloud Build documentation, "Configure user-specified
// service accounts".
func explainImages(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Heading(2, buildImagesHeading)
	d.Para("Jobs can run images of the platform's repository, ", codeSpan(p.ImageRepository()), ". Whoever has ",
		"Docker and may push into the repository builds images on their own machine (", linkTo(usingPage, imageHeading),
		"). You can also build an image with Cloud Build, from a directory that has a `Dockerfile`.")
	write := markup("Write this text into `image` of the workload in the blueprint, and compile.")
	if workloads, images := ownImages(p); images != nil {
		d.Para(workloadsNeed(workloads, images), " Build it before somebody submits the workload.")
		write = "A workload that names the image by this tag needs no change. For another workload, write this text " +
			"into its `image` in the blueprint, and compile."
	}
	account := p.ImageAccount()
	member := "--member=serviceAccount:" + account.Email(p.Project)
	bucket := p.Delivery.StateBucket
	d.Para("Run these commands once, after ", codeSpan("./create-platform.sh --prepare"), ". They create the account ",
		"of these builds. It can push images into this repository, write logs, and read the sources that you submit, ",
		"and has no other rights. You need the roles of ", linkHere(beforeHeading), ":")
	d.Code("sh",
		shellCommand("gcloud", "iam", "service-accounts", "create", account.ID, "--project="+p.Project,
			"--display-name="+account.Display),
		shellCommand("gcloud", "artifacts", "repositories", "add-iam-policy-binding", p.Delivery.Repository,
			"--project="+p.Project, "--location="+p.Delivery.Region, member, "--role=roles/artifactregistry.writer",
			unconditional),
		shellCommand("gcloud", "projects", "add-iam-policy-binding", p.Project, member,
			"--role=roles/logging.logWriter", unconditional),
		shellCommand("gcloud", "storage", "buckets", "add-iam-policy-binding", "gs://"+bucket, member,
			"--role=roles/storage.objectViewer",
			`--condition=title=image-sources,expression=resource.name.startsWith("projects/_/buckets/`+bucket+
				`/objects/`+p.ImageSourcePrefix()+`/")`))
	d.Para("Build an image. Run the commands in this folder. `SOURCE` is the path of the directory with the ",
		"`Dockerfile`.", besideBlueprint(p), " `IMAGE` is the name of the image, with a tag:")
	d.Code("sh",
		"SOURCE="+words.ShellArgument(sourceDirectory(p)),
		"IMAGE="+words.ShellArgument(exampleImage(p)),
		shellCommand("gcloud", "builds", "submit")+` "$SOURCE" `+
			shellCommand("--project="+p.Project, "--region="+p.Delivery.Region, "--config=cloudbuild/image.yaml",
				"--gcs-source-staging-dir=gs://"+bucket+"/"+p.ImageSourcePrefix())+
			` --substitutions=`+ir.ImageSubstitution+`="$IMAGE"`)
	arm := markup("")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.Machine.Arm }) {
		arm = " The image runs on x86 machines, and not on Arm machines."
	}
	d.Para("The build stops if the repository already has the image: a tag never moves. At its end, the log prints ",
		"the image with its digest. ", write, arm)
}

// workloadsNeed says which workloads need which images.
func workloadsNeed(workloads, images []string) markup {
	they, need := markup("The workload "), markup(" needs ")
	if len(workloads) > 1 {
		they, need = "The workloads ", " need "
	}
	noun := markup("the image ")
	if len(images) > 1 {
		noun = "the images "
	}
	return they + codeList(workloads) + need + noun + codeList(images) + " of this repository."
}

// explainOwnImage explains how a member of a team builds and pushes an image. Source:
// Artifact Registry documentation, "Push and pull images".
func explainOwnImage(d *document, p *ir.Platform) {
	d.Heading(2, imageHeading)
	d.Para("Put your programs into an image if they need more than a public image has. You need Docker, a directory ",
		"with a `Dockerfile`, and the right to push into the platform's repository: ask an administrator for ",
		"`roles/artifactregistry.writer` on it (", linkTo(referencePage, rightsHeading), "). Without Docker, ask an ",
		"administrator to build the image (", linkTo(readmePage, buildImagesHeading), ").")
	if workloads, images := ownImages(p); images != nil {
		d.Para(workloadsNeed(workloads, images), " If its pods show `ErrImagePull`, nobody has built it yet. ",
			"Its `Dockerfile` is not in this folder: the authors of the blueprint keep it beside the blueprint. If ",
			"you do not have their repository, ask an administrator for the directory that has the `Dockerfile`.")
	}
	host, _, _ := strings.Cut(p.ImageRepository(), "/")
	arm := markup("")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.Machine.Arm }) {
		arm = " For Arm machines, write `linux/arm64`."
	}
	d.Para("Set `SOURCE` to the path of the directory that has the `Dockerfile`, and `IMAGE` to the name and the tag ",
		"of the image.", besideBlueprint(p), " A job finds the image by this name, so choose a new tag for each ",
		"version.", arm)
	d.Code("sh",
		"SOURCE="+words.ShellArgument(sourceDirectory(p)),
		"IMAGE="+words.ShellArgument(p.ImageRepository()+"/"+exampleImage(p)),
		shellCommand("gcloud", "auth", "configure-docker", host, "--quiet"),
		`docker build --platform=linux/amd64 --tag="$IMAGE" "$SOURCE"`,
		`docker push "$IMAGE"`)
	d.Para("Write the name into `image` of the containers of your job. In a workload of the blueprint, an ",
		"administrator writes the name into `image` of the workload, and compiles.")
}
