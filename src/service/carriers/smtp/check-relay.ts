import type { Clock } from '../../clock.js';
import { Connection } from './connection.js';
import type { SmtpSettings } from './smtp-settings.js';

/** Connects and logs in to a relay, and sends nothing: null, or what is wrong. */
export async function checkRelay(settings: SmtpSettings, clock: Clock): Promise<string | null> {
  try {
    const connection = await Connection.open(settings, clock, new AbortController().signal);
    connection.close();
    return null;
  } catch (error) {
    return (error as Error).message.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ');
  }
}
