# ask_owners prints a command for each service account that belongs to somebody else and
# does not yet let the jobs of its team act as it. The script does not run the command:
# whoever may act as an account has all its rights, so its owner decides who may.
ask_owners() {
  local i address member present asked=
  for ((i = 0; i < ${#FOREIGN_ACCOUNTS[@]}; i++)); do
    address=${FOREIGN_ACCOUNTS[i]} member="serviceAccount:$PROJECT.svc.id.goog[${FOREIGN_SUBJECTS[i]}]"
    # You may have no right to read the policy of the account.
    present=$(actors "$address" 2>/dev/null) || present=
    ! has_line "$present" "$member" || continue
    if [[ -z $asked ]]; then
      echo "These service accounts belong to somebody else. Once the cluster exists, ask their owners to run:"
      asked=true
    fi
    say gcloud iam service-accounts add-iam-policy-binding "$address" --member="$member" --role="$IDENTITY" --condition=None
  done
}

