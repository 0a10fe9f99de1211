#!/bin/sh
# The step of action.yml: sends, then writes the outputs `exit` and `meaning`. Ends with the exit code of urtuu.
set -eu

fail() {
  echo "::error title=urtuu::$1"
  exit 2
}

urtuu() {
  npx --yes "urtuu@$INPUT_VERSION" "$@"
}

case $INPUT_CHANNEL in sms | email) ;; *) fail 'channel is sms or email' ;; esac
[ -n "$INPUT_TO$INPUT_FILE" ] || fail 'give to, for one message, or file, for a bulk job'
[ -z "$INPUT_TO" ] || [ -z "$INPUT_FILE" ] || fail 'give to or file, not both'
[ -n "$INPUT_TEXT$INPUT_TEXT_FILE" ] || fail 'give text or text-file'
[ -z "$INPUT_TEXT" ] || [ -z "$INPUT_TEXT_FILE" ] || fail 'give text or text-file, not both'

text_file=$INPUT_TEXT_FILE
if [ -n "$INPUT_TEXT" ]; then
  text_file=$(mktemp)
  trap 'rm -f "$text_file"' EXIT
  printf '%s' "$INPUT_TEXT" >"$text_file"
fi

key="$GITHUB_RUN_ID-$GITHUB_JOB-$INPUT_NAME"
set -- --text-file "$text_file"
[ -z "$INPUT_SUBJECT" ] || set -- "$@" --subject "$INPUT_SUBJECT"
[ "$INPUT_WAIT" = false ] || set -- "$@" --wait
if [ -n "$INPUT_TO" ]; then
  set -- "$INPUT_CHANNEL" send "$@" --idempotency-key "$key" -- "$INPUT_TO"
else
  [ -z "$INPUT_MAX_CREDITS" ] || set -- "$@" --max-credits "$INPUT_MAX_CREDITS"
  [ -z "$INPUT_REPORT" ] || set -- "$@" --report "$INPUT_REPORT"
  set -- "$INPUT_CHANNEL" bulk "$@" --job "$key" --if-finished ok --yes -- "$INPUT_FILE"
fi

status=0
urtuu "$@" || status=$?

# The line of the table of exit codes, with those that continue it.
meaning=$(urtuu help exit-codes | awk -v code="$status" '
  /^ +[0-9]+  / { mine = $1 == code; sub(/^ +[0-9]+ +/, "") }
  /^$/ { mine = 0 }
  mine { sub(/^ +/, ""); printf "%s%s", separator, $0; separator = " " }')
{
  echo "exit=$status"
  echo "meaning=$meaning"
} >>"$GITHUB_OUTPUT"
[ "$status" -eq 0 ] || echo "::error title=urtuu: exit $status::$meaning"
exit "$status"
