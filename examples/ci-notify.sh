#!/bin/sh
# Tells the person on call how a pipeline ended, on GitHub, GitLab or by hand:
#
#   ON_CALL=99112233 ci-notify.sh failed
#
# ON_CALL is the number to tell. URTUU_BASE_URL and URTUU_API_KEY are variables of the pipeline. One message is sent
# for a run, its outcome and ON_CALL: the jobs of a matrix, callers of a reusable workflow and jobs that are run again,
# on whatever machine, add none. By hand there is no run, and every call sends one.
#
# Exit codes:
#   0       accepted
#   2       the outcome or ON_CALL is missing
#   5, 6    later, or in doubt, after four tries
#   127     urtuu is not in the PATH
#   others  those of urtuu (urtuu help exit-codes)
set -eu

PATH="${PATH:-/usr/bin:/bin}:/usr/local/bin"
export PATH

if [ -z "${1:-}" ] || [ -z "${ON_CALL:-}" ]; then
  echo 'usage: ON_CALL=99112233 ci-notify.sh OUTCOME' >&2
  exit 2
fi
outcome=$1
project=${GITHUB_REPOSITORY:-${CI_PROJECT_PATH:-$(basename "$PWD")}}
run=${GITHUB_RUN_ID:-${CI_PIPELINE_ID:-"by hand at $(date '+%F %T')"}}
server=${GITHUB_SERVER_URL:-${CI_SERVER_URL:-$(uname -n)}}

# A key has letters and digits only, whatever a folder is called.
hash=$(command -v sha256sum || echo shasum -a 256)
key=$(printf '%s\n' "$server" "$project" "$run" "$outcome" "$ON_CALL" | $hash | cut -c 1-40)

for pause in 0 10 30 60; do
  sleep "$pause"
  status=0
  urtuu sms send "$ON_CALL" "$project: run $run $outcome" --quiet --idempotency-key "$key" >/dev/null ||
    status=$?
  case $status in
    5 | 6) ;; # later, or in doubt: the same key cannot send it twice
    *) exit "$status" ;;
  esac
done
exit "$status"
