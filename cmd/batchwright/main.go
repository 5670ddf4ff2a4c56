// Batchwright compiles the blueprint of a shared GKE batch platform into a
// deploy folder: Terraform, Kubernetes, Cloud Build and dashboards.
package main

import "os"

func main() {
	os.Exit(Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, OwnsProcess: true}.Main(os.Args[1:]))
}
