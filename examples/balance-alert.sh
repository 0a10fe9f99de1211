#!/bin/sh
# Sends an SMS when the credits run low, at most once a day. For cron or a monitoring agent:
#
#   */30 * * * * ON_CALL=99112233 MINIMUM=5000 /opt/balance-alert.sh
#
# ON_CALL is the number to tell, MINIMUM the credits that are too few (default 5000). The service and its key are in
# a profile (urtuu login), or in URTUU_BASE_URL and URTUU_API_KEY.
#
# Exit codes: 0 enough credits, or the alert was accepted; any other is that of urtuu (urtuu help exit-codes).
set -eu

: "${ON_CALL:?is the number to tell}"
: "${MINIMUM:=5000}"

status=0
said=$(urtuu balance --min "$MINIMUM" 2>&1) || status=$?
case $status in
  0) exit 0 ;; # enough
  7) ;;        # below the minimum
  *)           # no key, no connection: nothing is known about the balance
    echo "$said" >&2
    exit "$status"
    ;;
esac

# The same key never sends twice: one alert a day, however often this runs. After 5 (later) and 6 (in doubt) the next
# run repeats it safely.
exec urtuu sms send "$ON_CALL" "Fewer than $MINIMUM credits are left." --quiet \
  --idempotency-key "balance-alert-$(date +%F)" >/dev/null
