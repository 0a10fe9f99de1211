#!/bin/sh
# The step of action.yml: sends, then writes the outputs `exit` and `meaning`. Ends with the exit code of urtuu.
set -eu

# end CODE MEANING
end() {
  {
    echo "exit=$1"
    echo "meaning=$2"
  } >>"$GITHUB_OUTPUT"
  [ "$1" -eq 0 ] || echo "::error title=urtuu: exit $1::$2"
  exit "$1"
}

channel=${INPUT_CHANNEL:-sms}
case $channel in sms | email) ;; *) end 2 'channel is sms or email' ;; esac
case ${INPUT_WAIT:-true} in true | false) ;; *) end 2 'wait is true or false' ;; esac
[ -n "$URTUU_BASE_URL" ] || end 2 'base-url is missing'
[ -n "$INPUT_TO$INPUT_FILE" ] || end 2 'give to, for one message, or file, for a bulk job'
[ -z "$INPUT_TO" ] || [ -z "$INPUT_FILE" ] || end 2 'give to or file, not both'
[ -n "$INPUT_TEXT$INPUT_TEXT_FILE" ] || end 2 'give text or text-file'
[ -z "$INPUT_TEXT" ] || [ -z "$INPUT_TEXT_FILE" ] || end 2 'give text or text-file, not both'
[ -z "$INPUT_SUBJECT" ] || [ "$channel" = email ] || end 2 'subject is for email'
[ -z "$INPUT_TO" ] || [ -z "$INPUT_MAX_CREDITS" ] || end 2 'max-credits is for a bulk job: give file, not to'
[ -z "$INPUT_TO" ] || [ -z "$INPUT_REPORT" ] || end 2 'report is for a bulk job: give file, not to'
# Nothing else that a job knows of itself tells the callers of a reusable workflow apart.
[ -n "$INPUT_NAME" ] || [ -z "$JOB_WORKFLOW" ] || [ "$JOB_WORKFLOW" = "$RUN_WORKFLOW" ] ||
  end 2 'a reusable workflow has to give name: one for each of its callers'

# Outside the checkout, whose .npmrc and packages would choose the program that gets the key; without the key.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '{}' >"$folder/package.json"
(cd "$folder" && unset URTUU_API_KEY &&
  npm install --ignore-scripts --no-audit --no-fund "urtuu@$INPUT_VERSION" >&2) ||
  end 1 "urtuu@$INPUT_VERSION cannot be installed; nothing was sent"
urtuu() {
  "$folder/node_modules/.bin/urtuu" "$@"
}

text_file=$INPUT_TEXT_FILE
if [ -n "$INPUT_TEXT" ]; then
  text_file=$folder/text
  printf '%s' "$INPUT_TEXT" >"$text_file"
fi

# The same for each attempt of a run, and for nothing else. A part may have any character but NUL.
hash=$(command -v sha256sum || echo shasum -a 256)
key=$({
  printf '%s\0' "${GITHUB_SERVER_URL:-}" "${GITHUB_REPOSITORY:-}" "${GITHUB_WORKFLOW:-}" "$GITHUB_RUN_ID" \
    "$GITHUB_JOB" "$JOB_WORKFLOW" "$JOB_MATRIX" "$INPUT_NAME" "$channel" "$INPUT_TO" "$INPUT_FILE" "$INPUT_SUBJECT"
  cat -- "$text_file" 2>/dev/null || true
} | $hash | cut -c 1-40)

set -- --text-file "$text_file"
[ -z "$INPUT_SUBJECT" ] || set -- "$@" --subject "$INPUT_SUBJECT"
[ "${INPUT_WAIT:-true}" = false ] || set -- "$@" --wait
if [ -n "$INPUT_TO" ]; then
  set -- "$channel" send "$@" --idempotency-key "action-$key" -- "$INPUT_TO"
else
  [ -z "$INPUT_MAX_CREDITS" ] || set -- "$@" --max-credits "$INPUT_MAX_CREDITS"
  [ -z "$INPUT_REPORT" ] || set -- "$@" --report "$INPUT_REPORT"
  set -- "$channel" bulk "$@" --job "action-$key" --if-finished ok --yes -- "$INPUT_FILE"
fi

status=0
urtuu "$@" || status=$?

# The line of the table of exit codes, with those that continue it.
meaning=$(urtuu help exit-codes | awk -v code="$status" '
  /^ +[0-9]+  / { mine = $1 == code; sub(/^ +[0-9]+ +/, "") }
  /^$/ { mine = 0 }
  mine { sub(/^ +/, ""); printf "%s%s", separator, $0; separator = " " }')
end "$status" "$meaning"
