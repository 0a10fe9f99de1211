export const sandbox = `The sandbox

With --sandbox, or URTUU_SANDBOX=1, a command talks to a service inside its own process. No
key, no network and no credits are needed, and nothing leaves this machine. Its data is
durable: a message sent by one command is found by the next.

  urtuu --sandbox sms send 99112233 'Сайн байна уу'
  urtuu sandbox outbox          what was delivered, with texts and codes
  urtuu sandbox credit 5000     add credits
  urtuu sandbox reset           start again

The same service can listen for programs: urtuu serve. All commands: urtuu sandbox --help
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
  XDG_STATE_HOME   jobs and the embedded service are in urtuu/ under it (~/.local/state)

What is said on the command line goes before the environment, and that before the profile.
A profile named with --profile counts as said on the command line, its key and URL too.
`;

export const csv = `CSV files

The first line names the columns. The recipients are in the column named to, phone, number,
mobile, email or the like (утас, дугаар, имэйл too), or in the one that --to-column names.

  name,phone,amount
  Бат,99112233,12500
  Цэцэг,88001122,8000

Comma, semicolon, tab and | separate; quotes, line ends and a byte order mark may be as they
are. The text is UTF-8 or UTF-16; say so with --encoding when it is something else. Bare
lists without a header: --headerless.

Numbers are repaired only where that is certain, and every repair is counted. While any row
is bad nothing is sent; --skip-invalid sends the others. Recipients that occur twice get one
message.
`;

export const templates = `Templates

A text, subject or body of a bulk send can name columns in braces; {{ and }} are braces.

  urtuu sms bulk debtors.csv --text 'Сайн байна уу {name}, таны төлбөр {amount} төгрөг.'

A column that does not exist, or is empty in a row, is an error of that row, found before
anything is sent. In HTML bodies what is put in is escaped. Rows with the same finished text
travel together.
`;

export const jobs = `Jobs

Every bulk send is a job: a plan that is frozen on disk before the first request, and a
journal of every answer. Whatever happens to the process, the network or the machine, run the
same command again, or urtuu jobs resume NAME: nobody is sent to twice, nobody is forgotten.

  urtuu jobs list
  urtuu jobs show NAME
  urtuu jobs resume NAME
  urtuu jobs report NAME
  urtuu jobs remove NAME

A job that is done refuses to run again (exit 11); --again is the deliberate repeat. --job
NAME gives a job a name; without it the name follows from its content.
`;
