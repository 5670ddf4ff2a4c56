// Plane keeps a control plane up for a person: plane up [FOLDER]. With a deploy
// folder, Kueue runs with its configuration and its kubernetes/ is applied. plane build
// only builds the programs that every control plane needs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root, err := plane.Root(ctx)
	switch {
	case err != nil:
	case len(args) == 1 && args[0] == "build":
		err = plane.Build(ctx, root, stderr)
	case (len(args) == 1 || len(args) == 2) && args[0] == "up":
		err = up(ctx, root, args[1:], stdout, stderr)
	default:
		fmt.Fprintln(stderr, "usage: plane up [FOLDER]\n       plane build")
		return 2
	}
	if err != nil {
		fmt.Fprintln(stderr, "plane:", err)
		return 1
	}
	return 0
}

func up(ctx context.Context, root string, folders []string, stdout, stderr io.Writer) error {
	p, err := plane.Start(ctx, root, stderr)
	if err != nil {
		return err
	}
	defer p.Stop()
	for _, folder := range folders {
		if err := p.Prepare(ctx, folder); err != nil {
			return err
		}
		applied, err := p.Kubectl(ctx, nil, "apply", "--server-side", "--force-conflicts",
			"--field-manager=batchwright", "-k", filepath.Join(folder, "kubernetes"))
		if err != nil {
			return err
		}
		fmt.Fprint(stderr, applied)
	}
	fmt.Fprintf(stdout, "export KUBECONFIG=%s\n", p.Kubeconfig)
	fmt.Fprintln(stderr, "plane: stop it with ^C")
	return p.Wait(ctx)
}
