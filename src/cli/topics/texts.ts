export const exitCodesEnd = `Stopped by Ctrl-C, SIGTERM or SIGHUP, the process dies by that signal; a shell
shows 130, 143 or 129. urtuu sendmail has the codes of sysexits.h:
urtuu sendmail --help

Only 6 leaves open whether something was sent. Repeating a send with the
idempotency key that its message names, or resuming its job, cannot send it
twice.

  for try in 1 2 3; do
    urtuu sms send 99112233 'Hi' --idempotency-key order-7
    case $? in
      0) exit 0 ;;        # sent
      5|6) sleep 60 ;;    # later, or in doubt: the same key settles it
      *) break ;;         # somebody has to look
    esac
  done

With --json, or another format for programs, an error is one JSON object on
standard error, with the service's code and the exit code:

  {"error": {"code": "insufficient_credits", "message": "...", "hint": "...",
   "exit": 7, "retryable": false, "status": 402, "retry_after": null,
   "request_id": "...", "balance": 3, "required": 10}}
`;

export const sandbox = `The sandbox

With --sandbox, or URTUU_SANDBOX=1, a command talks to a service inside its own
process. No key, no network and no credits are needed, and nothing leaves this
machine. Its data is durable: a message sent by one command is found by the
next.

  urtuu --sandbox sms send 99112233 'Сайн байна уу'
  urtuu sandbox outbox          what was delivered, with texts and codes
  urtuu sandbox credit 5000     add credits
  urtuu sandbox reset           start again

These recipients go wrong, to see what a script makes of it; an address counts
whatever its domain is. The last five break the first request of a command: its
retry goes through, unless --max-retries 0 forbids one.

  number    address                what happens
  99000001  fault-refused          not accepted: provider_failed, refunded
  99000002                         not accepted by its operator, delivered over
                                   the route without links
  99000003  fault-2s               accepted, which the operator says after 2
                                   seconds
  99000004  fault-10s              accepted, which the operator says after 10
                                   seconds
  99000005  fault-40s              accepted, which the operator says after 40
                                   seconds: over the client's timeout
  99000006  fault-answer-lost      accepted, the answer of the operator is lost:
                                   the service asks, and it is sent
  99000007  fault-silent           accepted, but for 30 seconds nobody can tell:
                                   unavailable, then sent
  99000008  fault-hand-over-lost   lost on the way to the operator once, then
                                   accepted
  99000011  fault-drop-before      the connection is dropped and nothing is done
  99000012  fault-drop-after       sent, but the connection is dropped before
                                   the answer
  99000013  fault-500              HTTP 500, nothing is done
  99000014  fault-429              HTTP 429 rate_limited, nothing is done
  99000015  fault-html             an HTML page of a proxy with HTTP 502,
                                   nothing is done

  urtuu --sandbox sms send 99000012 'Hi' --max-retries 0; echo $?     # 6

The same service can listen for programs: urtuu serve; its keys: urtuu keys.
`;

export const environment = `Environment variables

  URTUU_API_KEY    the API key
  URTUU_BASE_URL   where the service is; ends in /v1
  URTUU_PROFILE    the profile to use
  URTUU_SANDBOX    1: use the embedded service
  NO_COLOR         set: no colours
  FORCE_COLOR      set: colours on a pipe too; 0: none
  CI               set: recipients in tables are masked (9911**33)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   proxies; never used for this machine itself
  XDG_CONFIG_HOME  profiles are in urtuu/config.json under it (~/.config)
  XDG_STATE_HOME   jobs and the embedded service are in urtuu/ under it
                   (~/.local/state)
  XDG_CACHE_HOME   compiled code is in urtuu/ under it (~/.cache), for a faster
                   start; NODE_DISABLE_COMPILE_CACHE keeps it away

What is said on the command line goes before the environment, and that before
the profile. A profile named with --profile counts as said on the command line,
its key and URL too.

The key comes from --api-key-file, else URTUU_API_KEY, else the profile, which
keeps the key itself or a command that prints it (pass, secret-tool, security,
op). No option takes the key itself: others on the machine could read it.
`;

export const csv = `CSV files

The first line names the columns. The recipients are in the column named to,
phone, number, mobile, email or the like (утас, дугаар, имэйл too), or in the
one that --to-column names.

  name,phone,amount
  Бат,99112233,12500
  Цэцэг,88001122,8000

Comma, semicolon, tab and | separate, and are found; so are sep=; lines, quotes,
line ends of any kind and a byte order mark. The text is UTF-8 or UTF-16. Other
encodings are never guessed: name them with --encoding (windows-1251, koi8-r,
ibm866).

A bare list without column names needs --headerless. Its columns are called 1,
2, 3 and so on: --to-column 2, {1} in a text. A single column holds the
recipients.

Repaired, because it is certain, and counted: spaces, dashes and invisible
characters in a number, +976 and 976, full-width digits, a leading ', ="...",
99112233.0 and 9.9112233E7. A number like 9.91E+07 has lost its digits and is a
bad row.

While any row is bad nothing is sent. Bad rows are told as FILE:LINE and written
to a file with their line and error (--rejects FILE); mend them there or in the
list, or send the others with --skip-invalid (exit 3).

Recipients that occur twice get one message. With a text that differs from row
to row a second row of one recipient is bad, unless --allow-repeats sends both.

A report (--report FILE, urtuu jobs report) has the columns of the list, then
message_id, batch_id, status, error_code, credits, line, delivery and job.
status is sent, queued, failed, rejected, pending or in_doubt. It can be sent
again: --only failed takes just those rows away from their job. Rows that the
job itself would still send are refused (exit 11): resume it.
`;

export const templates = `Templates

A text, subject, body, sender name or reply address of a bulk send can name
columns in braces; {{ and }} are braces.

  urtuu sms bulk debtors.csv --text 'Сайн уу {name}, төлбөр {amount} төгрөг.'

The name is that of the header; capitals, spaces and dashes may differ where
that leaves one column. In a list without a header it is the number: {1}.

A column that is not there is refused at once. One that is empty in a row makes
that row bad, and so does a finished text that is too long; all of it is found
before anything is sent. In HTML bodies what is put in is escaped.

Rows with the same finished text travel together, up to 1,000 in a request; a
text that one row alone has is a request of its own. Every kind of text is
priced by itself: one Cyrillic name in a Latin text makes that message Cyrillic.
urtuu sms bulk ... --dry-run shows what that costs.
`;

export const jobs = `Jobs

Every bulk send is a job: a plan that is frozen on disk before the first
request, and a journal of every answer. Whatever happens to the process, the
network or the machine, run the same command again, or urtuu jobs resume NAME:
nobody is sent to twice, nobody is forgotten.

  urtuu jobs list               all jobs of this machine
  urtuu jobs show NAME          how far one is, also while it runs
  urtuu jobs resume NAME        go on; the file is not needed any more
  urtuu jobs report NAME        what became of every row, as CSV
  urtuu jobs remove NAME        forget it

accepted + rejected + failed + in doubt + pending is always what was planned.

A finished job refuses to run again (exit 11). In cron and CI, --if-finished ok
ends as it ended. --again sends to everyone again, as a job of its own (NAME.2).
--job NAME gives a job a name, and a list that has changed is then refused;
without it the name follows from the service and the content. --max-credits N
spends no more than that. A balance that is too low for everyone is exit 7
before anything is sent, unless --allow-partial is given.

Without --job, who got the same message from this machine in the last 7 days is
counted: a terminal asks, elsewhere it is exit 11. --skip-sent leaves them out.

A job goes on only with the API key that it was started with, or with another
key of the same project and --same-project.

Singles that the operator did not take: jobs resume NAME --retry-failed. Failed
messages of a batch: send the report again with --only failed.

Ctrl-C finishes what is in flight and says how to go on; a second one stops at
once, and then some are in doubt until the job is resumed.
`;
