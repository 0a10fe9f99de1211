import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Random } from '../../../random.js';
import { fingerprintOf, isSecretOf, secretLength } from '../../shared/secret.js';
import { whenFree } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { makePrivate } from '../database/private-files.js';
import { endEventLines } from '../dispatch/holds.js';
import { type DataFiles, setAside, sizeOf } from './folder.js';
import { type Identity, readIdentity, writeIdentity } from './identity.js';
import { dataError, forgottenSince, type Problem } from './problems.js';
import { makeSecret, readSecret } from './secret.js';

export interface Entry {
  files: DataFiles;
  store: Database;
  random: Random;
  acceptData: boolean;
  openCarrier(): Promise<Database>;
}

export interface Entered {
  id: string;
  secret: Uint8Array;
  carrier: Database;
}

interface StoreRow extends Identity {
  secret_fingerprint: Uint8Array | null;
  complete: number;
  wal_follows: number;
}

/**
 * The epoch, raised by each start, distinguishes the newest files from old copies. The store is raised first, then
 * the others, all under the store's write lock. So the others are never ahead, and only behind by one after an
 * interrupted start, which the next start completes first. If the store is behind the others, it is an old copy; if
 * the others are further behind, they are. `wal_follows` shows that a -wal was lost since: see checkpoint.ts.
 */
export async function enter(entry: Entry): Promise<Entered> {
  const row = await locked(entry.store, () => firstLook(entry));
  const made = row.complete === 0 ? await locked(entry.store, () => complete(entry)) : null;
  if (made !== null) return made;
  const entered = await locked(entry.store, () => verify(entry));
  try {
    await locked(entry.store, () => follow(entry, entered.carrier));
    return entered;
  } catch (error) {
    entered.carrier.close();
    throw error;
  }
}

async function locked<Result>(store: Database, work: () => Result | Promise<Result>): Promise<Result> {
  await whenFree(() => store.exec('BEGIN IMMEDIATE'));
  try {
    const result = await work();
    store.exec('COMMIT');
    return result;
  } catch (error) {
    if (store.isTransaction) store.exec('ROLLBACK');
    throw error;
  }
}

function rowOf(store: Database): StoreRow | undefined {
  return store.prepare('SELECT * FROM installation').get() as StoreRow | undefined;
}

/** A folder without an id is new, or of a release without ids; the latter is adopted once. */
function firstLook({ files, store, acceptData }: Entry): StoreRow {
  const known = rowOf(store);
  if (known !== undefined && !acceptData) return known;
  if (!acceptData) {
    const isOld = store.prepare('SELECT 1 FROM projects').get() !== undefined;
    const problems: Problem[] = [];
    if (existsSync(files.identity))
      problems.push({ file: 'store', what: 'does not belong to installation.json' });
    else if (isOld && !existsSync(files.secret)) problems.push({ file: 'secret', what: 'is missing' });
    else if (!isOld && (existsSync(files.secret) || existsSync(files.carrier)))
      problems.push({ file: 'store', what: 'holds nothing' });
    if (problems.length > 0) throw dataError(files, problems);
  }
  store
    .prepare(
      `INSERT INTO installation VALUES (1, ?, 1, NULL, 0, 0)
       ON CONFLICT DO UPDATE SET id = excluded.id, epoch = 1, secret_fingerprint = NULL, complete = 0, wal_follows = 0`,
    )
    .run(randomUUID());
  endEventLines(store);
  return rowOf(store) as StoreRow;
}

/** Creates the missing files of a new installation, also after an interrupted start; null if another process did. */
async function complete(entry: Entry): Promise<Entered | null> {
  const { files, store, random, acceptData } = entry;
  const { id, complete } = rowOf(store) as StoreRow;
  if (complete === 1) return null;
  const isOld = store.prepare('SELECT 1 FROM projects').get() !== undefined;
  if (isOld && !acceptData && !existsSync(files.secret))
    throw dataError(files, [{ file: 'secret', what: 'is missing' }]);
  if (acceptData && existsSync(files.secret) && readSecret(files.secret) === null) setAside(files.secret);
  makeSecret(files.secret, random.bytes(secretLength));
  const secret = readSecret(files.secret);
  if (secret === null) throw dataError(files, [{ file: 'secret', what: 'is damaged' }]);
  const carrier = await entry.openCarrier();
  try {
    await stamp(carrier, { id, epoch: 1 });
    await writeIdentity(files.identity, { id, epoch: 1, sizes: sizesOf(files) });
    store
      .prepare('UPDATE installation SET secret_fingerprint = ?, complete = 1, epoch = 1')
      .run(fingerprintOf(secret));
    return { id, secret, carrier };
  } catch (error) {
    carrier.close();
    throw error;
  }
}

/** Compares all files, and raises the epoch of the store. */
async function verify(entry: Entry): Promise<Entered> {
  const { files, store } = entry;
  const row = rowOf(store) as StoreRow;
  const problems: Problem[] = [];
  // If it was missing, this connection has created an empty one.
  if (row.wal_follows === 1 && !sizeOf(`${files.store}-wal`)) {
    const what = 'lacks its -wal file: it is a copy without it, or it was deleted';
    problems.push({ file: 'store', what, forgotten: forgottenSince });
  }
  const identity = readIdentity(files.identity);
  const found = identity === 'damaged' ? null : identity;
  if (identity === null) problems.push({ file: 'identity', what: 'is missing' });
  else if (identity === 'damaged') problems.push({ file: 'identity', what: 'is damaged' });
  else if (identity.id !== row.id)
    problems.push({ file: 'store', what: 'and installation.json do not belong together' });
  const secret = readSecret(files.secret);
  if (secret === null || !isSecretOf(row.secret_fingerprint, secret)) {
    const what = existsSync(files.secret)
      ? secret === null
        ? 'is damaged'
        : 'is another one'
      : 'is missing';
    problems.push({ file: 'secret', what });
  }
  const size = sizeOf(files.carrier);
  if (!size) problems.push({ file: 'carrier', what: size === null ? 'is missing' : 'is empty' });
  if (!size || secret === null || found === null) throw dataError(files, problems);

  const carrier = await entry.openCarrier();
  try {
    const stamped = carrier.prepare('SELECT id, epoch FROM installation').get() as Identity | undefined;
    if (stamped?.id !== row.id) problems.push({ file: 'carrier', what: 'does not belong to service.db' });
    else if (found.id === row.id)
      problems.push(...staleOf(row.epoch, { carrier: stamped.epoch, identity: found.epoch }));
    if (problems.length > 0) throw dataError(files, problems);
    await bringUp(entry, carrier, row);
    store.prepare('UPDATE installation SET epoch = ?, wal_follows = 0').run(row.epoch + 1);
    return { id: row.id, secret, carrier };
  } catch (error) {
    carrier.close();
    throw error;
  }
}

/** The epochs of files that do not belong together. */
export function staleOf(store: number, other: { carrier: number; identity: number }): Problem[] {
  if (other.carrier > store || other.identity > store)
    return [
      { file: 'store', what: 'is an old copy, or its -wal file is missing', forgotten: forgottenSince },
    ];
  // The simulated operator's file is raised before installation.json.
  const cutShort = other.identity === store - 1;
  if (!cutShort && other.identity < store) return [{ file: 'identity', what: 'is an old copy' }];
  if (other.carrier < store - (cutShort ? 1 : 0)) return [{ file: 'carrier', what: 'is an old copy' }];
  return [];
}

async function follow(entry: Entry, carrier: Database): Promise<void> {
  await bringUp(entry, carrier, rowOf(entry.store) as StoreRow);
}

async function bringUp({ files }: Entry, carrier: Database, { id, epoch }: Identity): Promise<void> {
  const stamped = carrier.prepare('SELECT id, epoch FROM installation').get() as Identity;
  if (stamped.epoch < epoch) await stamp(carrier, { id, epoch });
  const identity = readIdentity(files.identity);
  if (identity === null || identity === 'damaged' || identity.epoch < epoch)
    await writeIdentity(files.identity, { id, epoch, sizes: sizesOf(files) });
  else makePrivate(files.identity);
}

export const sizesOf = ({ store, carrier }: DataFiles) => ({
  store: sizeOf(store) ?? 0,
  carrier: sizeOf(carrier) ?? 0,
});

/** On disk when it returns, because the store's epoch is. */
async function stamp(carrier: Database, { id, epoch }: Identity): Promise<void> {
  const upsert = carrier.prepare(
    'INSERT INTO installation VALUES (1, ?, ?) ON CONFLICT DO UPDATE SET id = excluded.id, epoch = excluded.epoch',
  );
  const { synchronous } = carrier.prepare('PRAGMA synchronous').get() as { synchronous: number };
  carrier.exec('PRAGMA synchronous = full');
  try {
    await whenFree(() => upsert.run(id, epoch));
  } finally {
    carrier.exec(`PRAGMA synchronous = ${synchronous}`);
  }
}
