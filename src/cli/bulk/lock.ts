import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Lock = { held: true; release(): Promise<void> } | { held: false; pid: number | null };

/**
 * One process per job: a listening socket named after the folder, which the system closes with its process
 * however that ends. On Linux and Windows the name is no file, so nothing stale can stay behind. It is a
 * courtesy (another container or machine does not see it); the idempotency keys are the safety.
 */
export async function lockFolder(folder: string, platform = process.platform): Promise<Lock> {
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
  const address = addressOf(`urtuu-${process.getuid?.() ?? 0}-${name}`, platform);
  for (let tries = 0; ; tries += 1) {
    const server = await listen(address);
    if (server !== 'in use') return { held: true, release: () => close(server) };
    const holder = await askHolder(address);
    if (holder !== 'dead' || tries === 3) return { held: false, pid: holder === 'dead' ? null : holder };
    // Only where the name is a file can it outlive its process.
    rmSync(address, { force: true });
  }
}

function addressOf(name: string, platform: NodeJS.Platform): string {
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
}

/** Null when this system lets nobody listen here: then there is no courtesy, and the keys have to do. */
function listen(address: string): Promise<Server | 'in use' | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(String(process.pid));
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'in use' : null),
    );
    server.listen(address, () => resolve(server));
    server.unref();
  });
}

function askHolder(address: string): Promise<number | null | 'dead'> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(address);
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'dead' : null),
    );
    socket.on('close', () => resolve(/^[0-9]+$/.test(text) ? Number(text) : null));
  });
}

function close(server: Server | null): Promise<void> {
  return new Promise((resolve) => (server === null ? resolve() : server.close(() => resolve())));
}
