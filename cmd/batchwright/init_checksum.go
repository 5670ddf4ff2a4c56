package main

import (
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// mostChecksums is the most bytes of checksums that init reads.
const mostChecksums = 1 << 20

// archiveChecksum returns the SHA-256 of the archive that workflows install, from the
// file of --checksums; "" without the flag.
func (o *initiation) archiveChecksum() (string, error) {
	if o.checksums == "" {
		return "", nil
	}
	version := thisVersion().source()
	if !semver.IsValid(version) {
		return "", usageErrorf("--checksums: this batchwright is not a release: it was built from %s, and workflows "+
			"build it from there too", version)
	}
	var list []byte
	var err error
	if o.checksums == "-" {
		list, err = io.ReadAll(io.LimitReader(o.Stdin, mostChecksums))
	} else {
		list, err = os.ReadFile(o.checksums)
	}
	if err != nil {
		return "", err
	}
	archive := "batchwright_" + version + "_linux_amd64.tar.gz"
	sum, ok := findChecksum(list, archive)
	if !ok {
		return "", usageErrorf("%s has no SHA-256 of %s; want checksums.txt of the release %s", o.checksums, archive,
			version)
	}
	return sum, nil
}

// findChecksum returns the SHA-256 of a file, from lines in the form of sha256sum.
func findChecksum(list []byte, name string) (string, bool) {
	for line := range strings.Lines(string(list)) {
		sum, file, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		// A space, or a star for binary files, precedes the name.
		if len(file) > 0 && file[1:] == name && regexp.MustCompile(`^[0-9a-fA-F]{64}$`).MatchString(sum) {
			return strings.ToLower(sum), true
		}
	}
	return "", false
}
