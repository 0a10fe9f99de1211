import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workbook } from '../cli/bulk/input/workbook/write-workbook.js';
import { Machine } from '../support/binary.js';
import { shipped, Terminal } from './pseudoterminal.js';
import { Complaints } from './stage.js';

interface Prompt {
  /** `$WAY` makes a job of its own for each way; `$KEY` is a key of the service. */
  words: string[];
  /** Questions and what is typed at each; the last one is left with a key. */
  before?: [question: RegExp, keys: string][];
  question: RegExp;
  /** Where standard input is closed nobody is asked; the exit is 2 unless something else is wrong then. */
  closed?: number;
}

const number: [RegExp, string] = [/Recipient number:/, '99112233\r'];
const address: [RegExp, string] = [/Recipient address:/, 'bat@example.mn\r'];

/** A question that nobody can leave is one that is not as it has to be. */
const longest = 30_000;

/** Every question that the command line asks. */
const prompts: readonly Prompt[] = [
  { words: ['sms', 'send'], question: /Recipient number:/ },
  { words: ['sms', 'send'], before: [number], question: /Text:/ },
  { words: ['email', 'send'], question: /Recipient address:/ },
  { words: ['email', 'send'], before: [address], question: /Subject:/ },
  { words: ['email', 'send'], before: [address, [/Subject:/, 's\r']], question: /Text:/ },
  { words: ['verify', 'create'], question: /Recipient/ },
  { words: ['verify', 'check'], question: /Id of the verification:/ },
  { words: ['verify', 'check', 'x'], question: /Code:/ },
  { words: ['verify', 'get'], question: /Id of the verification:/ },
  { words: ['login'], question: /API key for \S+:/ },
  { words: ['logout'], question: /Remove profile/ },
  { words: ['sandbox', 'reset'], question: /Delete all messages/ },
  { words: ['keys', 'revoke', '$KEY'], question: /Revoke key urtuu_/ },
  { words: ['sms', 'bulk', 'list.csv'], question: /Text \(\{/ },
  { words: ['sms', 'bulk', 'list.csv', '--text', 'hi $WAY'], question: /Send to 2 recipients/ },
  { words: ['sms', 'bulk', 'old.csv', '--text', 'hi'], question: /Which encoding/, closed: 8 },
  { words: ['sms', 'bulk', 'book.xlsx', '--text', 'hi'], question: /Which sheet/, closed: 8 },
  { words: ['email', 'bulk', 'mails.csv'], question: /Subject \(\{/ },
];

const ways = ['Ctrl-C', 'Ctrl-D', 'closed input'] as const;
type Way = (typeof ways)[number];
const keyOf = { 'Ctrl-C': '\u0003', 'Ctrl-D': '\u0004' };

/**
 * Leaves every question: by the signal, or with exit 2, and with nothing done. Each in so many of the ways, which are
 * others for another seed.
 */
export async function playPrompts({
  program = shipped,
  only = ways,
  count = prompts.length,
  waysOfEach = only.length,
  seed = 0,
}: {
  program?: readonly string[];
  only?: readonly Way[];
  count?: number;
  waysOfEach?: number;
  seed?: number;
}): Promise<Complaints> {
  const complaints = new Complaints();
  const machine = new Machine();
  try {
    const key = await prepare(machine);
    const left = prompts.slice(0, count).flatMap((prompt, index) =>
      Array.from({ length: waysOfEach }, (_, turn) => ({
        prompt,
        way: only[(seed + index + turn) % only.length] as Way,
      })),
    );
    const play = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await leave(machine, program, { ...next, key }, complaints);
    };
    await Promise.all([play(), play(), play()]);
    const json = async (...words: string[]) => JSON.parse((await machine.run([...words, '--json'])).stdout);
    const outbox = await json('sandbox', 'outbox');
    const jobs = await json('jobs', 'list');
    const profiles = await json('profiles', 'list');
    complaints.expect(outbox.length === 1, `${outbox.length} messages where there was 1`);
    complaints.expect(jobs.length === 0, `jobs were left behind: ${JSON.stringify(jobs)}`);
    complaints.expect(profiles.length === 1, `${profiles.length} profiles where there was 1`);
    return complaints;
  } finally {
    machine.remove();
  }
}

/** Gives the beginning of a key. */
async function prepare(machine: Machine): Promise<string> {
  const write = (name: string, text: string | Buffer) => writeFileSync(join(machine.home, name), text);
  write('list.csv', 'phone\n99112233\n88001122\n');
  write('mails.csv', 'email\nbat@example.mn\n');
  write('old.csv', Buffer.from('phone,name\n99112233,\xc1\xe0\xf2\n', 'latin1'));
  const sheet = { rows: [['phone'], [99_112_233]] };
  write('book.xlsx', workbook({ sheets: [sheet, sheet] }));
  const login = 'login --api-key-file - --base-url http://127.0.0.1:1/v1 --max-retries 0';
  await machine.run(login.split(' '), { input: 'a-key-of-nobody' });
  await machine.run(['sms', 'send', '88112233', 'hi', '--sandbox']);
  const created = await machine.run(['keys', 'create', '--json', '--sandbox']);
  return (JSON.parse(created.stdout) as { secret: string }).secret.slice(0, 12);
}

async function leave(
  machine: Machine,
  program: readonly string[],
  { prompt, way, key }: { prompt: Prompt; way: Way; key: string },
  complaints: Complaints,
): Promise<void> {
  const { words, before = [], question, closed = 2 } = prompt;
  const isClosed = way === 'closed input';
  const said = words.map((word) => word.replace('$WAY', way).replace('$KEY', key));
  const terminal = new Terminal(machine, said, {
    env: { URTUU_SANDBOX: '1' },
    program: isClosed ? ['bash', '-c', '"$@" <&-', 'bash', ...program] : program,
  });
  const hangs = setTimeout(() => terminal.close(), longest);
  const name = `${words.join(' ')}: ${way} at ${question.source}`;
  try {
    if (!isClosed) {
      for (const [earlier, keys] of before) {
        await terminal.shows(earlier);
        terminal.type(keys);
      }
      await terminal.shows(question);
      terminal.type(keyOf[way]);
    }
    const { code, signal, screen } = await terminal.ended;
    const right =
      way === 'Ctrl-C' ? signal === 'SIGINT' : code === (isClosed ? closed : 2) && signal === null;
    complaints.expect(right, `${name} ended with ${signal ?? code}: ${screen}`);
  } catch (error) {
    complaints.expect(false, `${name}: ${(error as Error).message}`);
  } finally {
    clearTimeout(hangs);
    terminal.close();
  }
}
