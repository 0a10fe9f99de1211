import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Lock, LockHolder } from './lock-types.js';
import { withShortPath } from './short-path.js';

/**
 * The process that holds the lock listens on the socket with the highest number in the private folder. The socket of
 * an ended process refuses connections, and the next process takes the next number with a hard link, which only one
 * process can create. A socket listens before it gets its number, and the highest number is never removed, so no
 * number is used twice.
 */
const socketName = /^lock\.([1-9]\d{0,14})$/;
const nameOf = (number: number) => `lock.${number}`;
const unnumbered = 'lock.new-';

const unguarded: Lock = {
  held: true,
  isUnguarded: true,
  release: async () => {},
  releaseRemoved: async () => {},
};

/** A running process answers at once; a paused one still holds its lock. */
const answersWithin = 1_000;
/** Each attempt fails because another process took the number. */
const mostTries = 50;

export async function lockFolder(folder: string): Promise<Lock> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const newest = newestOf(readdirSync(folder));
    const holder = newest === 0 ? null : await holderOf(folder, nameOf(newest));
    if (holder !== null) return { held: false, ...holder };
    const lock = await take(folder, newest + 1);
    if (lock !== 'taken') return lock;
  }
  return { held: false, pid: null };
}

export async function lockHolder(folder: string): Promise<LockHolder | null> {
  const newest = newestOf(readdirSync(folder));
  return newest === 0 ? null : holderOf(folder, nameOf(newest));
}

const newestOf = (names: readonly string[]): number =>
  Math.max(0, ...names.map((name) => Number(socketName.exec(name)?.[1] ?? 0)));

async function take(folder: string, number: number): Promise<Lock | 'taken'> {
  const unique = `${unnumbered}${process.pid}-${randomBytes(4).toString('hex')}`;
  const server = await withShortPath(folder, unique, listen).catch((error: NodeJS.ErrnoException) =>
    // Before it listened, another process took it for an abandoned socket and removed it.
    error.code === 'ENOENT' && error.syscall === 'uv_pipe_chmod' ? ('taken' as const) : null,
  );
  if (server === 'taken') return server;
  // If this file system has no sockets there is no lock, and the keys must suffice.
  if (server === null) return unguarded;
  try {
    linkSync(join(folder, unique), join(folder, nameOf(number)));
  } catch (error) {
    await close(server);
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EEXIST' || code === 'ENOENT' ? 'taken' : unguarded;
  } finally {
    remove(join(folder, unique));
  }
  const names = readdirSync(folder);
  // A process that was paused after the check may link a number that was taken and released long ago.
  if (newestOf(names) > number) {
    await close(server);
    return 'taken';
  }
  await removeOlder(folder, names, number);
  return {
    held: true,
    release: () => release(folder, number, server),
    releaseRemoved: () => close(server),
  };
}

/** Replaces the socket by an empty file, which a backup can copy. */
async function release(folder: string, number: number, server: Server): Promise<void> {
  const beside = join(folder, `${unnumbered}${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(beside, '', { flag: 'wx', mode: 0o600 });
    renameSync(beside, join(folder, nameOf(number)));
  } catch {
    // The folder is gone or read-only: a socket that refuses connections has the same effect.
    remove(beside);
  }
  await close(server);
}

async function removeOlder(folder: string, names: readonly string[], number: number): Promise<void> {
  for (const name of names) {
    const older = Number(socketName.exec(name)?.[1] ?? number) < number;
    const left = name.startsWith(unnumbered) && (await holderOf(folder, name)) === null;
    if (older || left) remove(join(folder, name));
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(String(process.pid));
    });
    server.once('error', reject);
    // The folder keeps other users out. Without this, a socket of root would refuse its owner.
    server.listen({ path, writableAll: true }, () => resolve(server));
    server.unref();
  });
}

/** Not `rm`, for which Node.js loads a module. What cannot be removed is left to the next process. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

const close = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()));

/** The process that listens on a socket; null if none does. */
async function holderOf(folder: string, name: string): Promise<LockHolder | null> {
  if (isReleased(join(folder, name))) return null;
  return withShortPath(folder, name, answerOf).catch((error: NodeJS.ErrnoException) =>
    notListening.has(error.code ?? '') ? null : { pid: null },
  );
}

const isReleased = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

const notListening = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']);

function answerOf(path: string): Promise<LockHolder> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(answersWithin, () => socket.destroy());
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ pid: /^[0-9]+$/.test(text) ? Number(text) : null }));
  });
}
