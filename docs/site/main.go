// Site lays the source of the documentation site: the pages of docs/ in the order of
// docs/README.md, and a reference that it asks the program for. VitePress makes the site of it.
//
//	site PROGRAM REPOSITORY DIR
//
// PROGRAM is batchwright, REPOSITORY the root of this repository, and DIR an empty directory.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: site PROGRAM REPOSITORY DIR")
		os.Exit(2)
	}
	if err := lay(program(os.Args[1]), os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
