#!/bin/sh
# Tells the person on call how a pipeline ended, on GitHub, GitLab or by hand:
#
#   ci-notify.sh failed
#
# ON_CALL is the number to tell. The key of the message follows from the run and its outcome, so that jobs that are run
# again, on whatever machine, send nothing twice. URTUU_BASE_URL and URTUU_API_KEY are variables of the pipeline.
#
# Exit codes: 0 accepted; 5 later and 6 in doubt after four tries; any other is that of urtuu (urtuu help exit-codes).
set -eu

outcome=${1:?usage: ci-notify.sh OUTCOME}
: "${ON_CALL:?is the number to tell}"
project=${GITHUB_REPOSITORY:-${CI_PROJECT_PATH:-$(basename "$PWD")}}
run=${GITHUB_RUN_ID:-${CI_PIPELINE_ID:?is the number of the run}}

for pause in 0 10 30 60; do
  sleep "$pause"
  status=0
  urtuu sms send "$ON_CALL" "$project: run $run $outcome" --quiet \
    --idempotency-key "$project-$run-$outcome" >/dev/null || status=$?
  case $status in
    5 | 6) ;; # later, or in doubt: the same key cannot send it twice
    *) exit "$status" ;;
  esac
done
exit "$status"
