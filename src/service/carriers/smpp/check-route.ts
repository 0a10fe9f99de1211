import type { Clock } from '../../clock.js';
import type { Random } from '../../random.js';
import { statuses } from './codec/commands.js';
import { dial } from './connection/dial.js';
import { type BindMode, Link } from './connection/link.js';
import { localRouteLimits } from './limits.js';
import type { SmppRoute } from './route-settings.js';

/** Connects and binds as the route does, sends nothing and unbinds: the problem, null for none. */
export async function checkRoute(
  route: SmppRoute,
  { clock, random }: { clock: Clock; random: Random },
): Promise<string | null> {
  const modes: BindMode[] = route.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver'];
  for (const mode of modes) {
    const link = new Link({
      route,
      mode,
      clock,
      random,
      dial,
      limits: localRouteLimits(clock),
      report() {},
      // The service takes them.
      onDeliver: (pdu, session) => session.respond(pdu, statuses.tryAgain),
      onChange() {},
    });
    await link.start();
    const { problem } = link;
    await link.stop();
    if (problem !== null) return modes.length === 1 ? problem : `${mode}: ${problem}`;
  }
  return null;
}
