// Release builds the files of a release of batchwright from a tag of this repository:
// for every platform an archive with the programs, and a software bill of materials
// for every program, and the checksums of all. docs/releases.md describes the files.
//
//	make release VERSION=v1.2.3
//
// The same tag gives the same bytes on every machine: the programs are built by one
// version of Go, from a clone of the tag and from nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	o := options{programs: everyProgram(), log: os.Stderr}
	flags.StringVar(&o.version, "version", "", "`tag` to release, such as v1.2.3")
	flags.StringVar(&o.repository, "C", "..", "`directory` of the repository")
	flags.StringVar(&o.output, "o", "",
		"`directory` to write, which must not exist (default dist/VERSION in the repository)")
	flags.BoolVar(&o.verify, "verify", false, "build everything twice, and compare every byte")
	list := flags.String("platforms", strings.Join(everyPlatform(), " "), "`list` of the platforms to build for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var err error
	if o.platforms, err = parsePlatforms(*list); err != nil {
		return err
	}
	return release(ctx, o)
}
