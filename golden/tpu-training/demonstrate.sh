#!/usr/bin/env bash
# Shows the platform in phases. Each phase submits jobs, waits until the scheduler has
# dealt with them, and compares what happens with what is expected. DEMONSTRATION.md
# describes the phases.
set -euo pipefail

NAME='tpu-training'
CLEAN_UP='clean-up'
# label of the nodes that the demonstration has cordoned
CORDONED='demonstration=cordoned'
# a team, which shows that a cluster is the platform's
TEAM='tpu-research'
NAMESPACE='tpu-research'
# workload, kind, copies for each team, pods of a copy, ConfigMap
WORKLOADS=(
  'single-slice' 'jobset' '1' '4' 'single-slice-files'
  'multislice' 'jobset' '1' '8' 'multislice-files'
  'tensorboard' 'jobset' '1' '9' 'tensorboard-files'
)
# workload, team that submits it, namespace of the team
SUBMITTERS=(
  'single-slice' 'tpu-research' 'tpu-research'
  'single-slice' 'tpu-training' 'tpu-training'
  'multislice' 'tpu-research' 'tpu-research'
  'multislice' 'tpu-training' 'tpu-training'
  'tensorboard' 'tpu-training' 'tpu-training'
)
# capacity, labels of its nodes
CAPACITIES=(
  'cpu' 'capacity=cpu,resource-type=ondemand'
  'slices' 'capacity=slices,cloud.google.com/gke-tpu-accelerator=tpu-v5-lite-podslice,cloud.google.com/gke-tpu-topology=4x4,resource-type=ondemand'
)
# phase, what it shows, longest time in seconds to wait for the expected state
PHASES=(
  'single-slice' 'Each team trains on one slice. The jobs run for about 30 minutes. Waits for
at most 10 minutes.' '600'
  'multislice' 'A job of high priority needs two slices. It evicts two jobs of medium
priority; the high-priority job of the other team waits. Waits for at most
10 minutes.' '600'
  'tensorboard' 'The phase deletes the earlier jobs, and submits one on two slices. A pod
without TPUs uploads the job'\''s logs to the TensorBoard. This pod needs some
minutes to start, because no node runs for it yet. Waits for at most 10
minutes.' '600'
)
# phase, team that takes part; all teams take part in the other phases
PHASE_TEAMS=(
)
# phase, step, workload or capacity, number of nodes or whether jobs are submitted one by one
STEPS=(
  'single-slice' 'submit' 'single-slice' 'false'
  'multislice' 'submit' 'multislice' 'false'
  'tensorboard' 'delete' 'single-slice' ''
  'tensorboard' 'delete' 'multislice' ''
  'tensorboard' 'submit' 'tensorboard' 'false'
)
# tier, ClusterQueue, team that uses it
QUEUES=(
  'train' 'cq-train' 'tpu-research'
  'train' 'cq-train' 'tpu-training'
)
# phase, tier, pending jobs and admitted jobs in each queue
QUEUE_COUNTS=(
  'single-slice' 'train' '0' '2'
  'multislice' 'train' '3' '1'
  'tensorboard' 'train' '0' '1'
)
# phase, workload, capacity on which they have quota again, jobs of each team that were evicted for other jobs
EVICTIONS=(
  'multislice' 'single-slice' '' '1'
)
# phase, workload all of whose jobs have succeeded
COMPLETED=(
)
# phase, capacity, running pods
POD_COUNTS=(
  'single-slice' 'cpu' '0'
  'single-slice' 'slices' '8'
  'multislice' 'cpu' '0'
  'multislice' 'slices' '8'
  'tensorboard' 'cpu' '1'
  'tensorboard' 'slices' '8'
)
# phase, pods that wait for nodes
PENDING_COUNTS=(
)
# phase, workloads whose pods share a node
NODES=(
)

usage() {
  cat <<END
Usage: demonstrate.sh [--wait=SECONDS] [PHASE]

Shows the platform $NAME in phases. Without an argument it lists the phases. With the
name of a phase it

  1. compares the jobs in the cluster. If they are already the jobs of this phase, it
     skips step 2. If they are not the jobs of the phase before either, it refuses.
  2. cordons and uncordons nodes, deletes jobs and submits jobs, as DEMONSTRATION.md
     describes
  3. waits until everything is as expected, and prints the expected and the actual
     numbers

The phase $CLEAN_UP deletes all jobs of the demonstration, and uncordons the nodes that
the demonstration has cordoned. If a team submits a workload of workloads/, its job has
the same name: the phase deletes that job too. The script touches no other jobs and
nodes.

You need kubectl, connected to the cluster as an administrator. Exit codes: 0 everything
is as expected; 1 something differs, or the phase is refused; 2 wrong usage.

Options:
  --wait=SECONDS  longest time to wait for the expected numbers, and for each job
                  that must run before the next one is submitted (default: the
                  time of the phase)
  -h, --help      show this text
END
}

# fail prints a message and ends the script with exit code 1.
fail() { # message
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# has_line reports whether a text contains a line.
has_line() { # text, line
  [[ $'\n'$1$'\n' == *$'\n'"$2"$'\n'* ]]
}

# list_phases prints the names of the phases and what they show.
list_phases() {
  local i
  echo "Phases of the demonstration of $NAME, in their order:"
  for ((i = 0; i < ${#PHASES[@]}; i += 3)); do
    printf '\n  ./demonstrate.sh %s\n' "${PHASES[i]}"
    printf '%s\n' "${PHASES[i + 1]}" | sed 's/^/    /'
  done
  printf '\n  ./demonstrate.sh %s\n    Deletes all jobs of the demonstration, and uncordons its nodes.\n' "$CLEAN_UP"
}

# phase_number prints the number of a phase, from 0. It fails if there is no such phase.
phase_number() { # phase
  local i
  for ((i = 0; i < ${#PHASES[@]}; i += 3)); do
    if [[ ${PHASES[i]} == "$1" ]]; then
      echo $((i / 3))
      return
    fi
  done
  return 1
}

# takes_part reports whether a team takes part in a phase. It keeps the teams of the last
# phase that it was asked for, one on each line: none if all teams take part.
takes_part() { # phase, team
  local i
  if [[ $LIMITED_PHASE != "$1" ]]; then
    LIMITED_PHASE=$1
    LIMITED_TEAMS=
    for ((i = 0; i < ${#PHASE_TEAMS[@]}; i += 2)); do
      [[ ${PHASE_TEAMS[i]} != "$1" ]] || LIMITED_TEAMS+=${PHASE_TEAMS[i + 1]}$'\n'
    done
  fi
  [[ -z $LIMITED_TEAMS ]] || has_line "$LIMITED_TEAMS" "$2"
}
LIMITED_PHASE=
LIMITED_TEAMS=

# jobs_of prints the jobs of a workload, one on each line: copy by copy, and the teams in
# turns. A line has the namespace and the name of the job, its kind, the workload, the
# number of its pods, the team, and the name of the ConfigMap with its files.
jobs_of() { # phase, "" for all teams; workload
  local i t copy copies object teams=()
  for ((t = 0; t < ${#SUBMITTERS[@]}; t += 3)); do
    [[ ${SUBMITTERS[t]} == "$2" ]] || continue
    [[ -z $1 ]] || takes_part "$1" "${SUBMITTERS[t + 1]}" || continue
    teams+=("${SUBMITTERS[t + 1]}" "${SUBMITTERS[t + 2]}")
  done
  for ((i = 0; i < ${#WORKLOADS[@]}; i += 5)); do
    [[ ${WORKLOADS[i]} == "$2" ]] || continue
    copies=${WORKLOADS[i + 2]}
    for ((copy = 1; copy <= copies; copy++)); do
      object=$2
      ((copies == 1)) || object=$2-$copy
      for ((t = 0; t < ${#teams[@]}; t += 2)); do
        echo "${teams[t + 1]} $object ${WORKLOADS[i + 1]} $2 ${WORKLOADS[i + 3]} ${teams[t]} ${WORKLOADS[i + 4]}"
      done
    done
  done
}

# jobs_after prints the jobs that exist after the first phases, as jobs_of does.
jobs_after() { # number of phases
  local i live='' gone phase
  for ((i = 0; i < ${#STEPS[@]}; i += 4)); do
    phase=${STEPS[i]}
    (($(phase_number "$phase") < $1)) || continue
    case ${STEPS[i + 1]} in
    submit) live+=$(jobs_of "$phase" "${STEPS[i + 2]}")$'\n' ;;
    delete)
      gone=$(jobs_of "$phase" "${STEPS[i + 2]}")
      live=$(without "$live" "$gone")$'\n'
      ;;
    esac
  done
  printf '%s' "$live"
}

# deleted_by prints the jobs that a phase had deleted when it was interrupted, as jobs_of
# does. It prints none if these jobs cannot be gone for this reason: a phase deletes one
# workload after the other.
deleted_by() { # phase, jobs before the phase
  local i jobs gone deleted='' left=false
  [[ -n $PRESENT ]] || return 0
  for ((i = 0; i < ${#STEPS[@]}; i += 4)); do
    [[ ${STEPS[i]} == "$1" && ${STEPS[i + 1]} == delete ]] || continue
    jobs=$(jobs_of "$1" "${STEPS[i + 2]}")
    jobs=$(without "$jobs" "$(without "$jobs" "$2")")
    gone=$(without "$jobs" "$PRESENT")
    [[ -z $gone || $left == false ]] || return 0
    deleted+=$gone$'\n'
    [[ -z $(without "$jobs" "$gone") ]] || left=true
  done
  printf '%s' "$deleted"
}

# without prints the lines of a text that another text does not contain, and no empty
# lines.
without() { # text, other text
  awk 'NR == FNR { other[$0]; next } $0 != "" && !($0 in other)' <(printf '%s\n' "$2") <(printf '%s\n' "$1")
}

# all_jobs prints all jobs of the demonstration, as jobs_of does.
all_jobs() {
  local i
  for ((i = 0; i < ${#WORKLOADS[@]}; i += 5)); do
    jobs_of '' "${WORKLOADS[i]}"
  done
}

# ENDED is the jsonpath of what a Job or a JobSet says when it has ended.
ENDED='{.status.conditions[?(@.type=="Complete")].status}{.status.conditions[?(@.type=="Failed")].status}{.status.terminalState}'

# look sets PRESENT to the jobs of the demonstration that exist, as jobs_of prints them,
# and OVER to the number of the jobs that have ended.
look() {
  local found jobs
  found=$(kubectl get jobs,jobsets --all-namespaces -l "app.kubernetes.io/part-of=$NAME" \
    -o "jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name} $ENDED{\"\\n\"}{end}")
  jobs=$(all_jobs)
  PRESENT=$(awk 'NR == FNR { exists[$1 " " $2]; next } NF > 0 && ($1 " " $2) in exists' \
    <(printf '%s\n' "$found") <(printf '%s\n' "$jobs"))
  OVER=$(awk 'NR == FNR { known[$1 " " $2]; next }
    ($1 " " $2) in known && ($3 ~ /True/ || $3 == "Completed" || $3 == "Failed") { n++ }
    END { print n + 0 }' <(printf '%s\n' "$jobs") <(printf '%s\n' "$found"))
}

# job_key prints the namespace and the name of a job.
job_key() { # job
  local name=${1#* }
  printf '%s' "${1%% *} ${name%% *}"
}

# first_job prints the first job of a list in words.
first_job() { # jobs
  local key
  key=$(job_key "$1")
  printf '%s in namespace %s' "${key#* }" "${key%% *}"
}

# check_order fails if the phase cannot follow the jobs that exist. It sets DONE to true
# if the steps of the phase have been performed: if the jobs that it leaves exist, and are
# not the jobs of the phase before.
check_order() { # phase, its number
  local before after missing extra i names=
  before=$(jobs_after "$2")
  after=$(jobs_after $(($2 + 1)))
  look
  for ((i = 0; i < ${#PHASES[@]}; i += 3)); do
    names+=${names:+, }${PHASES[i]}
  done
  DONE=false
  if [[ -z $(without "$after" "$PRESENT")$(without "$PRESENT" "$after") && $before != "$after" ]]; then
    DONE=true
    return
  fi
  extra=$(without "$(without "$PRESENT" "$before")" "$after")
  [[ -z $extra ]] || fail "phase $1 cannot follow: the job $(first_job "$extra") exists already. The order is: \
$names. To start again, run ./demonstrate.sh $CLEAN_UP"
  missing=$(without "$before" "$PRESENT")
  missing=$(without "$missing" "$(deleted_by "$1" "$before")")
  [[ -z $missing ]] || fail "phase $1 cannot follow: the job $(first_job "$missing") of an earlier phase does not \
exist. The order is: $names. To start again, run ./demonstrate.sh $CLEAN_UP"
  tell_ended "$1"
}

# tell_ended says how many jobs have ended, as look has seen them, unless the phase expects
# that jobs end.
tell_ended() { # phase
  local i expected=false
  for ((i = 0; i < ${#COMPLETED[@]}; i += 2)); do
    [[ ${COMPLETED[i]} != "$1" ]] || expected=true
  done
  if ((OVER > 0)) && [[ $expected == false ]]; then
    printf 'Jobs of the demonstration that have ended: %s. The expected numbers hold only while these jobs run or wait.\n' \
      "$OVER"
    printf 'To start again, run ./demonstrate.sh %s\n' "$CLEAN_UP"
  fi
}

# selector prints the labels of the nodes of a capacity.
selector() { # capacity
  local i
  for ((i = 0; i < ${#CAPACITIES[@]}; i += 2)); do
    if [[ ${CAPACITIES[i]} == "$1" ]]; then
      printf '%s' "${CAPACITIES[i + 1]}"
    fi
  done
}

# cordon cordons the last nodes of a capacity. It leaves nodes alone that somebody else
# has cordoned.
cordon() { # capacity, number of nodes
  local nodes node
  nodes=$(kubectl get nodes -l "$(selector "$1")" -o name | LC_ALL=C sort | tail -n "$2")
  (($(grep -c . <<<"$nodes") == $2)) || fail "capacity $1 has fewer nodes than the $2 to cordon"
  while IFS= read -r node; do
    if [[ -z $(kubectl get "$node" -o 'jsonpath={.spec.unschedulable}') ]]; then
      kubectl label --overwrite "$node" "$CORDONED"
      kubectl cordon "$node"
    fi
  done <<<"$nodes"
}

# uncordon uncordons the nodes of a capacity that the demonstration has cordoned.
uncordon() { # capacity, "" for all nodes
  local nodes node labels=$CORDONED
  [[ -z $1 ]] || labels+=,$(selector "$1")
  nodes=$(kubectl get nodes -l "$labels" -o name)
  while IFS= read -r node; do
    if [[ -n $node ]]; then
      kubectl uncordon "$node"
      kubectl label "$node" "${CORDONED%%=*}-"
    fi
  done <<<"$nodes"
}

# delete_jobs deletes jobs with their Services, and waits until they are gone.
delete_jobs() { # jobs
  local name team arguments
  arguments=(delete --ignore-not-found --timeout="${WAIT}s")
  while IFS=' ' read -r _ name _ _ _ team _; do
    arguments+=(-f "workloads/$team/$name.yaml")
  done <<<"$1"
  [[ -z $1 ]] || kubectl "${arguments[@]}"
}

# delete_files deletes the ConfigMaps with the files of jobs.
delete_files() { # jobs
  local team config arguments known=
  arguments=(delete --ignore-not-found)
  while IFS=' ' read -r _ _ _ _ _ team config; do
    if [[ -n $config ]] && ! has_line "$known" "$team/$config"; then
      known+=$team/$config$'\n'
      arguments+=(-f "workloads/$team/$config.yaml")
    fi
  done <<<"$1"
  [[ -z $known ]] || kubectl "${arguments[@]}"
}

# submit_rounds submits the jobs that do not exist. The first copies of all teams come
# first, then the second copies: a team that submitted all its jobs first could borrow
# quota that another team is about to need.
submit_rounds() { # jobs
  local name team config round='' arguments
  look
  while IFS=' ' read -r _ name _ _ _ team config; do
    if [[ -n $round && $round != "$name" ]]; then
      kubectl apply --server-side "${arguments[@]}"
      round=
      sleep "$PAUSE"
    fi
    if [[ -n $name ]]; then
      [[ -n $round ]] || arguments=()
      round=$name
      [[ -z $config ]] || arguments+=(-f "workloads/$team/$config.yaml")
      arguments+=(-f "workloads/$team/$name.yaml")
    fi
  done < <(without "$1" "$PRESENT")
  [[ -z $round ]] || kubectl apply --server-side "${arguments[@]}"
}

# submit_one_by_one submits the jobs that do not exist, each when all pods of the job
# before it run. PREVIOUS is the job before the first one, and becomes the last one.
submit_one_by_one() { # jobs
  local line name team config arguments missing
  look
  missing=$(without "$1" "$PRESENT")
  while IFS= read -r line; do
    if [[ -n $line ]] && has_line "$missing" "$line"; then
      [[ -z $PREVIOUS ]] || await_pods "$PREVIOUS"
      IFS=' ' read -r _ name _ _ _ team config <<<"$line"
      arguments=(-f "workloads/$team/$name.yaml")
      [[ -z $config ]] || arguments=(-f "workloads/$team/$config.yaml" "${arguments[@]}")
      kubectl apply --server-side "${arguments[@]}"
    fi
    PREVIOUS=${line:-$PREVIOUS}
  done <<<"$1"
}

# await_pods waits until the pods of a job run.
await_pods() { # job
  local namespace name kind pods label=batch.kubernetes.io/job-name running until=$((SECONDS + WAIT))
  IFS=' ' read -r namespace name kind _ pods _ <<<"$1"
  [[ $kind != jobset ]] || label=jobset.sigs.k8s.io/jobset-name
  while true; do
    running=$(kubectl get pods -n "$namespace" -l "$label=$name" --field-selector=status.phase=Running -o name |
      grep -c . || true)
    if ((running >= pods)); then
      return
    fi
    ((SECONDS < until)) || fail "only $running of the $pods pods of $name in namespace $namespace run after $WAIT seconds, so \
the next job was not submitted. To continue, run the phase again"
    sleep "$PAUSE"
  done
}

# perform performs the steps of a phase.
perform() { # phase
  local i jobs
  PREVIOUS=
  for ((i = 0; i < ${#STEPS[@]}; i += 4)); do
    [[ ${STEPS[i]} == "$1" ]] || continue
    jobs=$(jobs_of "$1" "${STEPS[i + 2]}")
    case ${STEPS[i + 1]} in
    cordon) cordon "${STEPS[i + 2]}" "${STEPS[i + 3]}" ;;
    uncordon) uncordon "${STEPS[i + 2]}" ;;
    delete) delete_jobs "$jobs" ;;
    submit)
      if [[ ${STEPS[i + 3]} == true ]]; then
        submit_one_by_one "$jobs"
      else
        submit_rounds "$jobs"
      fi
      ;;
    esac
  done
}

# row adds a row to TABLE, and counts it in DIFFERENT if the values differ.
row() { # what, expected, actual
  local mark=
  if [[ $2 != "$3" ]]; then
    DIFFERENT=$((DIFFERENT + 1))
    mark='   differs'
  fi
  TABLE+=$(printf '%-52s  %12s  %12s%s' "$1" "$2" "$3" "$mark")$'\n'
}

# compare_queues adds the numbers of jobs in the ClusterQueues of the teams that take part.
compare_queues() { # phase
  local i q wanted='' seen name expected actual
  for ((i = 0; i < ${#QUEUE_COUNTS[@]}; i += 4)); do
    [[ ${QUEUE_COUNTS[i]} == "$1" ]] || continue
    for ((q = 0; q < ${#QUEUES[@]}; q += 3)); do
      if [[ ${QUEUES[q]} == "${QUEUE_COUNTS[i + 1]}" ]] && takes_part "$1" "${QUEUES[q + 2]}"; then
        wanted+="${QUEUES[q + 1]} ${QUEUE_COUNTS[i + 2]}/${QUEUE_COUNTS[i + 3]}"$'\n'
      fi
    done
  done
  [[ -n $wanted ]] || return 0
  seen=$(kubectl get clusterqueues -o \
    'jsonpath={range .items[*]}{.metadata.name},{.status.pendingWorkloads},{.status.admittedWorkloads}{"\n"}{end}')
  while read -r name expected actual; do
    row "$name: pending/admitted jobs" "$expected" "$actual"
  done < <(awk 'NR == FNR { split($0, q, ","); actual[q[1]] = q[2] + 0 "/" q[3] + 0; next }
    NF == 2 && !told[$1]++ { print $0, ($1 in actual ? actual[$1] : "missing") }' \
    <(printf '%s\n' "$seen") <(printf '%s' "$wanted"))
}

# see_evicted sets EVICTED to the jobs that were evicted for other jobs, one on each line:
# the workload, the namespace, and the capacities on which the job has quota now.
see_evicted() { # jobs
  local seen
  seen=$(kubectl get workloads --all-namespaces -o 'jsonpath={range .items[*]}{.metadata.namespace},{.metadata.ownerReferences[0].name},{range .status.schedulingStats.evictions[?(@.reason=="Preempted")]}x{end},{.status.admission.podSetAssignments[*].flavors.*}{"\n"}{end}')
  EVICTED=$(awk 'list == "jobs" { workload[$1 "," $2] = $4; next }
    { split($0, job, ",") }
    job[3] != "" && (job[1] "," job[2]) in workload { print workload[job[1] "," job[2]], job[1], job[4] }' \
    list=jobs <(printf '%s\n' "$1") list=seen <(printf '%s\n' "$seen"))
}

# compare_evictions adds the numbers of jobs that were evicted for other jobs, and of those
# among them that have quota again.
compare_evictions() { # phase, jobs
  local i namespace team actual seen=false
  for ((i = 0; i < ${#EVICTIONS[@]}; i += 4)); do
    [[ ${EVICTIONS[i]} == "$1" ]] || continue
    [[ $seen == true ]] || see_evicted "$2"
    seen=true
    while read -r namespace team; do
      takes_part "$1" "$team" || continue
      actual=$(awk -v workload="${EVICTIONS[i + 1]}" -v namespace="$namespace" -v capacity="${EVICTIONS[i + 2]}" '
        $1 == workload && $2 == namespace {
          now = capacity == ""
          for (f = 3; f <= NF; f++) now = now || $f == capacity
          n += now
        }
        END { print n + 0 }' <<<"$EVICTED")
      row "${EVICTIONS[i + 1]} in $namespace: evicted jobs${EVICTIONS[i + 2]:+ now on ${EVICTIONS[i + 2]}}" \
        "${EVICTIONS[i + 3]}" "$actual"
    done < <(awk -v workload="${EVICTIONS[i + 1]}" '$4 == workload && !told[$1]++ { print $1, $6 }' <<<"$2")
  done
}

# compare_completed adds the numbers of jobs that have succeeded.
compare_completed() { # phase, jobs
  local i seen='' wanted actual
  for ((i = 0; i < ${#COMPLETED[@]}; i += 2)); do
    [[ ${COMPLETED[i]} == "$1" ]] || continue
    [[ -n $seen ]] || seen=$(kubectl get jobs,jobsets --all-namespaces -l "app.kubernetes.io/part-of=$NAME" \
      -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name} {.status.conditions[?(@.type=="Complete")].status}{.status.terminalState}{"\n"}{end}')
    IFS=/ read -r wanted actual < <(awk -v workload="${COMPLETED[i + 1]}" '
      list == "seen" { if ($3 == "True" || $3 == "Completed") succeeded[$1 " " $2]; next }
      $4 == workload { wanted++; actual += ($1 " " $2) in succeeded }
      END { print wanted + 0 "/" actual + 0 }' list=seen <(printf '%s\n' "$seen") list=jobs <(printf '%s\n' "$2"))
    row "${COMPLETED[i + 1]}: jobs that have succeeded" "$wanted" "$actual"
  done
}

# see_pods sets RUNNING to the workload and the node of each running pod of the jobs, one
# on each line, and PENDING to the number of the pods that wait for nodes.
see_pods() { # jobs
  local seen
  seen=$(kubectl get pods --all-namespaces -l batch.kubernetes.io/job-name -o 'jsonpath={range .items[*]}{.metadata.namespace},{.metadata.labels.batch\.kubernetes\.io/job-name},{.metadata.labels.jobset\.sigs\.k8s\.io/jobset-name},{.status.phase},{.metadata.deletionTimestamp},{.spec.nodeName}{"\n"}{end}')
  seen=$(awk -F, 'NR == FNR { split($0, job, " "); workload[job[1] "," job[2]] = job[4]; next }
    { name = $1 "," ($3 == "" ? $2 : $3) }
    !(name in workload) || $5 != "" { next }
    $4 == "Running" { print workload[name], $6 }
    $4 == "Pending" && $6 == "" { print workload[name] }' <(printf '%s\n' "$1") <(printf '%s\n' "$seen"))
  RUNNING=$(awk 'NF == 2' <<<"$seen")
  PENDING=$(awk 'NF == 1 { n++ } END { print n + 0 }' <<<"$seen")
}

# compare_pods adds the numbers of pods.
compare_pods() { # phase
  local i n nodes line
  for ((i = 0; i < ${#POD_COUNTS[@]}; i += 3)); do
    [[ ${POD_COUNTS[i]} == "$1" ]] || continue
    nodes=$(kubectl get nodes -l "$(selector "${POD_COUNTS[i + 1]}")" -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')
    n=0
    while IFS= read -r line; do
      if [[ -n $line ]] && has_line "$nodes" "${line#* }"; then
        n=$((n + 1))
      fi
    done <<<"$RUNNING"
    row "${POD_COUNTS[i + 1]}: running pods" "${POD_COUNTS[i + 2]}" "$n"
  done
  for ((i = 0; i < ${#PENDING_COUNTS[@]}; i += 2)); do
    [[ ${PENDING_COUNTS[i]} != "$1" ]] || row 'pods that wait for nodes' "${PENDING_COUNTS[i + 1]}" "$PENDING"
  done
}

# compare_nodes adds the pods that share a node. Each expected line must be the pods of
# one node, and each node must have an expected line.
compare_nodes() { # phase
  local i left line expected=false
  left=$(LC_ALL=C sort <<<"$RUNNING" | awk 'NF == 2 { on[$2] = on[$2] (on[$2] == "" ? "" : ", ") $1 }
    END { for (node in on) print on[node] }' | LC_ALL=C sort)
  for ((i = 0; i < ${#NODES[@]}; i += 2)); do
    [[ ${NODES[i]} == "$1" ]] || continue
    expected=true
    if has_line "$left" "${NODES[i + 1]}"; then
      row "one node runs ${NODES[i + 1]}" yes yes
      line=$(LC_ALL=C awk -v line="${NODES[i + 1]}" '$0 == line && !seen++ { next } { print }' <<<"$left")
      left=$line
    else
      row "one node runs ${NODES[i + 1]}" yes no
    fi
  done
  [[ $expected == true ]] || return 0
  while IFS= read -r line; do
    [[ -z $line ]] || row "one node runs $line" no yes
  done <<<"$left"
}

# compare compares everything with the expectations of a phase, once.
compare() { # phase, jobs
  TABLE=
  DIFFERENT=0
  see_pods "$2"
  compare_queues "$1"
  compare_evictions "$1" "$2"
  compare_completed "$1" "$2"
  compare_pods "$1"
  compare_nodes "$1"
}

# await waits until everything is as expected, and prints the comparison.
await() { # phase, its number
  local jobs began=$SECONDS
  jobs=$(jobs_after $(($2 + 1)))$'\n'
  while true; do
    compare "$1" "$jobs"
    if ((DIFFERENT == 0 || SECONDS - began >= WAIT)); then
      break
    fi
    sleep "$PAUSE"
  done
  if [[ -n $TABLE ]]; then
    printf '\n%-52s  %12s  %12s\n%s' "After phase $1" expected actual "$TABLE"
  fi
  if ((DIFFERENT > 0)); then
    echo
    look
    tell_ended "$1"
    fail "numbers that differ after $WAIT seconds: $DIFFERENT. DEMONSTRATION.md says what they can wait for. To compare \
again, run ./demonstrate.sh $1"
  fi
  printf '\nPhase %s is as expected.\n' "$1"
}

# check_cluster fails if kubectl is not connected to the platform's cluster.
check_cluster() {
  local owner
  command -v kubectl >/dev/null || fail 'kubectl is not installed: see USING.md'
  owner=$(kubectl get namespace "$NAMESPACE" --ignore-not-found -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/part-of}')
  [[ $owner == "$NAME" ]] || fail "kubectl is connected to a cluster without the team $TEAM of the platform $NAME. \
USING.md has the command that gets the credentials"
}

WAIT=
PAUSE=2 # seconds between two looks at the cluster
phase=
for argument; do
  case $argument in
  --wait=[1-9]* | --wait=0)
    WAIT=${argument#*=}
    [[ $WAIT != *[!0-9]* && ${#WAIT} -lt 7 ]] || {
      usage >&2
      exit 2
    }
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  --wait)
    printf '%s: write the seconds after an equals sign, such as --wait=600\n' "${0##*/}" >&2
    exit 2
    ;;
  -* | '')
    usage >&2
    exit 2
    ;;
  *)
    [[ -z $phase ]] || {
      usage >&2
      exit 2
    }
    phase=$argument
    ;;
  esac
done
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

if [[ -z $phase ]]; then
  list_phases
  exit 0
fi
if [[ $phase == "$CLEAN_UP" ]]; then
  check_cluster
  jobs=$(all_jobs)
  WAIT=${WAIT:-600}
  delete_jobs "$jobs"
  delete_files "$jobs"
  uncordon ''
  echo "The demonstration of $NAME is removed."
  exit 0
fi
number=$(phase_number "$phase") || {
  printf '%s: there is no phase %q\n' "${0##*/}" "$phase" >&2
  list_phases >&2
  exit 2
}
WAIT=${WAIT:-${PHASES[number * 3 + 2]}}
check_cluster
check_order "$phase" "$number"
if [[ $DONE == true ]]; then
  echo "The jobs that phase $phase leaves exist already, so this run only compares."
else
  perform "$phase"
fi
await "$phase" "$number"
