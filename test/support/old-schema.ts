import { renameSync, rmSync } from 'node:fs';
import { loadEngine } from '../../src/service/storage/sqlite/database/engine.js';

const { DatabaseSync } = await loadEngine();

/** Gives an SQLite file the schema that its first `steps` migrations make, with the rows that this one has room for. */
export function downgrade(path: string, steps: readonly string[]): void {
  const old = new DatabaseSync(`${path}.old`);
  for (const step of steps) old.exec(step);
  old.exec(`PRAGMA user_version = ${steps.length}`);
  old.prepare('ATTACH ? AS new').run(path);
  const tables = old.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
  }[];
  for (const { name } of tables) {
    const columns = old
      .prepare('SELECT name FROM pragma_table_info(?)')
      .all(name)
      .map((column) => (column as { name: string }).name)
      .join(', ');
    old.exec(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM new.${name}`);
  }
  old.close();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  renameSync(`${path}.old`, path);
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}.old${suffix}`, { force: true });
}
