import { join } from 'node:path';
import { canonicalBaseUrl } from '../../contract/index.js';
import type { Context } from '../context.js';
import type { KeyedMessage, Replayed } from './used-keys.js';

/** One key and one message, on this machine. */
export interface KeyMemory {
  /** Whether an earlier command sent the message under the key and got no answer; `elsewhere`: with another API key. */
  readonly isOpen: 'here' | 'elsewhere' | false;
  accepted(): void;
  /** Call if it was certainly not sent, by any command. */
  resolved(): void;
  /** Call if it was certainly not sent by this command. */
  notSent(): void;
  replayed(repeated: boolean, isErased: boolean): Replayed;
}

/** Null without a key, and if this machine cannot remember it, which must not stop a send. */
export async function rememberKey(
  { options, io, network, config }: Pick<Context, 'options' | 'io' | 'network' | 'config'>,
  key: string | undefined,
  message: KeyedMessage,
): Promise<KeyMemory | null> {
  if (key === undefined) return null;
  const account = config.sandbox
    ? // Its API key differs in every process.
      { service: 'sandbox', apiKey: null }
    : { service: canonicalBaseUrl((await config.settings()).baseUrl), apiKey: await network.apiKey() };
  const onFailure = (error: unknown) => {
    if (options.verbose) io.note(`cannot remember the key: ${(error as Error).message}`);
  };
  try {
    const { UsedKeys } = await import('./used-keys.js');
    const keys = await UsedKeys.open(join(config.stateDirectory, 'used-keys'));
    const used = keys?.use(account, key, message);
    if (used === undefined) return null;
    const attempt = (write: () => void) => {
      try {
        write();
      } catch (error) {
        onFailure(error);
      }
    };
    return {
      isOpen: used.isOpen,
      accepted: () => attempt(() => used.accepted()),
      resolved: () => attempt(() => used.resolved()),
      notSent: () => attempt(() => used.notSent()),
      replayed: (repeated, isErased) => used.replayed(repeated, isErased),
    };
  } catch (error) {
    onFailure(error);
    return null;
  }
}
