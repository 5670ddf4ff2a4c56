#!/usr/bin/env bash
# Runs batchwright for pre-commit: .pre-commit-hooks.yaml calls it in the
# repository of a user, with the arguments of batchwright.
#
# It runs the installed batchwright, if that was built from the commit of this clone.
# Otherwise the first call builds batchwright in the clone of this repository that
# pre-commit keeps. The build uses nothing outside this clone: a go.work file in a
# directory above, or GOFLAGS, could replace dependencies and so run other code. It has the flags
# of a release, so it shares what Go has compiled for make.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$source/bin/batchwright

# leave_repository makes git and go forget the repository of the commit, which git
# tells its hooks: they must read the commit and the version of this clone.
leave_repository() {
	local variables
	variables=$(git rev-parse --local-env-vars)
	# shellcheck disable=SC2086 # names without spaces
	unset $variables
}

# installed reports whether the batchwright on PATH is the program of this clone: it
# was built from the same commit, without changes.
installed() (
	leave_repository
	commit=$(git -C "$source" rev-parse HEAD)
	[[ $(batchwright version 2>/dev/null) =~ ^batchwright\ v[^\ ]+\ $commit\ go ]]
)

# build builds the program in a directory of its own and then moves it to its place,
# so that another call never finds half a program.
build() (
	leave_repository
	mkdir -p "$source/bin"
	parts=$(mktemp -d "$source/bin/build.XXXXXX")
	trap 'rm -rf "$parts"' EXIT
	GOENV=off GOFLAGS='-mod=readonly -trimpath' GOTOOLCHAIN=auto GOWORK=off CGO_ENABLED=0 \
		go build -C "$source" -o "$parts/batchwright" ./cmd/batchwright
	mv "$parts/batchwright" "$program"
)

if [ ! -x "$program" ]; then
	if installed; then
		exec batchwright "$@"
	fi
	build
fi
exec "$program" "$@"
