# ADD_LOGS is a Python program. It reads the IAM policy of a project, adds the Data
# Access logs that are off for the services in its arguments, and prints the policy.
# If all logs are on, it prints nothing. It fails for a policy without bindings or
# etag, because the printed policy replaces the whole policy of the project.
ADD_LOGS='
import json, sys

policy = json.load(sys.stdin)
if not policy["bindings"] or not policy["etag"]:
    sys.exit("the IAM policy of the project was read incompletely, without bindings or etag: nothing was changed")
configs = policy.setdefault("auditConfigs", [])
lacks = False
for service in sys.argv[1:]:
    on = [log["logType"] for config in configs if config["service"] in (service, "allServices")
          for log in config.get("auditLogConfigs", [])]
    missing = [{"logType": kind} for kind in ("DATA_READ", "DATA_WRITE") if kind not in on]
    own = [config for config in configs if config["service"] == service]
    if missing and not own:
        own = [{"service": service}]
        configs += own
    if missing:
        own[0].setdefault("auditLogConfigs", []).extend(missing)
        lacks = True
if lacks:
    print(json.dumps(policy))
'

# data_access_logs turns on the Data Access logs of GKE and Cloud Storage that are off.
# gcloud can only write the whole policy, with its bindings. The etag protects changes
# that somebody makes between reading and writing: Google Cloud then refuses the
# policy, and the next attempt reads it again. The Python is the one that gcloud uses.
data_access_logs() {
  local python policy file status=0
  python=$(gcloud info --format='value(basic.python_location)') || return
  policy=$(gcloud projects get-iam-policy "$PROJECT" --format=json) || return
  policy=$("$python" -c "$ADD_LOGS" container.googleapis.com storage.googleapis.com <<<"$policy") || return
  [[ -n $policy ]] || return 0
  file=$(mktemp) || return
  printf '%s\n' "$policy" >"$file"
  gcloud projects set-iam-policy "$PROJECT" "$file" || status=$?
  rm -f "$file"
  return "$status"
}

echo '- Data Access audit logs'
attempt data_access_logs

