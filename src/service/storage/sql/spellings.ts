/**
 * The ways, `recipient`, in which a recipient was written in messages of a project: itself, `:to` as it is compared, and
 * for an address those with a tag or in capitals.
 */
export const spellings = (project: string) =>
  `SELECT :to::text COLLATE "C" AS recipient UNION SELECT s.recipient FROM :s.messages s :bySpelling
     WHERE s.project = ${project} AND s.mailbox IS NOT NULL AND lower(s.recipient) = :to::text`;
