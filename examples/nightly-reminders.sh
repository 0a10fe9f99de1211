#!/bin/sh
# Sends the reminders of the day, one to each line of a CSV file, from cron's empty environment:
#
#   */15 9-17 * * * REMINDERS=/srv/reminders /opt/nightly-reminders.sh
#
# The folder REMINDERS holds the list of each day (2026-11-22.csv), text.txt with the text, url.txt with the address of
# the service, urtuu.key with the API key (mode 0600), and the state of the jobs. The report of the day appears beside
# its list. Run it as often as you like: a run goes on where the one before stopped, and nobody gets a second reminder.
#
# Exit codes, those of urtuu (urtuu help exit-codes):
#   0       everyone was sent the reminder, or there is no list today
#   3, 9    some, or all, could not be sent: the report names them
#   5, 14   later, or not final yet: the next run goes on
#   6       in doubt: the next run settles it
#   others  need a person; cron mails what was printed
set -eu

# cron knows neither where npm installs commands nor where a service without a home keeps its state.
PATH="$PATH:/usr/local/bin"
XDG_STATE_HOME="${REMINDERS:?is the folder of the lists}/state"
URTUU_BASE_URL=$(cat "$REMINDERS/url.txt")
export PATH XDG_STATE_HOME URTUU_BASE_URL

day=$(date +%F)
list="$REMINDERS/$day.csv"
[ -e "$list" ] || exit 0

exec urtuu sms bulk "$list" --text-file "$REMINDERS/text.txt" --api-key-file "$REMINDERS/urtuu.key" \
  --job "reminders-$day" --if-finished ok --yes --wait --report "$REMINDERS/$day.report.csv" --quiet >/dev/null
