package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// checkout is a clean checkout of a tag.
type checkout struct {
	root   string
	commit string
	time   time.Time // of the commit, and so of all files of the release
}

// checkRepository reports everything that forbids a release of the version from the
// repository.
func checkRepository(ctx context.Context, dir, version string) (checkout, error) {
	var c checkout
	// The go command stamps only a version that is canonical.
	switch canonical := semver.Canonical(version); {
	case version == "":
		return c, errors.New("no version: type make release VERSION=v1.2.3")
	case canonical == "":
		return c, fmt.Errorf("version %q: want a semantic version with all three numbers, such as v1.2.3", version)
	case canonical != version:
		return c, fmt.Errorf("version %q: a release has no build metadata and all three numbers: want %s",
			version, canonical)
	}
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return c, err
	}
	c.root = root
	var problems []error
	if changes, err := git(ctx, root, "status", "--porcelain"); err != nil {
		return c, err
	} else if changes != "" {
		problems = append(problems, fmt.Errorf("the tree is not clean: commit or remove\n%s", changes))
	}
	if c.commit, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return c, err
	}
	switch tagged, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "refs/tags/"+version+"^{commit}"); {
	case err != nil:
		problems = append(problems, fmt.Errorf("there is no tag %s: type git tag %s", version, version))
	case tagged != c.commit:
		problems = append(problems, fmt.Errorf("tag %s is at %s, and HEAD at %s: check out the tag", version, tagged,
			c.commit))
	}
	if err := errors.Join(problems...); err != nil {
		return c, err
	}
	text, err := git(ctx, root, "log", "-1", "--format=%ct")
	if err != nil {
		return c, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	c.time = time.Unix(seconds, 0).UTC()
	return c, err
}

// cloneTag fetches the commit of the tag, and no other tag, from which the go command
// would read the version: the highest tag of a commit counts.
func (b *builder) cloneTag(ctx context.Context) error {
	tag := "refs/tags/" + b.version
	for _, args := range [][]string{
		{"init", "--quiet", b.clone},
		{"-C", b.clone, "fetch", "--quiet", "--depth", "1", "--no-tags", "file://" + b.root, tag + ":" + tag},
		{"-C", b.clone, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", tag},
	} {
		if _, err := git(ctx, b.root, args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git, and returns its output without the white space around it.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...))
}

// output runs a command, and returns its output without the white space around it. The
// error contains the command's messages.
func output(cmd *exec.Cmd) (string, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(messages.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
