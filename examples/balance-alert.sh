#!/bin/sh
# Sends an SMS when the credits run low, once a day. For cron, with nothing in its environment, or a monitoring agent:
#
#   */30 * * * * ON_CALL=99112233 MINIMUM=5000 /opt/balance-alert.sh
#
# ON_CALL is the number to alert, MINIMUM the credits that are too few (default 5000). The service and its key are in
# a profile (urtuu login), or in URTUU_BASE_URL and URTUU_API_KEY. Hosts that watch the same project send one alert
# between them; another number, or another minimum, is another alert.
#
# Exit codes:
#   0       enough credits, or the alert was accepted
#   2       ON_CALL is missing
#   127     urtuu is not in the PATH
#   others  those of urtuu (urtuu help exit-codes), with the reason on standard error
set -eu

# cron does not know where npm installs commands.
PATH="${PATH:-/usr/bin:/bin}:/usr/local/bin"
export PATH

if [ -z "${ON_CALL:-}" ]; then
  echo 'balance-alert.sh: ON_CALL is missing: the number to alert' >&2
  exit 2
fi
minimum=${MINIMUM:-5000}

status=0
said=$(urtuu balance --min "$minimum" 2>&1) || status=$?
case $status in
  0) exit 0 ;; # enough
  7) ;;        # below the minimum
  *)           # no key, no connection: nothing is known about the balance
    echo "$said" >&2
    exit "$status"
    ;;
esac

# The same key never sends twice: one alert a day, however often and wherever this runs. After 5 (later) and 6 (in
# doubt) the next run repeats it safely. One day everywhere is that of UTC.
number=$(printf %s "$ON_CALL" | tr -cd 0-9)
exec urtuu sms send "$ON_CALL" "Fewer than $minimum credits are left." --quiet \
  --idempotency-key "balance-alert-$(date -u +%F)-$number-$minimum" >/dev/null
