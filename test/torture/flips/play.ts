import { createHash } from 'node:crypto';
import { cpSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Desk } from '../../support/desk.js';
import { FakeProject, type ProjectOptions } from '../../support/fake-project.js';
import { seededRandom } from '../../support/random.js';
import type { Request } from '../../support/run.js';
import type { Played } from '../row.js';

/** What one resume of the job came to. */
interface End {
  code: number | string;
  figures: string;
  sends: number;
  received: string;
}

const rows = [
  // Two texts that several share, one of them with a number that is refused; four that stand alone.
  ...['99000001', '99000002', '99000003', '70000001'].map((to) => `${to},shared`),
  ...['99000011', '99000012', '99000013'].map((to) => `${to},other`),
  ...['99000021', '99000022', '99000023', '99000024'].map((to, at) => `${to},alone ${at}`),
  'nobody,bad row',
];
const options: ProjectOptions = {
  unsupported: new Set(['70000001']),
  failing: new Set(['99000021']),
  credits: 75,
};

/** A job cut short: some accepted, rejected, failed, one in doubt, the rest not sent; and what it posted. */
async function cutShort(): Promise<{ desk: Desk; folder: string; posts: Request[] }> {
  const desk = new Desk(options);
  desk.write('list.csv', ['phone,text', ...rows]);
  const { fetch } = desk.project.service;
  const line =
    "sms bulk list.csv --text 'Hello {text}' --job j --yes --skip-invalid --allow-partial --concurrency 1 --max-wait 0";
  // The answer of the second single send that is accepted is lost.
  const first = await desk.run(line, {
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      if (String(init.body).includes('99000022')) throw new TypeError('reset');
      return answer;
    },
  });
  if (first.code !== 6) throw new Error(`it was not cut short: ${first.code} ${first.stderr}`);
  return { desk, folder: dirname(desk.jobFile('j', 'journal')), posts: [...desk.project.sends] };
}

/** The project as it was when the job was cut short, with enough credits for the rest. */
async function projectAfter(posts: readonly Request[]): Promise<FakeProject> {
  const project = new FakeProject(options);
  for (const { init } of posts) await project.service.fetch(urlOf(posts, init), init).catch(() => {});
  project.balance = 1_000_000;
  return project;
}

function urlOf(posts: readonly Request[], init: Request['init']): string {
  const path = posts.find((each) => each.init === init)?.path ?? '';
  return `http://127.0.0.1:7788/v1${path}`;
}

/** Which files, and what is done to a flipped one before it is read. */
export interface Flips {
  files?: (name: string) => boolean;
  /** Makes the checksums of the damaged file anew, as if there were none. */
  resealed?: boolean;
}

/** Flips a bit of every `stride`th byte of every file of a job, and resumes the job each time. */
export async function playFlips(
  seed: number,
  stride: number,
  { files, resealed }: Flips = {},
): Promise<Played> {
  const random = seededRandom(seed);
  const { desk, folder, posts } = await cutShort();
  const kept = join(desk.home, 'kept');
  cpSync(folder, kept, { recursive: true });
  const resume = async (): Promise<End> => {
    const project = await projectAfter(posts);
    const before = project.sends.length;
    const { code, stdout } = await desk.run('jobs resume j --json', { fetch: project.service.fetch });
    const received = JSON.stringify([...project.received()].sort());
    return { code, figures: stdout, sends: project.sends.length - before, received };
  };
  try {
    const whole = await resume();
    let flips = 0;
    let refused = 0;
    const wrong: string[] = [];
    for (const name of readdirSync(kept).sort()) {
      if (!lstatSync(join(kept, name)).isFile() || files?.(name) === false) continue;
      const bytes = readFileSync(join(kept, name));
      for (let at = Math.floor(random() * stride); at < bytes.length; at += stride) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
        rmSync(folder, { recursive: true });
        cpSync(kept, folder, { recursive: true });
        writeFileSync(join(folder, name), resealed ? reseal(flipped) : flipped);
        const end = await resume();
        flips += 1;
        if (end.code === 13 && end.sends === 0) refused += 1;
        else if (JSON.stringify(end) !== JSON.stringify(whole))
          wrong.push(`${name} byte ${at}, exit ${end.code}`);
      }
    }
    return {
      measured: `${flips} bits flipped, one at a time`,
      found: `${refused} refused, ${flips - refused - wrong.length} without effect, ${wrong.length} wrong${wrong.length > 0 ? `: ${wrong[0]}` : ''}`,
      wrong: wrong.length,
    };
  } finally {
    desk.remove();
  }
}

/** The lines of a journal with checksums that are right for what they say. */
function reseal(bytes: Buffer): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const sealed = lines.map((line) => {
    const text = line.slice(17);
    return line === ''
      ? ''
      : `${createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 16)} ${text}`;
  });
  return Buffer.from(sealed.join('\n'), 'latin1');
}
