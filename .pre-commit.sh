#!/usr/bin/env bash
# Runs batchwright for pre-commit: .pre-commit-hooks.yaml calls it in the
# repository of a user, with the arguments of batchwright.
#
# The first call builds batchwright in the clone of this repository that pre-commit
# keeps. The build uses nothing outside this clone: a go.work file in a directory
# above, or GOFLAGS, could replace dependencies and so run other code.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$source/bin/batchwright

# build builds the program in a directory of its own and then moves it to its place,
# so that another call never finds half a program.
build() (
	# git tells its hooks the repository of the commit. Go must not read the version
	# from that repository.
	variables=$(git rev-parse --local-env-vars)
	# shellcheck disable=SC2086 # names without spaces
	unset $variables
	mkdir -p "$source/bin"
	parts=$(mktemp -d "$source/bin/build.XXXXXX")
	trap 'rm -rf "$parts"' EXIT
	GOENV=off GOFLAGS=-mod=readonly GOTOOLCHAIN=auto GOWORK=off \
		go build -C "$source" -o "$parts/batchwright" ./cmd/batchwright
	mv "$parts/batchwright" "$program"
)

if [ ! -x "$program" ]; then
	build
fi
exec "$program" "$@"
