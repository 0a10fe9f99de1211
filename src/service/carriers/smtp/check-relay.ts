import type { Clock } from '../../clock.js';
import { Connection } from './connection.js';
import type { SmtpSettings } from './smtp-settings.js';

/**
 * Connects and logs in to a relay within `milliseconds`, and sends nothing. Returns the problem, null if there is
 * none.
 */
export async function checkRelay(
  settings: SmtpSettings,
  clock: Clock,
  milliseconds: number,
): Promise<string | null> {
  try {
    const connection = await Connection.open(settings, clock, new AbortController().signal, milliseconds);
    connection.close();
    return null;
  } catch (error) {
    return (error as Error).message.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ');
  }
}
