// Side by side with what somebody would pick instead. Those packages are no dependencies of this one.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from './pairs.js';
import { serviceRows } from './peers/services.js';
import { rowOf } from './peers/side-by-side.js';
import { startRows } from './peers/starts.js';
import { mailPairs } from './smtp.js';

const packages = [
  'resend-cli@2.21.0',
  'twilio-cli@6.2.4',
  'express@5',
  'better-sqlite3@12',
  'fastify@5',
  'pg@8',
];

/** Where they are installed, below a temporary folder. */
function installed(): string {
  const folder = process.env.URTUU_BENCH_PEERS ?? join(tmpdir(), 'urtuu-bench-peers');
  const modules = join(folder, 'node_modules');
  if (packages.every((name) => existsSync(join(modules, name.replace(/@\d.*/, ''))))) return modules;
  const command = `mkdir -p ${folder} && npm install --no-save --prefix ${folder} ${packages.join(' ')}`;
  throw new Error(`install the peers first: ${command}`);
}

export async function peers(): Promise<Row[]> {
  const modules = installed();
  const mails = await mailPairs();
  return [
    ...(await startRows(modules, 7)),
    ...(await serviceRows(modules, 5)),
    rowOf('SMTP: mails over 10 connections to npm smtp-server', "nodemailer's pool", mails),
  ];
}
