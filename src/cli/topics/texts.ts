export const exitCodesEnd = `On Ctrl-C, SIGTERM or SIGHUP the process dies by that signal; a shell shows 130,
143 or 129. urtuu sendmail and urtuu service incoming use the codes of
sysexits.h: see their --help.

Exit 6 leaves a doubt; a bug (1), a signal, or a job that this machine stopped
(13) can leave one, too. Repeat the send with the idempotency key in the error
message, or resume the job: neither can send twice.

  for pause in 0 60 60; do
    sleep "$pause"
    status=0
    urtuu sms send 99112233 'Hi' --idempotency-key order-7 || status=$?
    case $status in
      5 | 6) ;;  # try again
      *) break ;;
    esac
  done
  (exit "$status")

With --json, or another machine format, an error is one JSON object on standard
error, with the service's error code and the exit code:

  {"error": {"code": "insufficient_credits", "message": "...", "hint": "...",
   "exit": 7, "retryable": false, "status": 402, "retry_after": null,
   "request_id": "...", "balance": 3, "required": 10}}
`;

export const sandbox = `The sandbox

With --sandbox, or URTUU_SANDBOX=1, a command uses a service inside its own
process. It needs no account, no key and no network. It has its own credits, and
nobody receives anything. Its data is durable: one command finds the messages of
another.

  urtuu --sandbox sms send 99112233 'Сайн байна уу'
  urtuu sandbox outbox          show delivered messages, with texts and codes
  urtuu sandbox credit 5000     add credits
  urtuu sandbox reset           start again

These recipients fail, to test a script; an address works with any domain. The
last five fail the first request of a command; its retry succeeds, unless you
set --max-retries 0.

  number    address                what happens
  99000001  fault-refused          not accepted: provider_failed, refunded
  99000002                         refused by its operator, delivered over the
                                   route without links
  99000003  fault-2s               accepted; the operator answers after 2
                                   seconds
  99000004  fault-10s              accepted; the operator answers after 10
                                   seconds
  99000005  fault-40s              accepted; the operator answers after 40
                                   seconds, over the client's timeout
  99000006  fault-answer-lost      accepted, but the operator's answer is lost:
                                   the service asks, then it is sent
  99000007  fault-silent           accepted, but unknown for 30 seconds:
                                   unavailable, then sent
  99000008  fault-hand-over-lost   lost once on the way to the operator, then
                                   accepted
  99000021  fault-delivered        accepted, then reported as delivered
  99000022  fault-bounced          accepted, then reported as undelivered (an
                                   email: bounced)
  99000023  fault-undecidable      accepted, but the outcome is never known:
                                   sent, with delivery unknown
  99000024  fault-later            deferred once by the operator, accepted 5
                                   seconds later
  99000025  fault-throttled        throttled at every try: provider_failed after
                                   15 seconds, in a batch or by email after a
                                   day
  99000026  fault-busy             deferred at every try: provider_failed after
                                   15 seconds, in a batch or by email after a
                                   day
  99000027  fault-account          the account is refused once, which pauses the
                                   lane for a second; accepted 5 seconds later
  99000028  fault-down             the operator is down for 10 seconds: its
                                   messages wait, then this one is accepted
  99000011  fault-drop-before      the connection is dropped before anything is
                                   done
  99000012  fault-drop-after       sent, but the connection is dropped before
                                   the answer
  99000013  fault-500              HTTP 500, nothing is done
  99000014  fault-429              HTTP 429 rate_limited, nothing is done
  99000015  fault-html             an HTML page with HTTP 502, as from a proxy;
                                   nothing is done

  urtuu --sandbox sms send 99000012 'Hi' --max-retries 0; echo $?     # 6

To run the same service for other programs: urtuu serve, urtuu keys. Their tests
read what it delivered with GET /v1/outbox.
`;

export const environment = `Environment variables

  URTUU_API_KEY      the API key
  URTUU_BASE_URL     the address of the service; ends in /v1
  URTUU_PROFILE      the profile to use
  URTUU_SANDBOX      1: use the embedded service
  URTUU_ALLOW_HTTP   1: allow plain http to other machines
  URTUU_DATABASE     PostgreSQL database of urtuu serve and owner commands
  URTUU_DATABASE_SCHEMA
                     schema of the service in it (default: the only one with a
                     service; urtuu for a new one)
  URTUU_SECRET_FILE  the secret that goes with the database
  URTUU_SANDBOX_KEY  a key that may do everything at urtuu serve, for tests;
                     refused beside carriers
  NO_COLOR           set: disable colours
  FORCE_COLOR        set: colours on a pipe too; 0: disable colours
  CI                 set: mask recipients in tables (9911**33)
  HTTPS_PROXY, HTTP_PROXY, ALL_PROXY
                     http or https proxies; not used for this machine itself
  NO_PROXY           hosts that need no proxy: sms.example.mn,10.0.0.0/8
  XDG_CONFIG_HOME    profiles are in urtuu/config.json under it (~/.config; on
                     Windows %APPDATA%)
  XDG_STATE_HOME     jobs and the data of services are in urtuu/ under it
                     (~/.local/state; on Windows %LOCALAPPDATA%)
  XDG_CACHE_HOME     compiled code and pages of help are in urtuu/ under it
                     (~/.cache; none on Windows), for a faster start;
                     NODE_DISABLE_COMPILE_CACHE disables it

The command line overrides the environment, and the environment overrides the
profile. A profile named with --profile overrides the environment too, with its
key and base URL.

The key comes from --api-key-file, else URTUU_API_KEY, else the profile, which
stores the key or a command that prints it (pass, secret-tool, security, op). No
option takes the key itself: others on the machine could read it.
`;

export const csv = `CSV files

The first line names the columns. The recipients are in the column named to,
phone, number, mobile, email or the like (утас, дугаар, имэйл too), or in the
one that --to-column names.

  name,phone,amount
  Бат,99112233,12500
  Цэцэг,88001122,8000

The delimiter is detected: comma, semicolon, tab or |. So are sep=; lines,
quotes, line ends of any kind and a byte order mark. The encoding is UTF-8 or
UTF-16. Others are never guessed: name them with --encoding (windows-1251,
koi8-r, ibm866).

An Excel workbook (.xlsx) works, too: its only sheet with rows, or --sheet NAME.
Its first row with cells names the columns. {column} is what the sheet shows:
00012345, 15%, 1,234.50, 36:00. Dates in the format of the region are written
2026-11-21. Recipients, and numbers without a format, keep all their digits.
Formulas have their stored values. Merged cells have their value in the first
cell only. Hidden columns are included, and hidden rows too, unless
--visible-only is set; a terminal asks about them. Hidden sheets are read with
--sheet. Errors name a cell as FILE!SHEET:CELL.

A list without column names needs --headerless. Its columns are called 1, 2, 3
and so on: --to-column 2, {1} in a text. A single column holds the recipients.
If a title is above the names, --header-row 3 sets their row.

These are repaired and counted: spaces, dashes, brackets and invisible
characters in a number, 9911.2233 and 9911/2233, +976 and 976, full-width
digits, a leading ', ="...", 99112233.0 and 9.9112233E7. A number like 9.91E+07
has lost its digits, and a cell may hold two numbers: those rows are invalid. So
are an address such as bat@gmail.соm with Cyrillic letters, and an empty cell,
#N/A, Err:502 or \\N in a column that the message uses. NULL and the like are a
warning.

An invalid row stops the send. Invalid rows are listed as FILE:LINE and written
beside the list, to LIST.rejected.csv (or --rejects FILE), with their line and
error. Fix them there or in the list, or skip them with --skip-invalid (exit 3).

A recipient in several rows gets one message. If the text differs between rows,
the second row of a recipient is invalid, unless --allow-repeats sends both.

A report (--report FILE, urtuu jobs report) is CSV, or a workbook if its name
ends in .xlsx. It has the columns of the list, then message_id, batch_id,
status, error_code, credits, line, delivery and job; if the list has a line of
its own, urtuu_line. A text cannot have the columns that urtuu adds. status is
sent, queued, failed, suppressed, rejected, moved, pending or in_doubt; the
error_code of moved rows names the job that took them. A report can be sent
again: --only failed moves only those rows out of their job. Rows that the job
would still send are refused (exit 11): resume it. Rows with delivery unknown
may have arrived: --only unknown sends them again, perhaps twice, and needs
--accept-duplicates without a terminal.
`;

export const templates = `Templates

A text, subject, body, sender name or reply address of a bulk send can name
columns in braces; {{ and }} are braces.

  urtuu sms bulk debtors.csv --text 'Сайн уу {name}, төлбөр {amount} төгрөг.'

The name comes from the header; capitals, spaces and dashes may differ if only
one column matches. In a list without a header it is the number: {1}.

  {name|customer}            customer if the cell is empty or blank
  {name|}                    nothing if it is
  {?debt}Owes {debt}.{/debt} a section for rows with a debt; 0 is one
  {!debt}Thank you.{/debt}   a section for rows without

Sections cannot contain others. A row does not need the columns in the sections
that it does not get, but its text cannot be empty. The preview counts the rows
with a fallback.

An unknown column is refused at once, and so are {{name}}, [name], %name%,
<<name>> or *|NAME|* if name is a column: everybody would get them as they are.
To send them, give the column another name. An empty value without a fallback,
or a text that is too long, makes its row invalid. All rows are checked before
anything is sent. Blanks around a value are left out. HTML bodies escape the
values, not the fallbacks; in a <style>, a <script> or a comment, braces are
text unless all of them are doubled.

Rows with the same text share a request of up to 1,000 recipients; a text of one
row is a request of its own. Each message is priced by its own text: a Cyrillic
name makes a Latin text Cyrillic. urtuu sms bulk ... --dry-run shows the price,
and the characters that make a Latin text Cyrillic; --gsm replaces some.
`;

export const jobs = `Jobs

Every bulk send is a job: a plan on disk, written before the first request, and
a journal of every answer. After any failure of the process, the network or the
machine, run the same command again, or urtuu jobs resume NAME: nobody is sent a
second message, and nobody is left out.

  urtuu jobs list               list the jobs of this machine
  urtuu jobs show NAME          show its progress, also while it runs
  urtuu jobs watch NAME         follow it until it ends, and exit as it does
  urtuu jobs cancel NAME        send no more; only jobs resume sends the rest
  urtuu jobs resume NAME        resume it; the file is no longer needed
  urtuu jobs report NAME        write the outcome of every row
  urtuu jobs remove NAME        forget it

Every recipient has one of these outcomes; they add up to planned:

  sent          accepted by the operator or mail server
  unknown       sent, but it may not have arrived; it is not sent again
  queued        accepted by the service; not final yet
  failed        not sent, refunded
  suppressed    on the do-not-send list of the service: not sent, refunded
  rejected      refused by the service, or skipped as invalid
  moved         another job took the row, as --only does
  in_doubt      may have been accepted: resume the job
  pending       not sent yet

Suppressed recipients do not count as failed: a job exits 0 if others were sent
to, 9 if nobody was. No command sends to them again; once they are off the list,
send yours with --skip-sent and another --job name.

A finished job does not run again (exit 11). In cron and CI, --if-finished ok
exits as the job did. --again sends to everyone again, as a new job (NAME.2).
--job NAME names a job, and refuses a list that has changed; without it the name
is derived from the service and the content. --max-credits N limits what the job
spends. If the balance is too low for everyone, it exits 7 before anything is
sent, unless you add --allow-partial.

--like NAME takes the texts and options of an earlier job for another list: a
follow-up is urtuu sms bulk list.rejected.csv --like NAME. Options given beside
it come first. All jobs like one share its --max-credits.

--where column=value and column!=value take some rows, --exclude FILE leaves out
the recipients of another list, and --first N takes the first N who are left;
the last line names the command that sends to the others.

Without --job, recipients who were sent the same message from this machine in
the last 7 days are counted: a terminal prompts, a script exits 11. --skip-sent
skips them.

A job resumes only with its own API key, or with another key of the same project
and --same-project.

To send the failed messages of a job again: jobs retry NAME, which makes a job
of them, NAME-retry-1, with the same texts. For undelivered ones, add --status
undelivered. To check unknown ones again: jobs show NAME --refresh.

Ctrl-C finishes the requests in flight and prints the command to resume; a
second one stops at once, and leaves some in doubt until the job is resumed.
`;
