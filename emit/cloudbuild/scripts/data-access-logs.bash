# ADD_LOGS, in Python, reads the policy of a project and prints it with the Data
# Access logs that the services in its arguments lack, or prints nothing. It fails
# for a policy without bindings or etag: what it prints replaces the whole policy.
ADD_LOGS='
import json, sys

policy = json.load(sys.stdin)
if not policy["bindings"] or not policy["etag"]:
    sys.exit("the policy of the project was not read as a whole")
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

# data_access_logs turns on the logs of GKE and Cloud Storage that are off. gcloud
# writes a policy as a whole, the bindings too. Its etag protects them: Google Cloud
# refuses a policy that somebody has changed since it was read, and the next attempt
# reads it again. Python is the one that gcloud runs with.
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

