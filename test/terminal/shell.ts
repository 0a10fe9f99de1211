import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, outcomeOf } from '../support/binary.js';
import { Complaints, Stage, type Wrapper } from './stage.js';

interface ShellLine {
  /** For bash; `urtuu` is the command, `$ONE` a number nobody has, `$LIST` a list of three, `$ID` a message. */
  line: string;
  /** The exit code that has to come out of it. */
  code: number;
  /** How often each of `$ONE` and `$LIST` has to be sent to; never when absent. */
  one?: number;
  list?: number;
  stdout?: RegExp;
  stderr?: RegExp;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is for bash
const first = '; exit ${PIPESTATUS[0]}';
/** What cron gives a job. */
const cron = 'env -i HOME="$HOME" LOGNAME=cron SHELL=/bin/sh PATH=/usr/bin:/bin';
const cronWithKey = `${cron} URTUU_API_KEY="$URTUU_API_KEY" URTUU_BASE_URL="$URTUU_BASE_URL"`;
const bulk = 'sms bulk $LIST --text "Hi {n}"';
const silent = /^$/;
/** One line, and no stack. */
const full = /^urtuu: standard output could not be written: ENOSPC\n(?!.*(?:at .*\.cjs|node:internal))/s;
const fullInJson =
  /^\{"error":\{"code":"machine","message":"standard output could not be written: ENOSPC",.*\}\n$/;

const allLines: readonly ShellLine[] = [
  // A reader that leaves.
  { line: `urtuu messages get $ID $ID $ID $ID -o ndjson | head -1${first}`, code: 0, stdout: /^\{.*\}\n$/ },
  { line: `urtuu --help | head -1${first}`, code: 0 },
  { line: `urtuu pricing | true${first}`, code: 0 },
  { line: `urtuu help jobs | true${first}`, code: 0, stderr: silent },
  { line: `urtuu messages get $ID $ID $ID $ID -o csv | head -1 >/dev/null${first}`, code: 0, stderr: silent },
  { line: `urtuu messages get $ID $ID $ID $ID | head -1 >/dev/null${first}`, code: 0, stderr: silent },
  { line: `urtuu sms send $ONE hi | true${first}`, code: 0, one: 1 },
  { line: `urtuu ${bulk} --yes --wait | head -1${first}`, code: 0, list: 1 },
  { line: `urtuu messages get $ID missing 2>&1 | head -1${first}`, code: 3 },
  // Outputs that are closed or full.
  { line: 'urtuu balance >&-', code: 0 },
  { line: 'urtuu --version >&-', code: 0 },
  { line: 'urtuu --help >&-', code: 0 },
  { line: 'urtuu sms send $ONE hi >&-', code: 0, one: 1 },
  { line: 'urtuu sms send $ONE hi 2>&-', code: 0, one: 1 },
  { line: 'urtuu sms send $ONE hi -v 2>&-', code: 0, one: 1 },
  { line: 'urtuu balance --min 100000000 2>&-', code: 7 },
  { line: 'urtuu sms send $ONE hi <&- >&- 2>&-', code: 0, one: 1 },
  { line: 'urtuu balance --no-such <&- >&- 2>&-', code: 2 },
  ...[
    'balance',
    '--version',
    '--help',
    'help jobs',
    'sms send --help',
    'completion bash',
    'messages get $ID',
  ].map((words) => ({ line: `urtuu ${words} >/dev/full`, code: 13, stderr: full })),
  { line: 'urtuu balance --json >/dev/full', code: 13, stderr: fullInJson },
  { line: 'urtuu sms send $ONE hi >/dev/full', code: 13, one: 1, stderr: full },
  // The first error goes before the disk.
  { line: 'urtuu balance --min 100000000 >/dev/full', code: 7 },
  { line: `urtuu ${bulk} --yes >/dev/full`, code: 13, list: 1 },
  { line: 'urtuu sms send $ONE hi 2>/dev/full', code: 0, one: 1 },
  { line: 'urtuu sms send $ONE hi -v 2>/dev/full', code: 0, one: 1 },
  { line: 'urtuu balance --min 100000000 2>/dev/full', code: 7 },
  { line: 'urtuu balance --no-such 2>/dev/full', code: 2 },
  { line: 'urtuu sms send $ONE hi >/dev/full 2>/dev/full', code: 13, one: 1 },
  // Nobody to ask.
  { line: 'urtuu sms send $ONE </dev/null', code: 2 },
  { line: 'urtuu sms send $ONE - <&-', code: 8 },
  { line: `urtuu ${bulk}`, code: 2, stderr: /--yes/ },
  { line: 'urtuu verify check x </dev/null', code: 2 },
  { line: `yes | urtuu ${bulk}; exit \${PIPESTATUS[1]}`, code: 2 },
  // Cron.
  { line: `${cron} $URTUU balance`, code: 4 },
  { line: `${cronWithKey} $URTUU balance`, code: 0 },
  { line: `${cronWithKey} $URTUU sms send $ONE hi`, code: 0, one: 1 },
  { line: `${cronWithKey} $URTUU ${bulk}`, code: 2 },
  { line: `${cronWithKey} $URTUU ${bulk} --yes --quiet`, code: 0, list: 1, stderr: /^$/ },
  // No locale.
  { line: "LC_ALL=C LANG=C urtuu sms send $ONE --text-file 'Сайн'", code: 13, stderr: /Сайн/ },
  { line: 'LC_ALL=tr_TR.UTF-8 urtuu sms send $ONE hi --json', code: 0, one: 1 },
];
/** macOS has no full device. */
const hasFull = existsSync('/dev/full');
const lines = allLines.filter(({ line }) => hasFull || !line.includes('/dev/full'));

/** Command lines as scripts, pipes and cron run them, each with its row of the exit table. */
export async function playShell(wrapper: Wrapper, count = lines.length): Promise<Complaints> {
  const complaints = new Complaints();
  const stage = await Stage.set(wrapper);
  try {
    const { stdout } = await shell(stage, `urtuu sms send ${stage.people(1)[0]} hi --json`, {});
    const { id } = JSON.parse(stdout) as { id: string };
    const left = lines.slice(0, count);
    const play = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await playLine(stage, next, id, complaints);
    };
    await Promise.all([play(), play(), play()]);
    return complaints;
  } finally {
    await stage.close();
  }
}

async function playLine(stage: Stage, row: ShellLine, id: string, complaints: Complaints): Promise<void> {
  const { line, code, one = 0, list = 0, stdout = /^/, stderr = /^/ } = row;
  const [single = '', ...three] = stage.people(4);
  // Lines that are played at once would wait for each other's tokens of the rate limit, and say so.
  const state = join(stage.machine.home, `state-${single}`);
  const variables = { ONE: single, LIST: stage.list(single, three), ID: id, XDG_STATE_HOME: state };
  const outcome = await shell(stage, line, variables);
  const [sentOne = 0, ...sentThree] = await stage.messagesTo([single, ...three]);
  const said = `${outcome.stdout}${outcome.stderr}`;
  complaints.expect(outcome.code === code, `${line}: ${outcome.code ?? outcome.signal} for ${code}: ${said}`);
  complaints.expect(stdout.test(outcome.stdout), `${line}: printed ${outcome.stdout}`);
  complaints.expect(stderr.test(outcome.stderr), `${line}: said ${outcome.stderr}`);
  complaints.expect(sentOne === one, `${line}: ${sentOne} messages for ${one}`);
  complaints.expect(
    sentThree.every((count) => count === list),
    `${line}: ${sentThree} messages for ${list} each`,
  );
}

function shell(stage: Stage, line: string, variables: NodeJS.ProcessEnv): Promise<Outcome> {
  const env = { ...stage.environment, ...variables, URTUU: stage.command };
  return outcomeOf(
    spawn('bash', ['-c', `urtuu() { "$URTUU" "$@"; }; ${line}`], {
      env,
      cwd: stage.machine.home,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}
