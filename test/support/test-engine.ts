import type { ServiceOptions } from '../../src/service/index.js';
import { copyOfDatabase, newDatabase } from './postgres.js';

let isPostgres = false;
let template: Promise<string> | undefined;

/** From now on services of this test file are opened on PostgreSQL. */
export function testOnPostgres(): void {
  isPostgres = true;
}

/** Where a new service of a test keeps its data: in memory, or in an empty database. */
export async function testEngine(): Promise<Pick<ServiceOptions, 'database' | 'secret'>> {
  if (!isPostgres) return {};
  template ??= newTemplate();
  return { database: await copyOfDatabase(await template), secret: testSecret };
}

export const testSecret = new Uint8Array(32).fill(7);

/** With the schema, which takes longer to make than to copy. */
async function newTemplate(): Promise<string> {
  const { createService } = await import('../../src/service/index.js');
  const database = await newDatabase();
  const service = await createService({ database, secret: testSecret });
  await service.close();
  const { query } = await import('./postgres.js');
  await query(database, 'TRUNCATE projects, ledger RESTART IDENTITY CASCADE');
  return database;
}
