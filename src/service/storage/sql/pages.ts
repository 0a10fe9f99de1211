import type { EventType } from '../../../contract/index.js';

/** The rows of a project. */
export const ofProject = 'project = (SELECT seq FROM :s.projects WHERE id = :projectId)';

/** Records an event of each of some rows, `seq` and `project`, if anybody asks for those of their project. */
export const reported = (type: EventType, rows: string) =>
  `INSERT INTO :s.events (line, type, subject, at)
   SELECT p.line, '${type}', r.seq, :now FROM ${rows} r JOIN :s.projects p ON p.seq = r.project
   WHERE p.line IS NOT NULL ORDER BY r.seq`;
