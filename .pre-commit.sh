#!/usr/bin/env bash
# Runs batchwright for pre-commit: .pre-commit-hooks.yaml calls it in the
# repository of a user, with the arguments of batchwright.
#
# The first call builds batchwright, in the clone of this repository that
# pre-commit keeps, and of this clone alone: a go.work in a directory above, as of
# a workspace that holds pre-commit's cache, and GOFLAGS can replace dependencies,
# and so run other code.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$source/bin/batchwright

# build builds the program beside its place and then moves it there, so that no
# call ever finds half of it.
build() (
	# git gives hooks the repository of the commit, and go would read the version there.
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
