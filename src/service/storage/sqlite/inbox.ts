import { type InboxRecord, type IncomingMessage, missingPart, partsWithin, seriesOf } from '../inbox.js';
import type { Listed, PageRequest } from '../lists.js';
import type { Instant } from '../records.js';
import { type InboxRow, toInboxRecord } from '../shared/inbox-rows.js';
import type { Database } from './database/database.js';
import type { Projects } from './projects.js';
import { newestFirst } from './read/pages.js';

/** Incoming messages. The functions run inside their caller's transaction. */
export function prepareInbox(database: Database, projects: Projects, now: () => Instant) {
  const insert = database.prepare(
    `INSERT INTO inbox (id, project, channel, sender, recipient, subject, text, received_at, fingerprint, series, parts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, fingerprint) DO NOTHING`,
  );
  const selectSeries = database.prepare(
    `SELECT seq, parts FROM inbox WHERE project = ? AND series = ? AND received_at > ? ORDER BY seq DESC`,
  );
  const update = database.prepare('UPDATE inbox SET text = ?, parts = ? WHERE seq = ?');
  const pages = newestFirst<InboxRow>(database, 'inbox', 'id');

  function insertMessage(message: IncomingMessage, text: string, parts: string | null): void {
    const { id, projectId, channel, from, to, subject, fingerprint } = message;
    const project = projects.numberOf(projectId);
    insert.run(id, project, channel, from, to, subject, text, now(), fingerprint, seriesOf(message), parts);
  }

  return {
    keep(message: IncomingMessage): void {
      const { part, text, projectId } = message;
      if (part === null) {
        insertMessage(message, text, null);
        return;
      }
      const earlier = selectSeries.all(
        projects.numberOf(projectId),
        seriesOf(message),
        now() - partsWithin,
      ) as { seq: number; parts: string }[];
      const index = part.number - 1;
      for (const row of earlier) {
        const parts = JSON.parse(row.parts) as (string | null)[];
        if (parts[index] === text) return;
        if (parts[index] !== null) continue;
        parts[index] = text;
        update.run(joined(parts), JSON.stringify(parts), row.seq);
        return;
      }
      const parts = Array.from({ length: part.total }, (_, at) => (at === index ? text : null));
      insertMessage(message, joined(parts), JSON.stringify(parts));
    },
    list(projectId: string, page: PageRequest): Listed<InboxRecord> | null {
      const listed = pages(projects.numberOf(projectId), page);
      const at = now();
      return (
        listed && { records: listed.rows.map((row) => toInboxRecord(row, projectId, at)), next: listed.next }
      );
    },
  };
}

const joined = (parts: readonly (string | null)[]) => parts.map((part) => part ?? missingPart).join('');
