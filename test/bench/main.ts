import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/binary.js';
import { bulk } from './bulk.js';
import { client } from './client.js';
import { dashboard } from './dashboard.js';
import { gateway } from './gateway.js';
import { journal } from './journal.js';
import { move } from './move.js';
import { type Row, tableOf } from './pairs.js';
import { peers } from './peers.js';
import { postgres } from './postgres.js';
import { profile } from './profile.js';
import { reading } from './reading.js';
import { rows } from './rows.js';
import { scale } from './scale.js';
import { beside } from './service-beside.js';
import { core } from './service-core.js';
import { http } from './service-http.js';
import { size } from './size.js';
import { slowLanes } from './slow-lanes.js';
import { smpp } from './smpp.js';
import { smtp } from './smtp.js';
import { start } from './start.js';
import { stored } from './stored.js';
import { turns } from './turns.js';

const groups: Record<string, () => Promise<Row[]>> = {
  start,
  client,
  rows,
  bulk,
  reading,
  journal,
  http,
  beside,
  profile,
  core,
  stored,
  postgres,
  move,
  scale,
  dashboard,
  smpp,
  gateway,
  smtp,
  'slow-lanes': slowLanes,
  turns,
  size,
  peers,
};

/** Measured only if named: it needs packages that are installed by hand. */
const named = new Set(['peers']);

const results = join(root, 'test/bench/RESULTS.md');

const preface = `# Results of \`npm run bench\`

Ratios are medians of interleaved pairs; cpu is user and system. Other machines differ in the figures beside
the ratios, and less in the ratios. What was missed is explained in [NOTES.md](NOTES.md).
`;

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${cpus().length} cores, ${memory} GiB, ${platform()} ${arch()}, Node.js ${process.version}`;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

/** The stored sections by their group, so that the groups of a long run can be measured one by one. */
function storedSections(): Map<string, string> {
  const [, ...sections] = readFileSync(results, 'utf8').split(/^## /m);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section]));
}

function store(group: string, section: string): void {
  const sections = storedSections().set(group, section);
  const inOrder = Object.keys(groups).flatMap((name) => sections.get(name)?.trimEnd() ?? []);
  writeFileSync(results, `${[preface.trimEnd(), ...inOrder].join('\n\n## ')}\n`);
}

async function main(wanted: readonly string[]): Promise<void> {
  // Certificates from a file are read at every start, and would make the command look better than it is.
  delete process.env.NODE_EXTRA_CA_CERTS;
  const unknown = wanted.filter((name) => !(name in groups));
  if (unknown.length > 0) throw new Error(`no such group: ${unknown}; there are ${Object.keys(groups)}`);
  const changes = git('status', '--porcelain', 'src') === '' ? '' : ' with changes';
  const commit = `${git('rev-parse', '--short', 'HEAD')}${changes}`;
  for (const [name, measure] of Object.entries(groups)) {
    if (wanted.length > 0 ? !wanted.includes(name) : named.has(name)) continue;
    const day = new Date().toISOString().slice(0, 10);
    const load = loadavg()[0]?.toFixed(1);
    const table = tableOf(await measure());
    process.stdout.write(`${name}\n${table}\n`);
    store(name, `${name}\n\n${day}, ${commit}, ${machine()}; load average before it ${load}.\n\n${table}`);
  }
}

void main(process.argv.slice(2));
