import { createRequire } from 'node:module';
import fc from 'fast-check';
import type { run as runMain } from '../../../src/cli/main.js';
import { pricing } from '../../support/resources.js';
import { fakeService, type Request, type Result, run, type Setting } from '../../support/run.js';
import { buildWithoutSanitiser } from './changed-build.js';
import { actingCharacters, type HostileRecord, hostileRecord, hostileText } from './hostile.js';

export interface TextResult {
  outputs: number;
  /** Characters that act on a terminal and reached it. */
  acting: number;
}

/** Gives what was printed, and how. */
type Show = (settings: Setting) => Promise<{ result: Result; format: string }>;

const reads = [
  "sms send 99112233 'hi'",
  'email send a@b.mn --subject s --text t',
  "sms send 99112233 'hi' -v --wait",
  'verify create 99112233',
  'verify get x',
  'verify check x 123456',
  'messages get x',
  'messages get x y --wait',
  'batches get x',
  'batches get x y',
  'balance',
  'pricing',
  'doctor',
];

/** The fields without which a success proves nothing, and is not printed. */
function proofOf({ path, body }: Request, { id, to, total }: HostileRecord): object {
  const checked = /^\/verify\/(.*)\/check$/.exec(path)?.[1];
  return {
    id: checked ?? `x${id}`,
    status: checked === undefined ? 'sent' : 'verified',
    channel: path.startsWith('/email') ? 'email' : 'sms',
    to: body?.to ?? `x${to}`,
    credits: 1,
    total: Math.abs(total),
  };
}

/** A command whose answers are hostile, and prove something or nothing. */
const answered = fc
  .tuple(
    fc.constantFrom(...reads),
    hostileRecord,
    fc.boolean(),
    fc.constantFrom('table', 'json', 'ndjson', 'csv', 'tsv'),
  )
  .map(
    ([line, record, isProof, format]): Show =>
      async (setting) => {
        const service = fakeService((request) => ({
          body: isProof ? { ...pricing, ...record, ...proofOf(request, record) } : record,
        }));
        const command = `${line} --max-retries 0 -o ${format}`;
        return { result: await run(command, { ...setting, ...service }), format };
      },
  );

/** One that is refused in hostile words. */
const refused = fc
  .tuple(fc.constantFrom(...reads), hostileText, hostileText, fc.constantFrom(400, 401, 402, 409, 422, 502))
  .map(
    ([line, code, message, status]): Show =>
      async (setting) => {
        const body = { error: { code, message, invalid: [message], id: message } };
        const service = fakeService(() => ({ status, body, headers: { 'x-request-id': message } }));
        return {
          result: await run(`${line} -v --max-retries 0`, { ...setting, ...service }),
          format: 'table',
        };
      },
  );

/** Hostile words on the command line. */
const asked = fc
  .tuple(
    hostileText,
    fc.constantFrom('--text-file', '--job', '--profile', '--x', '-o', '--columns', '--base-url'),
  )
  .map(
    ([word, option]): Show =>
      async (setting) => {
        const argv = ['sms', 'send', '99112233', 'hi', `${option}=x${word}`, word];
        return { result: await run('', { ...setting, ...fakeService(() => ({})), argv }), format: 'table' };
      },
  );

/** A list of recipients with hostile columns and cells, planned and not sent. */
const listed = fc.tuple(hostileText, fc.array(hostileText, { minLength: 1, maxLength: 5 }), fc.boolean()).map(
  ([column, cells, skip]): Show =>
    async (setting) => {
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const rows = cells.flatMap((text, at) => [`9911000${at},${cell(text)}`, `${cell(text)},x`]);
      const stdin = `phone,${cell(column)}\n${rows.join('\n')}\n`;
      const argv = [
        'sms',
        'bulk',
        '-',
        '--text',
        `Hi {${column}}`,
        '--dry-run',
        ...(skip ? ['--skip-invalid'] : []),
      ];
      const service = fakeService(() => ({ body: { balance: 100 } }));
      return { result: await run('', { ...setting, ...service, argv, stdin }), format: 'table' };
    },
);

/** Prints hostile texts from everywhere, and counts what reaches the terminal unchanged. */
export async function playText(options: {
  seed: number;
  outputs: number;
  sanitiser: 'shipped' | 'none';
}): Promise<TextResult> {
  const main = options.sanitiser === 'none' ? { main: await mainWithoutSanitiser() } : {};
  const shows = fc.sample(
    fc.oneof({ weight: 4, arbitrary: answered }, { weight: 2, arbitrary: refused }, asked, listed),
    { seed: options.seed, numRuns: options.outputs },
  );
  const found = { outputs: 0, acting: 0 };
  for (const show of shows) {
    const env = { URTUU_API_KEY: 'k', NO_COLOR: '1' };
    const { result, format } = await show({ terminal: 100, env, ...main });
    found.outputs += 1;
    found.acting += actingCharacters(result.stdout, format) + actingCharacters(result.stderr);
  }
  return found;
}

async function mainWithoutSanitiser(): Promise<typeof runMain> {
  const file = await buildWithoutSanitiser();
  return (createRequire(file)(file) as { run: typeof runMain }).run;
}
