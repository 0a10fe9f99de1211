const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An id in its one spelling, lower case (RFC 9562, 4); null for text that is not a UUID. */
export function normalId(written: string): string | null {
  const id = written.toLowerCase();
  return uuid.test(id) ? id : null;
}

/** The same; text that is not a UUID stays as it is: a name, or an id of another service. */
export const idAsWritten = (written: string): string => normalId(written) ?? written;
