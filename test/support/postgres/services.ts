import { onTestFinished } from 'vitest';
import { outboxMigrations } from '../../../src/service/carriers/simulated/postgres-outbox.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { DataError } from '../../../src/service/errors/data-error.js';
import type { Migrations } from '../../../src/service/storage/postgres/database/migrate.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { project, start } from '../../service/storage/conformance/fixture.js';
import { query } from '../postgres.js';
import { testSecret } from '../test-engine.js';

/** A service in the schema; without one, as a start finds it. */
export async function open(
  url: string,
  schema?: string,
  more: { isExisting?: boolean; migrations?: Migrations[] } = {},
) {
  const clock = new ManualClock(start);
  const reported: unknown[] = [];
  const storage = await openPostgresStorage({
    url,
    schema,
    secret: testSecret,
    migrations: [outboxMigrations],
    clock,
    now: () => clock.now(),
    report: (error) => reported.push(error),
    ...more,
  });
  onTestFinished(() => storage.close());
  return { ...storage, reported };
}

/** A service in the schema, with one project and 100 credits. */
export async function make(url: string, schema: string): Promise<void> {
  // As everybody may before PostgreSQL 15.
  await query(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  // Without the outbox, as by a release that had none.
  const { store, close } = await open(url, schema, { migrations: [] });
  await store.createProject({ ...project, balance: 100 });
  await close();
}

/** The schema in which the service opens, with how much it has; or why it does not. */
export async function opened(url: string, schema?: string, isExisting = false): Promise<string> {
  try {
    const { store, database, close } = await open(url, schema, { isExisting });
    const [row] = await database.query<{ name: string }>(
      "SELECT relnamespace::regnamespace::text AS name FROM pg_class WHERE oid = ':s.projects'::regclass",
    );
    const found = await store.getProject(project.id);
    const held = await store.held();
    await close();
    return [row?.name, found === null ? 'empty' : 'filled', ...(held === null ? [] : ['held'])].join(' ');
  } catch (error) {
    const { message, hint } = error as DataError;
    return `${message} | ${hint}`;
  }
}
