# shellcheck shell=bash
# Every shell of the test reads this file. stand_in stands in for a program that needs Google
# Cloud, a cluster or the network. It records the call, checks the files that the call reads, and
# answers the next command of the page. The test compares the recorded calls with programs.txt.
# It runs in a subshell, so that the names in it do not meet those of a script.
stand_in() ( # program, arguments
  set -euo pipefail
  program=$1
  shift
  printf '%s\0' "$AT" "$program" "$@" $'\1' >>"$STATE/calls"

  fail() { # message
    echo "$program: $1" >&2
    exit 1
  }

  need_file() { # path
    [[ -e $1 ]] || fail "no file $1"
  }

  need_input() {
    [[ -n $(cat) ]] || fail 'the input is empty'
  }

  # need_block fails if Terraform's files have no block with this head.
  need_block() { # head
    grep -qF "$1" ./*.tf || fail "terraform has no $1"
  }

  # need_address fails if Terraform's files have no such resource.
  need_address() { # type.name
    local name=${1#*.}
    need_block "resource \"${1%%.*}\" \"${name%%[*}\""
  }

  check_files() { # arguments
    local argument before=
    for argument; do
      case $before in
      -f) if [[ $argument == - ]]; then need_input; else need_file "$argument"; fi ;;
      -k) need_file "$argument/kustomization.yaml" ;;
      -C) need_file "$argument/" ;;
      esac
      case $argument in
      --config=* | --inputs-file=* | --local-source=*) need_file "${argument#*=}" ;;
      --volume=./*)
        argument=${argument#*=}
        need_file "${argument%%:*}"
        ;;
      --from-file=*=/dev/stdin) need_input ;;
      esac
      before=$argument
    done
  }

  # remember keeps the name and the display name of a resource that a command creates. To
  # create it again is a mistake.
  remember() { # kind, name, arguments
    local argument kept="$STATE/$1 ${2#gs://}" display=
    [[ ! -e $kept ]] || fail "$2 exists already"
    for argument in "${@:3}"; do
      case $argument in
      --display-name=*) display=${argument#*=} ;;
      esac
    done
    echo "$display" >"$kept"
  }

  answer_gcloud() { # arguments
    local kept
    case $* in
    'auth print-access-token'*) echo token ;;
    'ai tensorboards list '*) echo projects/my-project/locations/us-central1/tensorboards/1 ;;
    'builds submit '*) need_file "$3" ;;
    'storage buckets list '*)
      for kept in "$STATE/buckets "*; do
        [[ ! -e $kept ]] || echo "${kept##* }"
      done
      ;;
    *' repositories create '* | *' service-accounts create '* | *' roles create '* | *' buckets create '*)
      remember "$2" "$4" "$@"
      ;;
    *' repositories describe '* | *' service-accounts describe '* | *' roles describe '*)
      kept="$STATE/$2 ${4%%@*}"
      [[ -e $kept ]] || fail "$4 does not exist"
      cat "$kept"
      ;;
    esac
  }

  answer_kubectl() { # arguments
    case $* in
    kustomize*)
      need_file "$2/kustomization.yaml"
      echo 'kind: List'
      ;;
    create*' -o yaml') echo 'kind: List' ;;
    'get nodes '*' -o name') echo node/a ;;
    esac
  }

  answer_terraform() { # arguments
    local argument before=
    [[ $1 == -chdir=* ]] || fail 'runs outside the folder terraform/'
    cd "${1#-chdir=}" || fail "no folder ${1#-chdir=}"
    shift
    [[ $1 == init || -d .terraform ]] || fail "$1 comes before terraform init"
    for argument; do
      case $argument in
      init) mkdir -p .terraform ;;
      -out=*) : >"${argument#*=}" ;;
      -target=*) need_address "${argument#*=}" ;;
      -var=*)
        argument=${argument#-var=}
        need_block "variable \"${argument%%=*}\""
        ;;
      -*) ;;
      *)
        case $before in
        apply) need_file "$argument" ;;
        output) need_block "output \"$argument\"" ;;
        rm) need_address "$argument" ;;
        esac
        ;;
      esac
      before=$argument
    done
  }

  answer_sha256sum() { # --check
    local sum file
    [[ $* == --check ]] || fail 'only --check'
    read -r sum file
    [[ $sum =~ ^[0-9a-f]{64}$ ]] || fail "$sum is no SHA-256"
    need_file "$file"
  }

  # answer_crane answers for a registry that has only the images that were copied.
  answer_crane() { # digest or copy, image, copy
    case $1 in
    digest) grep -qxF "$2" "$STATE/images" 2>/dev/null || fail "$2 does not exist" ;;
    copy)
      # The copy of an image with a digest has the same digest.
      if [[ $2 == *@* ]]; then
        echo "$3@${2#*@}" >>"$STATE/images"
      else
        echo "$3" >>"$STATE/images"
      fi
      ;;
    esac
  }

  check_files "$@"
  case $program in
  crane) answer_crane "$@" ;;
  curl)
    while [[ $1 != --output ]]; do
      shift
    done
    echo 'kind: List' >"$2"
    ;;
  docker) if [[ $1 == build ]]; then need_file "${!#}"; fi ;;
  gcloud) answer_gcloud "$@" ;;
  gcluster) [[ $1 == telemetry ]] || need_file "$2/.ghpc" ;;
  git) mkdir "$(basename "${!#}")" ;;
  kubectl) answer_kubectl "$@" ;;
  sha256sum) answer_sha256sum "$@" ;;
  terraform) answer_terraform "$@" ;;
  esac
)
