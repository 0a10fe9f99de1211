import type { ServiceOptions } from '../../src/service/index.js';
import { countUnderWay } from './postgres/under-way.js';
import { emptyDatabase, newPooledDatabase } from './postgres.js';

/** A project of vitest names its engine. */
let isPostgres = process.env.URTUU_TEST_ENGINE === 'postgres';
if (isPostgres) countUnderWay();

/** Databases that no test uses now. */
const free: string[] = [];

export const testSecret = new Uint8Array(32).fill(7);

/** From now on services of this test file are opened on PostgreSQL. */
export function testOnPostgres(): void {
  isPostgres = true;
  countUnderWay();
}

export const isOnPostgres = (): boolean => isPostgres;

/** Cases of a rule that does not depend on the engine: on PostgreSQL only the first, which shows that it holds there too. */
export const oneOnPostgres = <Case>(cases: readonly Case[]): readonly Case[] =>
  isPostgres ? cases.slice(0, 1) : cases;

export interface TestEngine {
  options: Pick<ServiceOptions, 'database' | 'secret'>;
  /** When its services are closed. */
  release(): void;
}

/** Where new services of a test keep their data: in memory, or in an empty database. */
export async function testEngine(): Promise<TestEngine> {
  if (!isPostgres) return { options: {}, release() {} };
  const database = free.pop() ?? (await newPooledDatabase());
  await emptyDatabase(database);
  return { options: { database, secret: testSecret }, release: () => void free.push(database) };
}
