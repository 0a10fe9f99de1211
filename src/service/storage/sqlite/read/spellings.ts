import { comparedRecipient } from '../../../../contract/index.js';

/** SQL: the ways in which a recipient was written in messages of a project, with the values of `spelled`. */
export const spellings = (project: string) =>
  `SELECT :compared AS "to" UNION SELECT s.recipient FROM messages s INDEXED BY messages_spelled
     WHERE s.project = ${project} AND s.mailbox IS NOT NULL AND lower(s.recipient) = :compared`;

export const spelled = (to: string) => ({ compared: comparedRecipient(to) });
