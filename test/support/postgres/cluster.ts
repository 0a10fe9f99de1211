import { type SpawnOptions, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Binaries, findBinaries } from './binaries.js';
import { once, sharedFolder } from './once.js';

/** A PostgreSQL of its own, for tests that stop it. */
export interface Cluster {
  /** Without a database: `postgres://postgres@127.0.0.1:5432`. */
  url: string;
  start(): Promise<void>;
  /** `immediate` is a crash. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** Starts the stopped one as a standby and promotes it, as a failover does: its timeline changes. */
  promote(): Promise<void>;
}

/** PostgreSQL refuses to run as root: then as nobody. */
const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 400
shared_buffers = 64MB
fsync = off
full_page_writes = off
`;

/** With a disk that can fail: what a real one has. */
export const durable = 'fsync = on\nfull_page_writes = on\nshared_buffers = 512MB\nmax_wal_size = 8GB\n';

/**
 * Makes a cluster in an existing folder, in a test a copy of the one that its run has initialized. Its files stay until
 * the folder goes. `more` goes to its settings over those for tests.
 */
export async function makeCluster(folder: string, binaries?: Binaries, more = ''): Promise<Cluster> {
  const data = join(folder, 'data');
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const shared = process.platform === 'win32' ? undefined : process.env[sharedFolder];
  if (binaries === undefined && shared !== undefined) {
    const make = () => initialize(join(shared, 'initial'), findBinaries(shared));
    await run('cp', ['-a', await once(shared, 'initial', make), data], owner);
    binaries = findBinaries(shared);
  } else {
    binaries ??= findBinaries(folder);
    await initialize(data, binaries);
  }
  const { bin, env } = binaries;
  const options: SpawnOptions = { ...owner, env };
  const port = await freePort();
  appendFileSync(join(data, 'postgresql.conf'), `${settings}port = ${port}\n${more}`);
  const pgCtl = (...args: string[]) => run(join(bin, 'pg_ctl'), ['-D', data, '-w', ...args], options);
  const cluster: Cluster = {
    url: `postgres://postgres@127.0.0.1:${port}`,
    start: () => pgCtl('start', '-l', join(folder, 'log')),
    stop: (how) => pgCtl('stop', '-m', how),
    async promote() {
      const signal = join(data, 'standby.signal');
      writeFileSync(signal, '');
      chmodSync(signal, 0o666);
      await cluster.start();
      await pgCtl('promote');
    },
  };
  await cluster.start();
  return cluster;
}

async function initialize(data: string, { bin, env }: Binaries): Promise<string> {
  mkdirSync(data, { mode: 0o700 });
  if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid);
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(join(bin, 'initdb'), initdb, { ...owner, env });
  return data;
}

function run(command: string, args: readonly string[], options: SpawnOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      child.stderr?.destroy();
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors}`));
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
