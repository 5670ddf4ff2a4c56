if [[ -n $TAKEN_OVER ]]; then
  fail "the platform has taken over $TAKEN_OVER, and Terraform refuses to destroy them. Remove takeOver from the blueprint, compile, and run ./create-platform.sh. Then run this script again"
fi
