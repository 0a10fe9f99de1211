import type { Exit } from '../../src/cli/exit.js';
import type { Result, Setting } from '../support/run.js';

export interface Case {
  line: () => string;
  code?: Exit;
  /** What people read; nothing when absent. */
  stdout?: RegExp;
  stderr?: RegExp;
  /** What programs read: where it is in the help, or nothing. */
  json?: 'object' | 'array';
  /** Words after the command that its help has this JSON for. */
  shape?: string;
  /** No table, so no columns. */
  text?: true;
  stdin?: string;
  /** A run of it changes what the next one finds. */
  prepare?: () => Promise<unknown>;
}

/** What the lines need to name, once it is known. */
export interface Known {
  message: string;
  batch: string;
  verification: string;
  /** A code that is not that of the verification. */
  wrong: string;
}

const object = { json: 'object', shape: '' } as const;
const array = { json: 'array', shape: '' } as const;

let recipients = 0;
/** Another number each time: one recipient may get only so many messages. */
const number = () => `9922${String(recipients++).padStart(4, '0')}`;

/** Every command, as it goes well and as it does not, in the sandbox of `here`. */
export function commandLines(
  known: Known,
  here: (line: string, setting?: Setting) => Promise<Result>,
): Case[] {
  const json = async (line: string) => JSON.parse((await here(`${line} --json`)).stdout);
  const wellKey = 'another-key-of-nobody';
  const login = () =>
    here('login --api-key-file - --base-url http://127.0.0.1:1/v1 --max-retries 0', { stdin: wellKey });
  const newKey = async () => (await json('keys create')).id;

  const revokeKeys = async () => {
    for (const { id } of await json('keys list')) await here(`keys revoke ${id} --yes`);
  };

  const ownDomain = () => here('service settings set own_domain shop.mn');
  const receive = async () => {
    await ownDomain();
    await here('service incoming --to a@shop.mn', { stdin: 'From: a@b.mn\nSubject: Hi\n\nHi' });
  };

  let spareKey = '';

  return [
    { line: () => `sms send ${number()} 'Сайн уу'`, stdout: /^status +sent$/m, ...object },
    { line: () => `sms send ${number()} -`, stdin: 'hi\n', stdout: /^status +sent$/m, ...object },
    {
      line: () => 'sms send 99112233 hi --dry-run',
      stdout: /^credits +10$/m,
      json: 'object',
      shape: 'with --dry-run',
    },
    { line: () => 'sms send 70112233 hi', code: 8, stderr: /unsupported_number/ },
    { line: () => 'sms send 99000001 hi --max-retries 0', code: 9, stderr: /provider_failed/ },
    { line: () => 'sms send 99000012 hi --max-retries 0', code: 6, stderr: /--idempotency-key/ },
    {
      line: () => 'sms bulk two.csv --text hi --dry-run',
      stdout: /ecipients +2/,
      stderr: /^$/,
      json: 'object',
      shape: 'with --dry-run',
    },
    {
      line: () => `sms bulk two.csv --text ${number()} --hold`,
      stdout: /^Held sms-\w{20}, plan (\w{8})\. Send it: .*urtuu jobs resume sms-\w{20} --plan \1/,
      stderr: /ecipients +2/,
      json: 'object',
    },
    {
      line: () => `sms bulk two.csv --text ${number()} --yes`,
      stdout: /^queued +2$/m,
      stderr: /2 accepted\. Nothing is in doubt\./,
      ...object,
    },
    {
      line: () => 'sms bulk two.csv --text hi --job july --yes',
      code: 11,
      stderr: /finished at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/,
    },
    {
      line: () => `sms bulk two.csv --text ${number()} --yes --proof ${number()}`,
      stdout: /^ROW .*\n +2 .* sent /,
      stderr: /Proof: 1 message to 9922\d{4}, 10 credits\. The job has not begun\./,
      json: 'array',
      shape: 'with --proof',
    },
    { line: () => 'sms bulk mixed.csv --text hi --yes', code: 8, stderr: /mixed\.csv:3/ },
    {
      line: () => `sms bulk mixed.csv --text ${number()} --yes --skip-invalid`,
      code: 3,
      stdout: /^rejected +1$/m,
      stderr: /1 rejected/,
      json: 'object',
    },
    { line: () => 'sms bulk nowhere.csv --text hi --yes', code: 13, stderr: /does not exist/ },
    {
      line: () => `email send ${number()}@example.mn --subject s --text t`,
      stdout: /^status +queued$/m,
      ...object,
    },
    {
      line: () => `email send ${number()}@example.mn --subject s --text t --wait`,
      stdout: /^status +sent$/m,
      stderr: /waiting/,
      json: 'object',
      shape: 'with --wait',
    },
    {
      line: () => 'email send bat@example.mn --subject s --html x --dry-run',
      stdout: /^credits +2$/m,
      json: 'object',
      shape: 'with --dry-run',
    },
    {
      line: () => 'email send fault-2s@example.mn --subject s --text t --wait --wait-timeout 0',
      code: 14,
      stdout: /queued/,
      stderr: /not final yet/,
      ...object,
    },
    {
      line: () => `email bulk mails.csv --subject s --text ${number()} --yes`,
      stdout: /^queued +2$/m,
      stderr: /2 accepted\. Nothing is in doubt\./,
      ...object,
    },
    {
      line: () => `verify create ${number()}`,
      stdout: /^status +pending$/m,
      stderr: /^To check it:\s+(?:\S+ )?urtuu verify check /m,
      ...object,
    },
    { line: () => 'verify create nobody', code: 8, stderr: /neither a phone number nor/ },
    { line: () => `verify get ${known.verification}`, stdout: /^status +pending$/m, ...object },
    { line: () => 'verify get nothing', code: 12, stderr: /not_found/ },
    {
      line: () => `verify check ${known.verification} ${known.wrong}`,
      code: 10,
      stderr: /Attempts remaining: \d/,
    },
    { line: () => 'verify check nothing 123456', code: 12, stderr: /not_found/ },
    {
      line: () => `messages get ${known.message}`,
      stdout: /^status +sent$/m,
      json: 'object',
      shape: 'of one id',
    },
    {
      line: () => `messages get ${known.message} nothing`,
      code: 3,
      stdout: /not_found/,
      stderr: /1 of 2 ids/,
      json: 'array',
      shape: 'of several',
    },
    {
      line: () => 'messages get a b',
      code: 12,
      stdout: /not_found/,
      stderr: /none of the 2 ids/,
      json: 'array',
    },
    { line: () => 'messages get -', stdin: 'nothing\n', code: 12, stderr: /not_found/ },
    {
      line: () => `batches get ${known.batch} --wait`,
      stdout: /^status +completed$/m,
      json: 'object',
      shape: 'of one id',
    },
    {
      line: () => `batches get ${known.batch} nothing`,
      code: 3,
      stdout: /not_found/,
      stderr: /1 of 2 ids/,
      json: 'array',
      shape: 'of several',
    },
    {
      line: () => `batches get ${known.batch} --messages`,
      stdout: /99119001/,
      json: 'array',
      shape: 'with --messages',
    },
    { line: () => 'messages list', stdout: /^id /im, ...array },
    { line: () => 'messages list --to nobody', code: 8, stderr: /neither a phone number nor/ },
    { line: () => 'batches list', stdout: /^ID +CREATED AT +TOTAL +SENT +FAILED$/m, ...array },
    { line: () => 'batches list --since later', code: 2, stderr: /not a time/ },
    { line: () => 'history --limit 2', stdout: /^TIME +STATUS/, stderr: /raise --limit/, ...array },
    { line: () => 'api GET /v1/balance', stdout: /^\{"balance":\d+\}$/m, text: true },
    { line: () => 'whoami', stdout: /^key source +sandbox$/m, ...object },
    { line: () => 'balance', stdout: /^balance +[\d,]+$/m, ...object },
    {
      line: () => 'balance --min 100000000',
      code: 7,
      stdout: /^balance/,
      stderr: /is below 100,000,000/,
      json: 'object',
    },
    { line: () => 'pricing', stdout: /^max parts +5$/m, ...object },
    {
      line: () => "pricing --text 'Сайн уу'",
      stdout: /^kind +cyrillic$/m,
      json: 'object',
      shape: 'with --text',
    },
    { line: () => 'jobs list', stdout: /july/, stderr: /^\d+ jobs: .* credits\.$/m, ...array },
    {
      line: () => 'jobs show july',
      stdout: /^job +july$/m,
      stderr: /urtuu jobs show july --refresh --sandbox$/m,
      ...object,
    },
    { line: () => 'jobs show nothing', code: 12, stderr: /there is no job/ },
    {
      line: () => 'jobs watch july',
      stdout: /^job +july$/m,
      stderr: /2 accepted\. Nothing is in doubt\./,
      ...object,
    },
    { line: () => 'jobs watch nothing', code: 12, stderr: /there is no job/ },
    {
      line: () => 'jobs cancel stopped',
      prepare: () => here(`sms bulk two.csv --text ${number()} --job stopped --yes`),
      code: 11,
      stderr: /finished at/,
    },
    { line: () => 'jobs cancel nothing', code: 12, stderr: /there is no job/ },
    { line: () => 'jobs resume july', code: 11, stderr: /finished at/ },
    { line: () => 'jobs report july', stdout: /^phone,name,message_id/m, text: true },
    { line: () => 'jobs retry july --yes', code: 11, stderr: /the job july has no failed messages/ },
    {
      line: () => 'jobs remove spare',
      prepare: () => here(`sms bulk two.csv --text ${number()} --job spare --yes`),
      stderr: /^Removed the job spare: 2 queued\.$/m,
      text: true,
    },
    {
      line: () => 'login --api-key-file - --base-url http://127.0.0.1:1/v1 --max-retries 0',
      stdin: wellKey,
      stdout: /^key +stored$/m,
      stderr: /could not be checked/,
      ...object,
    },
    { line: () => 'logout --yes', prepare: login, stderr: /^Removed profile default\.$/m, text: true },
    { line: () => 'logout --profile nobody --yes', code: 2, stderr: /no profile 'nobody'/ },
    { line: () => 'profiles list', prepare: login, stdout: /default/, ...array },
    { line: () => 'profiles show', prepare: login, stdout: /^name +default$/m, ...object },
    { line: () => 'profiles show nobody', code: 2, stderr: /no profile/ },
    {
      line: () => 'profiles use default',
      prepare: login,
      stderr: /^Now using profile default\.$/m,
      text: true,
    },
    // The lines before it may have used up the reading allowance of their project.
    { line: () => 'doctor', stdout: /service/, stderr: /^(?:rate: .*\n)?$/, ...array },
    {
      line: () => 'service check --config service.json',
      code: 5,
      stdout: /failed/,
      stderr: /1 of 2 checks failed/,
      ...array,
    },
    {
      line: () => 'service try gateway 99112233 hello --config gateway.json --yes',
      code: 5,
      stdout: /not_sent/,
      stderr: /POST http:[\s\S]*the message was not accepted/,
      ...object,
    },
    { line: () => 'service check --config two.csv', code: 13, stderr: /two\.csv: is not JSON/ },
    {
      line: () => 'service check --config nosuch.json',
      code: 13,
      stderr: /no such file[\s\S]*docs\/carriers\.md/,
    },
    // The simulated operator has no record of the mail that bounced.
    {
      line: () => 'service status',
      stdout: /^LANE[\s\S]*no instance$/m,
      stderr: /email that changed nothing: unjoined 1/,
      json: 'array',
    },
    { line: () => `service backup backup-${recipients++}`, stdout: /^backup .*backup-/m, ...object },
    { line: () => 'service verify', stderr: /^Everything adds up\.$/m, text: true },
    { line: () => 'service prune --older-than 180d --yes', stdout: /^messages +0$/m, ...object },
    { line: () => 'service prune --older-than 1h', code: 2, stderr: /2 days ago/ },
    { line: () => 'service backup .', code: 13, stderr: /is there already/ },
    { line: () => 'service restore nowhere', code: 12, stderr: /no backup in/ },
    { line: () => 'service move', code: 2, stderr: /missing: --database/ },
    { line: () => 'service move --database postgres://db/a', code: 2, stderr: /missing: --secret-file/ },
    {
      line: () => 'service move --data nowhere --database postgres://db/a --secret-file s --yes',
      code: 12,
      stderr: /no service data in/,
    },
    { line: () => 'service release --finish-as sent --yes', code: 11, stderr: /is not held/ },
    { line: () => 'service release --finish-as gone', code: 2, stderr: /not one of sent, failed, queue/ },
    { line: () => 'service projects list', stdout: /^ID/, ...array },
    { line: () => `service projects create P${recipients++}`, stdout: /^balance +100,000$/m, ...object },
    { line: () => 'service projects create Default', code: 8, stderr: /named Default already exists/ },
    { line: () => 'service projects rename Default Default', stdout: /^name +Default$/m, ...object },
    { line: () => 'service projects rename nobody Shop', code: 12, stderr: /no project nobody/ },
    { line: () => 'service lanes list', stdout: /^LANE/, ...array },
    { line: () => 'service lanes pause email', stdout: /^status +paused$/m, ...object },
    { line: () => 'service lanes resume email', stdout: /^status +open$/m, ...object },
    { line: () => 'service lanes pause nothing', code: 12, stderr: /no lane nothing/ },
    { line: () => `service batches stop ${known.batch} --yes`, stdout: /^stopped +0$/m, ...object },
    { line: () => 'service batches stop nothing --yes', code: 12, stderr: /no batch nothing/ },
    { line: () => 'service credit 1 --note hi', stdout: /^balance/, ...object },
    { line: () => 'service credit -1 --yes', stdout: /^balance/, ...object },
    { line: () => 'service ledger', stdout: /^CREATED AT/, ...array },
    { line: () => 'service ledger --since soon', code: 2, stderr: /not a time/ },
    { line: () => 'service credit much', code: 2, stderr: /not a whole number/ },
    { line: () => 'events listen --name a', code: 2, stderr: /--name needs/ },
    { line: () => 'events skip 5f3c0a9e1b2d-17', code: 12, stderr: /waits at no event/ },
    { line: () => 'open', code: 2, stderr: /has no dashboard/ },
    { line: () => 'dashboard', code: 5, stderr: /no dashboard yet/, text: true },
    { line: () => 'inbox list', prepare: receive, stdout: /^RECEIVED/, ...array },
    { line: () => 'inbox list --channel fax', code: 2, stderr: /not one of sms, email/ },
    { line: () => 'service inbox', prepare: receive, stdout: /^RECEIVED/, ...array },
    { line: () => 'service inbox --project nobody', code: 12, stderr: /no project nobody/ },
    { line: () => 'service incoming --to no-reply@shop.mn', prepare: ownDomain, stdin: 'From: a@b.mn\n\nHi' },
    {
      line: () => 'service incoming --to a@nowhere.mn',
      code: 67,
      stdin: 'From: a@b.mn\n\nHi',
      stderr: /no recipient/,
    },
    { line: () => 'service incoming', code: 65, stderr: /not an email message/ },
    { line: () => 'service incoming --data nowhere', code: 75, stdin: 'a', stderr: /no service data in/ },
    { line: () => 'service suppressions add 88112200', stdout: /^added +\d$/m, ...object },
    { line: () => 'service suppressions add abc', code: 8, stderr: /nothing was added/ },
    { line: () => 'service suppressions list', stdout: /^TO/, ...array },
    { line: () => 'service suppressions remove a@b.mn', code: 12, stderr: /not suppressed/ },
    { line: () => 'service dns', prepare: ownDomain, stdout: /^PURPOSE/, ...array },
    { line: () => "service settings set own_domain ''", stdout: /^NAME/, ...object },
    { line: () => 'service settings get', stdout: /^NAME/, ...object },
    { line: () => 'service settings get --data nowhere', code: 12, stderr: /no service data in/ },
    { line: () => 'service settings set prices.email 2', stdout: /^prices\.email +2$/m, ...object },
    {
      line: () => 'service keys create',
      stdout: /urtuu_\w{40}/,
      stderr: /not shown again/,
      ...object,
      prepare: revokeKeys,
    },
    ...['all', '', 'read,', 'read,read', 'send,inbox,all'].map((scope) => ({
      line: () => `service keys create --scope '${scope}'`,
      code: 2 as const,
      stderr: /not a scope/,
    })),
    { line: () => 'service keys create --expires 2020-01-01', code: 8, stderr: /in the future/ },
    { line: () => 'service keys list', prepare: newKey, stdout: /^PREFIX/, ...array },
    { line: () => 'service keys list --project nobody', code: 12, stderr: /no project nobody/ },
    { line: () => 'service keys revoke nothing --yes', code: 12, stderr: /no active key/ },
    { line: () => 'sandbox outbox --limit 2', stdout: /99/, ...array },
    { line: () => 'sandbox credit 1', stdout: /^balance/, ...object },
    { line: () => 'sandbox settings get', stdout: /^NAME/, ...object },
    { line: () => 'sandbox settings get colour', code: 2, stderr: /not one of brand_name/ },
    { line: () => 'sandbox settings set prices.email 2', stdout: /^prices\.email +2$/m, ...object },
    { line: () => 'sandbox settings set prices.email x', code: 8, stderr: /from 0 to 1000000/ },
    { line: () => 'sandbox credit', code: 2, stderr: /either credits or --set/ },
    { line: () => 'keys list', prepare: newKey, stdout: /^PREFIX/, ...array },
    { line: () => 'keys revoke nothing --yes', code: 12, stderr: /no active key/ },
    {
      line: () => `keys revoke ${spareKey} --yes`,
      prepare: async () => {
        spareKey = await newKey();
      },
      stderr: /^Revoked key/m,
      text: true,
    },
    {
      line: () => 'keys create',
      prepare: revokeKeys,
      stdout: /urtuu_\w{40}/,
      stderr: /not shown again/,
      ...object,
    },
    { line: () => 'keys example', stdout: /^urtuu_\w{40}\n$/, text: true },
    { line: () => 'completion zsh', stdout: /#compdef urtuu/, text: true },
    { line: () => 'completion tcsh', code: 2, stderr: /not one of bash/ },
    { line: () => 'commands balance', stdout: /^NAME +EFFECTS +SUMMARY$/m, ...array },
    { line: () => 'commands sms sned', code: 2, stderr: /Did you mean urtuu sms send/ },
    { line: () => 'commands nothing', code: 2, stderr: /no command 'nothing'[\s\S]*urtuu commands/ },
    { line: () => 'help jobs', stdout: /^Jobs$/m, text: true },
    { line: () => 'help nothing', code: 2, stderr: /no command or help topic/ },
    { line: () => 'sendmail -t', stdin: 'To: cron@example.mn\nSubject: s\n\ntext\n', text: true },
    { line: () => 'sendmail -t', code: 64, stderr: /no recipient/ },
  ];
}
