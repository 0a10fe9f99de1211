/** SQL: the ways in which a recipient, `$1` as it is compared, was written in messages of a project. */
export const spellings = (project: string) =>
  `(SELECT $1::text COLLATE "C" AS recipient UNION SELECT s.recipient FROM :s.messages s
     WHERE s.project = ${project} AND s.mailbox IS NOT NULL AND lower(s.recipient) = $1::text)`;
