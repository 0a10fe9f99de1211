import type { Database } from './database/open.js';

/** The lanes of real carriers. The functions run inside the transaction of their caller. */
export function prepareLanes(database: Database) {
  const insert = database.prepare('INSERT INTO lanes (name) VALUES (?) ON CONFLICT DO NOTHING');
  const select = database.prepare('SELECT name FROM lanes ORDER BY name');
  return {
    record(lanes: readonly string[]): string[] {
      for (const lane of lanes) insert.run(lane);
      return (select.all() as { name: string }[]).map(({ name }) => name);
    },
  };
}
