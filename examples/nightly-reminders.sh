#!/bin/sh
# Sends the reminders of the day, one to each line of a CSV file, from cron's empty environment:
#
#   */15 9-17 * * * REMINDERS=/srv/reminders /opt/nightly-reminders.sh
#
# The folder REMINDERS holds the list of each day (2026-11-22.csv), text.txt with the text, url.txt with the address of
# the service, urtuu.key with the API key (mode 0600), and the state of the jobs. The report of a day appears beside
# its list. Run it as often as you like: it first resumes what earlier days left unfinished, then goes on with today's
# list, and nobody gets a second reminder. A job that was cancelled stays so.
#
# Exit codes, those of urtuu (urtuu help exit-codes): today's, or where that is 0, the first other one of an earlier day
#   0       everyone was sent the reminder, there is no list today, or another run is sending it now
#   3, 9    some, or all, could not be sent: the report names them
#   5, 14   later, or not final yet: the next run goes on
#   6       in doubt: the next run resolves it
#   others  need a person; cron mails what was printed
set -eu

# cron knows neither where npm installs commands nor where a service without a home keeps its state.
PATH="${PATH:-/usr/bin:/bin}:/usr/local/bin"
XDG_STATE_HOME="${REMINDERS:?is the folder of the lists}/state"
URTUU_BASE_URL=$(cat "$REMINDERS/url.txt")
export PATH XDG_STATE_HOME URTUU_BASE_URL

# Runs a command on the job of a day; what the command prints to go on with works in any shell.
send() {
  day=$1
  shift
  urtuu "$@" --api-key-file "$REMINDERS/urtuu.key" --if-finished ok --wait \
    --report "$REMINDERS/$day.report.csv" --quiet >/dev/null
}

today=$(date +%F)
status=0
jobs=$(urtuu jobs list -o tsv --no-header --columns job,state,reason,exit)
# A finished job was accepted whole; with 14, or killed, its report does not have every outcome yet.
unfinished=$(printf '%s\n' "$jobs" | awk -F '\t' '
  $1 !~ /^reminders-/ || $3 == "cancelled" { next }
  $2 == "new" || $2 == "unfinished" || ($2 == "finished" && ($4 == "" || $4 == 14)) { print $1 }' | sort)
for job in $unfinished; do
  [ "$job" != "reminders-$today" ] || continue
  send "${job#reminders-}" jobs resume "$job" || { ended=$?; [ "$status" -ne 0 ] || status=$ended; }
done

list="$REMINDERS/$today.csv"
running=$(printf '%s\n' "$jobs" | awk -F '\t' -v job="reminders-$today" '$1 == job && $2 == "running"')
if [ -e "$list" ] && [ -z "$running" ]; then
  ended=0
  send "$today" sms bulk "$list" --text-file "$REMINDERS/text.txt" --job "reminders-$today" --yes || ended=$?
  [ "$ended" -eq 0 ] || status=$ended
fi
exit "$status"
