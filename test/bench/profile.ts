import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { printed, root } from '../support/binary.js';
import type { Row } from './pairs.js';
import { postRate } from './service-http.js';

const sends = 10_000;
const text = 'Сайн байна уу, таны захиалга ирлээ.';
const program = `
const [bundle, directory] = process.argv.slice(1);
const { createService } = require(bundle);
createService({ directory, rates: 'off' }).then(async (service) => {
  await service.administration.credit(2_000_000_000);
  const { secret } = await service.administration.createKey();
  const { url } = await service.listen({ port: 0 });
  console.log(JSON.stringify({ url, key: secret }));
  process.stdin.resume().on('end', () => process.exit());
});`;

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

/** In this order: what is being done, by the names of the functions that are running, innermost first. */
const kinds: [name: string, is: (names: readonly string[], files: readonly string[]) => boolean][] = [
  ['garbage collection', ([name]) => name === '(garbage collector)'],
  ['waiting for requests', ([name]) => name === '(idle)'],
  ['accepting: statements', (names) => names.includes('acceptMessage')],
  ['finalizing: statements', (names) => names.includes('finalizeMessages')],
  ['BEGIN and COMMIT', ([name, caller]) => (name === 'run' ? caller : name) === '#transact'],
  ['other writes in groups', (names) => names.includes('#transact')],
  ['reading the key and an earlier answer', (names) => names.includes('admit')],
  ['the rules of sending', (names) => names.includes('sendSms')],
  ['HTTP and sockets', (_, files) => files.some((file) => /^node:(_?http|net|_?stream)/.test(file))],
];

/** Each kind's share of the time. */
function sharesOf({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const kindOf = (id: number): string => {
    const stack: { functionName: string; url: string }[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined) stack.push(frame);
    }
    const names = stack.map(({ functionName }) => functionName);
    const files = stack.map(({ url }) => url);
    return kinds.find(([, is]) => is(names, files))?.[0] ?? 'everything else';
  };
  const total = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  const shares = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const kind = kindOf(id);
    shares.set(kind, (shares.get(kind) ?? 0) + (timeDeltas[index] ?? 0) / total);
  }
  return shares;
}

/** What the main thread of the service does while 16 connections post to it. */
export async function profile(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-profile-'));
  const outfile = join(root, 'node_modules/.cache/urtuu/bench/service.cjs');
  const bundling = { bundle: true, platform: 'node', target: 'node20', format: 'cjs' } as const;
  const external = ['@photostructure/sqlite'];
  await build({ entryPoints: [join(root, 'src/service/index.ts')], outfile, external, ...bundling });
  const flags = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', join(folder, 'profile')];
  const child = spawn(process.execPath, [...flags, '-e', program, outfile, folder]);
  const service = JSON.parse(await printed(child, 'stdout', /\n/)) as { url: string; key: string };
  const rate = await postRate(service, '/sms', sends, 16, (index) => ({ to: `${99_100_000 + index}`, text }));
  child.stdin.end();
  await once(child, 'close');
  const [file = ''] = readdirSync(join(folder, 'profile'));
  const shares = sharesOf(JSON.parse(readFileSync(join(folder, 'profile', file), 'utf8')));
  rmSync(folder, { recursive: true });
  return [...shares]
    .toSorted(([, one], [, other]) => other - one)
    .map(([kind, share]) => ({
      what: `POST /v1/sms, 16 connections: ${kind}`,
      against: `the time of the service, ${Math.round(rate)}/s under the profiler`,
      goal: 'none set',
      measured: `${(share * 100).toFixed(1)} %`,
      met: true,
    }));
}
