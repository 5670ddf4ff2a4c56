#!/usr/bin/env bash
# Makes node pools smaller, before Terraform changes their reservations. Jobs on nodes that
# go away stop with them, and wait in their queues again.
set -euo pipefail
shopt -s inherit_errexit

# INCLUDE running.bash
# INCLUDE losses.bash
shrink
