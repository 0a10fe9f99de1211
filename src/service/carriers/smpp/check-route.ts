import type { Clock } from '../../clock.js';
import type { Random } from '../../random.js';
import { statuses } from './codec/commands.js';
import { dial } from './connection/dial.js';
import { type BindMode, Link } from './connection/link.js';
import { localRouteLimits } from './limits.js';
import type { SmppRoute } from './route-settings.js';

interface Tools {
  clock: Clock;
  random: Random;
}

/**
 * Connects and binds as the route does within `milliseconds`, sends nothing and unbinds. Returns the problem, null if
 * there is none.
 */
export async function checkRoute(
  route: SmppRoute,
  tools: Tools,
  milliseconds: number,
): Promise<string | null> {
  const modes: BindMode[] = route.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver'];
  const problems = await Promise.all(modes.map((mode) => checkBind(route, mode, tools, milliseconds)));
  const failed = problems.findIndex((problem) => problem !== null);
  if (failed < 0) return null;
  return modes.length === 1 ? (problems[failed] ?? null) : `${modes[failed]}: ${problems[failed]}`;
}

async function checkBind(
  route: SmppRoute,
  mode: BindMode,
  { clock, random }: Tools,
  milliseconds: number,
): Promise<string | null> {
  const link = new Link({
    route,
    mode,
    clock,
    random,
    dial,
    limits: localRouteLimits(clock),
    report() {},
    // The service would accept these.
    onDeliver: (pdu, session) => session.respond(pdu, statuses.tryAgain),
    onMalformed() {},
    onChange() {},
  });
  let isLate = false;
  const cancel = clock.after(milliseconds, () => {
    isLate = true;
    // Works even if the operator never answers an unbind.
    link.session?.close('it does not answer');
    void link.stop();
  });
  await link.start();
  const { problem } = link;
  const wasLate = isLate;
  await link.stop();
  cancel();
  return problem ?? (wasLate ? 'its operator does not answer' : null);
}
