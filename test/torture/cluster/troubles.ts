import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../support/postgres/cluster.js';
import { query } from '../../support/postgres.js';
import type { Server } from '../service/server.js';

/** What instances of a service have in common, and what can happen to them. */
export interface Setting {
  servers: readonly Server[];
  cluster: Cluster;
  database: string;
  random: () => number;
  /** Milliseconds that a paused instance stands still: longer than its leases. */
  pauseMs: number;
  /** When PostgreSQL crashed, on the clock of `performance.now()`. */
  crashes: number[];
  /** When a copy of the data was not held, on the same clock. */
  unheld: number[];
  /** A further instance on another database. */
  serverOn(database: string): Promise<Server>;
}

export const troubles = {
  async kill(setting: Setting) {
    const server = anyOf(setting);
    await server.end('SIGKILL');
    await startAgain(server);
  },
  async pause(setting: Setting) {
    const server = anyOf(setting);
    server.signal('SIGSTOP');
    await sleep(setting.pauseMs);
    server.signal('SIGCONT');
  },
  async terminate({ database, random }: Setting) {
    await query(
      database,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND datname = current_database() AND random() < $1`,
      [random()],
    ).catch(() => {});
  },
  async crash({ cluster, crashes }: Setting) {
    await cluster.stop('immediate');
    await cluster.start();
    // Its last tokens were taken just before it, or are refilled just after it.
    crashes.push(performance.now());
  },
} satisfies Record<string, (setting: Setting) => Promise<void>>;

export type Trouble = keyof typeof troubles;

/** While the database is away or cuts connections, an instance does not start. */
export async function startAgain(server: Server): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await server.start();
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(100);
    }
  }
}

function anyOf({ servers, random }: Setting): Server {
  return servers[Math.floor(random() * servers.length)] as Server;
}
