import { createHmac } from 'node:crypto';
import { comparedRecipient } from '../../contract/index.js';
import { decryptText, deriveKey, encryptText, nonceLength } from '../encryption.js';
import { hosted, type Settings } from '../settings.js';
import type { Store } from '../storage/store.js';

/** Whom a link to unsubscribe is for, and of which project. */
export interface Unsubscribing {
  projectId: string;
  /** As recipients are compared. */
  to: string;
}

/** Nothing of a link is stored: it works for as long as the secret of the installation does. */
export interface UnsubscribeTokens {
  /** Null for anything that this installation has not created. */
  read(token: string): Unsubscribing | null;
  /** Where recipients of a project unsubscribe, on the page of the service at `publicUrl`. */
  addressAt(publicUrl: string, projectId: string): (to: string) => string;
}

export function unsubscribeTokens(secret: Uint8Array): UnsubscribeTokens {
  const key = deriveKey(secret, 'links to unsubscribe');
  const nonceKey = deriveKey(secret, 'nonces of links to unsubscribe');

  /** Of the text, so that a mail is the same in every attempt, and no two texts have the same. */
  const nonceOf = (text: string) =>
    createHmac('sha256', nonceKey).update(text).digest().subarray(0, nonceLength);

  function decrypted(bytes: Uint8Array): string {
    try {
      return decryptText(key, bytes);
    } catch {
      return '';
    }
  }

  return {
    addressAt: (publicUrl, projectId) => (to) => {
      const text = `${projectId} ${comparedRecipient(to)}`;
      return `${publicUrl}/u/${encryptText(key, nonceOf(text), text).toString('base64url')}`;
    },
    read(token) {
      const bytes = Buffer.from(token, 'base64url');
      // Decoding skips characters that a token cannot have.
      if (bytes.toString('base64url') !== token) return null;
      const [, projectId, to] = /^(\S+) (.+)$/.exec(decrypted(bytes)) ?? [];
      return projectId === undefined || to === undefined ? null : { projectId, to };
    },
  };
}

/** The settings of a project, with where recipients unsubscribe if that is `hosted` and the public URL is known. */
export async function emailRulesOf(
  { id, settings }: { id: string; settings: Settings },
  tokens: UnsubscribeTokens,
  store: Pick<Store, 'publicUrl'>,
): Promise<Settings & { unsubscribeAddress?(to: string): string }> {
  const url = settings.list_unsubscribe === hosted ? await store.publicUrl() : null;
  return url === null ? settings : { ...settings, unsubscribeAddress: tokens.addressAt(url, id) };
}
