import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../support/binary.js';
import type { Played } from './row.js';

/** Sends batches and closes, a few times: it fills -wals that are brought in while it runs and at the end. */
const program = `
import { createService } from './src/service/index.ts';
const directory = process.argv[2];
async function send(path, count, from) {
  const service = await createService({ directory });
  await service.administration.credit(1_000_000);
  for (let request = 0; request < count; request += 1) {
    const first = from + request * 500;
    const to = path === 'sms' ? String(first) : Array.from({ length: 500 }, (_, index) => String(first + index));
    const { status } = await service.exchange({
      method: 'POST',
      url: 'http://service/v1/' + path,
      headers: { authorization: 'Bearer ' + service.localKey, 'content-type': 'application/json' },
      body: JSON.stringify({ to, text: 'hi' }),
    });
    if (status >= 300) throw new Error('HTTP ' + status);
  }
  await service.administration.idle();
  await service.close();
}
(async () => {
  await send('sms/bulk', 8, 99_100_000);
  for (let run = 0; run < 3; run += 1) await send('sms', 12, 99_200_000 + run * 10_000);
  await send('sms/bulk', 1, 99_300_000);
})();
`;

/** The control: a simulated operator that never asks for a sync. */
export const carelessCarrier = 'a carrier that leaves syncs to the system';
type Carelessness = 'none' | typeof carelessCarrier;

async function builtProgram(careless: Carelessness): Promise<string> {
  const folder = join(root, 'node_modules/.cache/urtuu/torture');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `synced-files-${careless === 'none' ? 'real' : 'careless'}.cjs`);
  await build({
    stdin: { contents: program, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['@photostructure/sqlite'],
    logLevel: 'error',
    plugins: [
      {
        name: 'careless',
        setup({ onLoad }) {
          if (careless === 'none') return;
          onLoad({ filter: /simulated\/sqlite-outbox\.ts$/ }, ({ path }) => {
            const code = readFileSync(path, 'utf8');
            const contents = code.replace("synchronous: 'normal'", "synchronous: 'off'");
            if (contents === code) throw new Error('the carrier opens its file in another way now');
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  return outfile;
}

/**
 * A -wal may go, or be begun anew, only when what was copied from it is on the disk: a power loss would take both. The
 * rates are left out: they are never synced, and are made anew where they are damaged.
 */
export function lostWals(log: string): { gone: number; wrong: string[] } {
  const unsynced = new Set<string>();
  const wrong: string[] = [];
  let gone = 0;
  for (const line of log.split('\n')) {
    const [, call = '', file = '', rest = ''] =
      /(\w+)\((?:\d+<)?"?([^">]*\.db(?:-wal)?)[">]+(.*)$/.exec(line) ?? [];
    if (file.endsWith('/rates.db') || file.endsWith('/rates.db-wal')) continue;
    if (file.endsWith('.db')) {
      if (call === 'pwrite64') unsynced.add(file);
      if (call === 'fsync' || call === 'fdatasync') unsynced.delete(file);
      continue;
    }
    const begins = call === 'pwrite64' && /, 0\)? *(?:=|<unfinished)/.test(rest);
    const goes = begins || call === 'unlink' || (call === 'ftruncate' && /^, 0\)/.test(rest));
    if (!file.endsWith('-wal') || !goes) continue;
    gone += 1;
    if (unsynced.has(file.slice(0, -'-wal'.length))) wrong.push(`${call} of ${file.replace(/.*\//, '')}`);
  }
  return { gone, wrong };
}

export async function playSyncedFiles(careless: Carelessness): Promise<Played> {
  const script = await builtProgram(careless);
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-synced-'));
  try {
    const log = join(folder, 'strace');
    const calls = 'trace=pwrite64,fsync,fdatasync,ftruncate,unlink';
    const words = [
      '-f',
      '-y',
      '-s',
      '0',
      '-o',
      log,
      '-e',
      calls,
      process.execPath,
      script,
      join(folder, 'data'),
    ];
    const { status, stderr } = spawnSync('strace', words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the service ended with ${status}: ${stderr}`);
    const { gone, wrong } = lostWals(readFileSync(log, 'utf8'));
    if (gone === 0) throw new Error('no -wal was emptied');
    return {
      measured: `5 starts, 4,536 messages, a -wal emptied or begun anew ${gone} times`,
      found: `${wrong.length} before its file was synced${wrong[0] === undefined ? '' : `: ${wrong[0]}`}`,
      wrong: wrong.length,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
