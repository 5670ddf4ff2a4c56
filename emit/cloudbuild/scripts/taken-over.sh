#!/usr/bin/env bash
# Ends the build, because Terraform refuses to destroy what the platform has taken over:
# the later steps would delete all jobs, and then fail.
set -euo pipefail

printf 'The platform has taken over %s, and Terraform refuses to destroy them. Remove takeOver from the blueprint, compile, and run ./create-platform.sh. Then submit this build again.\n' "$TAKEN_OVER" >&2
exit 1
