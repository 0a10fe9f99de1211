import { idAsWritten, normalNumber } from '../../contract/index.js';
import type { Incoming } from '../carriers/carrier.js';
import type { CarrierConfiguration } from '../carriers/configured/configuration.js';
import { ConfigurationError } from '../errors/configuration-error.js';
import type { Settings } from '../settings.js';
import type { ProjectRecord, Store } from '../storage/store.js';

type WordSettings = Pick<Settings, 'suppressions' | 'stop_words' | 'start_words'>;

/**
 * Stores incoming SMS in the inboxes of their routes, or of the `first` project if a route has none. Rejects with
 * ConfigurationError if there is no such project.
 */
export async function smsReceiver(
  store: Pick<Store, 'listProjects' | 'keepIncoming' | 'listSendersTo' | 'suppress' | 'removeSuppression'>,
  settingsOf: (projectId: string) => Promise<WordSettings>,
  newId: () => string,
  first: Pick<ProjectRecord, 'id' | 'name'>,
  configuration: CarrierConfiguration | undefined,
): Promise<(incoming: Incoming) => Promise<void>> {
  const { sms } = configuration ?? {};
  const routes = typeof sms === 'object' ? sms.routes : [];
  const listed = routes.some(({ inboxProject }) => inboxProject !== null) ? await store.listProjects() : [];
  // New data gets its first project only now.
  const projects = listed.length === 0 ? [first] : listed;
  const inboxes = new Map(
    routes.map(({ name, inboxProject: given }, index) => {
      if (given === null) return [name, first.id];
      const found = projects.filter((project) => project.id === idAsWritten(given) || project.name === given);
      const [only] = found;
      if (only !== undefined && found.length === 1) return [name, only.id];
      const problem = found.length === 0 ? 'there is no project' : 'several projects are called';
      throw new ConfigurationError(`sms.routes[${index}].inbox_project: ${problem} ${JSON.stringify(given)}`);
    }),
  );
  return async ({ route, deliveryId, ...message }) => {
    const projectId = inboxes.get(route) ?? first.id;
    const { from } = message;
    const text = await store.keepIncoming({
      ...message,
      id: newId(),
      projectId,
      channel: 'sms',
      subject: null,
      fingerprint: deliveryId === undefined ? null : `sms ${route} ${deliveryId}`,
    });
    if (text === null || normalNumber(from) !== from) return;
    // All of them send from the number that was answered.
    for (const id of new Set([projectId, ...(await store.listSendersTo(from, route))])) {
      const asked = askedIn(text, await settingsOf(id));
      if (asked === 'stop') await store.suppress(id, from, 'opt_out');
      else if (asked === 'start') await store.removeSuppression(id, from, 'opt_out');
    }
  };
}

function askedIn(text: string, { suppressions, stop_words: stop, start_words: start }: WordSettings) {
  if (!suppressions) return null;
  if (isOneOf(text, stop)) return 'stop';
  return isOneOf(text, start) ? 'start' : null;
}

/** Whether a text is one of the words. Letters and digits alone are compared, without case, where there are any. */
function isOneOf(text: string, words: readonly string[]): boolean {
  const plain = (written: string) =>
    written
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, '') || written.trim();
  return words.some((word) => plain(word) === plain(text));
}
