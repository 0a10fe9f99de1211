import { cpSync, renameSync, rmSync } from 'node:fs';
import { Client } from 'pg';
import { type Core, openCore } from '../../../src/service/core.js';
import { backup, moveData, restore } from '../../../src/service/data/data-copies.js';
import { readSecret } from '../../../src/service/storage/sqlite/installation/secret.js';
import type { Store } from '../../../src/service/storage/store.js';
import type { Cluster } from '../../support/postgres/cluster.js';
import { connectionTo, query } from '../../support/postgres.js';
import { createDatabase } from '../cluster/own-cluster.js';
import { dataAt, databaseSecret, isDatabase } from '../service/data.js';

/** Commits take their time: of two events, the one that was written first may be committed last. */
const lateCommits = `
  CREATE FUNCTION public.commit_late() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_catalog.pg_sleep(0.02 * pg_catalog.random()); RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER late AFTER INSERT ON urtuu.events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.seq % 3 = 0) EXECUTE FUNCTION public.commit_late()`;

/** The instances of a service, and what happens to its data. */
export class World {
  cores: Core[] = [];
  data: string;
  readonly #folder: string;
  #secret: Uint8Array = databaseSecret;
  readonly #cluster: Cluster | null;
  readonly #double: (data: string, store: Store) => Store;
  #copies = 0;
  #copy: string | null = null;
  #foreign: Client | null = null;

  constructor(folder: string, cluster: Cluster | null, double: (data: string, store: Store) => Store) {
    this.#folder = folder;
    this.#cluster = cluster;
    this.data = `${folder}/service`;
    this.#double = double;
  }

  get #clusterUrl(): string {
    if (this.#cluster === null) throw new Error('there is no database');
    return this.#cluster.url;
  }

  get isOnPostgres(): boolean {
    return isDatabase(this.data);
  }

  async open(): Promise<void> {
    const count = this.isOnPostgres ? 2 : 1;
    for (let one = 0; one < count; one += 1) {
      const options = { ...dataAt(this.data, this.#secret), rates: 'off', report() {} } as const;
      const double = { store: (store: Store) => this.#double(this.data, store) };
      this.cores.push(await openCore(options, double));
    }
  }

  /** As when its processes have ended: on Node.js 20 a connection that was closed keeps its locks for a while. */
  async close(): Promise<void> {
    await Promise.all(this.cores.splice(0).map((core) => core.close()));
    if (this.isOnPostgres) return;
    const ended = `${this.data}.ended`;
    cpSync(this.data, ended, { recursive: true });
    rmSync(this.data, { recursive: true });
    renameSync(ended, this.data);
  }

  /** Somebody else's transaction, in another database, that stays open. */
  async openForeign(): Promise<void> {
    if (this.#cluster === null) return;
    this.#foreign = new Client(connectionTo(`${this.#cluster.url}/postgres`));
    this.#foreign.on('error', () => {});
    await this.#foreign.connect();
    await this.#foreign.query('BEGIN; SELECT pg_current_xact_id()');
  }

  async closeForeign(): Promise<void> {
    await this.#foreign?.end().catch(() => {});
    this.#foreign = null;
  }

  /** A backup, for a later restore. */
  async backup(): Promise<void> {
    this.#copies += 1;
    if (!this.isOnPostgres) {
      this.#copy = `${this.#folder}/copy-${this.#copies}`;
      await backup(this.data, this.#copy);
      return;
    }
    await this.closeForeign();
    await this.close();
    const name = `copy_${this.#copies}`;
    const database = new URL(this.data).pathname.slice(1);
    await query(`${this.#clusterUrl}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${database}`);
    this.#copy = `${this.#clusterUrl}/${name}`;
    await this.open();
  }

  /** Goes on as it was. */
  async restart(): Promise<void> {
    await this.close();
    await this.open();
  }

  async reset(): Promise<void> {
    await this.cores[0]?.administration.reset();
  }

  async hold(): Promise<void> {
    await this.cores[0]?.store.hold('failed_over');
  }

  /** False without a backup. */
  async restore(): Promise<boolean> {
    if (this.#copy === null) return false;
    const copy = this.#copy;
    this.#copy = null;
    await this.close();
    if (this.isOnPostgres) this.data = copy;
    else await restore(copy, this.data);
    await this.open();
    return true;
  }

  /** An old copy of the files, which their owner accepts. */
  async acceptOldCopy(): Promise<void> {
    await this.close();
    const kept = `${this.#folder}/kept`;
    cpSync(this.data, kept, { recursive: true });
    await this.open();
    await this.close();
    rmSync(this.data, { recursive: true });
    renameSync(kept, this.data);
    rmSync(`${this.data}/installation.json`);
    await (await openCore({ ...dataAt(this.data), acceptData: true, report() {} })).close();
    await this.open();
  }

  /** Without a crash: a copied database survives none where pages are not written whole. A restore loses what one loses. */
  async failOver(): Promise<void> {
    await this.closeForeign();
    await this.close();
    await this.#cluster?.stop('fast');
    await this.#cluster?.promote();
    await this.open();
  }

  async move(): Promise<void> {
    await this.close();
    const url = await createDatabase(this.#clusterUrl, 'urtuu_events');
    const secretFile = `${this.#folder}/secret`;
    await moveData({ directory: this.data, url, database: url, secretFile });
    this.#secret = readSecret(secretFile) ?? this.#secret;
    this.data = url;
    await this.open();
    await query(this.data, lateCommits);
  }
}
