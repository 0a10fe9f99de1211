import PostalMime, { type Email } from 'postal-mime';
import { readMailsByCharset } from '../../contract/index.js';

/** `guessed`: charsets of texts and headers that are in no charset that the mail names. */
export async function parseMail(message: Buffer): Promise<{ mail: Email; guessed: string[] }> {
  const guessed = new Set<string>();
  const restore = readMailsByCharset(PostalMime, (charset) => guessed.add(charset));
  try {
    return { mail: await PostalMime.parse(message), guessed: [...guessed] };
  } finally {
    restore();
  }
}
