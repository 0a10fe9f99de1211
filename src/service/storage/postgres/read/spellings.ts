import { comparedRecipient, mailboxOf } from '../../../../contract/index.js';

/** SQL: the ways in which a recipient was written in messages of a project, with the values of `spelled` first. */
export const spellings = (project: string) =>
  `(SELECT $1::text COLLATE "C" AS recipient UNION SELECT s.recipient FROM :s.messages s
     WHERE s.project = ${project} AND s.mailbox = $2::text AND lower(s.recipient) = $1::text)`;

export const spelled = (to: string): [compared: string, mailbox: string] => [
  comparedRecipient(to),
  mailboxOf(to),
];
