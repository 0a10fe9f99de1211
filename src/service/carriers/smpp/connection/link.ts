import type { Duplex } from 'node:stream';
import { atMost, type Clock } from '../../../clock.js';
import { type Random, randomInteger } from '../../../random.js';
import type { Report } from '../../../report.js';
import { statuses, writtenStatus } from '../codec/commands.js';
import { noOptions, type Pdu } from '../codec/pdu.js';
import type { Bind, RouteLimits } from '../limits.js';
import type { SmppRoute } from '../route-settings.js';
import { responseMs, Session } from './session.js';

export type BindMode = 'transceiver' | 'transmitter' | 'receiver';

export interface LinkParts {
  route: SmppRoute;
  mode: BindMode;
  clock: Clock;
  random: Random;
  limits: RouteLimits;
  /** Opens a connection; calls `onConnected` once it is open, with TLS if the route uses it. */
  dial(route: SmppRoute, onConnected: () => void): Duplex;
  report: Report;
  onDeliver(pdu: Pdu, session: Session): void;
  /** A receipt or a message was malformed, and refused. */
  onMalformed(): void;
  /** It was bound, was lost, or may have room. */
  onChange(): void;
}

/** The shortest and longest milliseconds between attempts to connect. */
const shortestPause = 1_000;
const longestPause = 60_000;
/** While no bind is available: other instances have them all, or the next one is not due yet. */
const bindPause = 5_000;
const interfaceVersion = 0x34;
/** A connection that lasted this long, or carried anything, was good: the next one is opened soon. */
const goodMs = 30_000;

/** Keeps one connection of a route bound, with a new session whenever one is lost. */
export class Link {
  readonly #parts: LinkParts;
  /** Submissions of the session without an answer. */
  inFlight = 0;
  #session: Session | null = null;
  #bind: Bind | null = null;
  /** The session that is not bound yet. */
  #opening: Session | null = null;
  #isStopped = true;
  #resume: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #problem: string | null = null;
  /** Problems reported since the last good connection. */
  readonly #reported = new Set<string>();

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** The bound session; null without one. */
  get session(): Session | null {
    return this.#session;
  }

  /** Whether submissions may begin. */
  get isOpen(): boolean {
    return this.#session?.isUsable === true && this.#bind?.mayBegin() === true;
  }

  /** Whether a session can be used for a submission: a paused process may have lost its bind. */
  isUsable(session: Session): boolean {
    return session === this.#session && session.isUsable && this.#bind?.isHeld() === true;
  }

  /** Why it is not bound; null if it is. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Resolves when the first attempt has ended, successful or not. */
  start(): Promise<void> {
    this.#isStopped = false;
    return new Promise((onTried) => {
      this.#running = this.#run(onTried);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#resume();
    this.#opening?.close('stopped');
    await this.#session?.unbind();
    await this.#running;
  }

  async #run(onTried: () => void): Promise<void> {
    let failures = 0;
    while (!this.#isStopped) {
      const bind = await this.#takeBind();
      if (bind === null) {
        onTried();
        await this.#pause(bindPause);
        continue;
      }
      this.#bind = bind;
      // It may have been stopped meanwhile.
      const wasGood = !this.#isStopped && (await this.#connect(onTried));
      this.#bind = null;
      await bind.release().catch((error) => this.#parts.report(error, { level: 'warning' }));
      failures = wasGood ? 0 : failures + 1;
      if (!this.#isStopped) await this.#pause(this.#pauseAfter(failures));
    }
    onTried();
  }

  async #takeBind(): Promise<Bind | null> {
    const { limits, route, mode, report } = this.#parts;
    try {
      return await limits.takeBind({ lane: route.name, mode, binds: route.binds }, () => this.#changeBind());
    } catch (error) {
      report(error, { level: 'warning' });
      return null;
    }
  }

  #changeBind(): void {
    if (this.#bind?.isHeld() === false)
      (this.#session ?? this.#opening)?.close('its bind could not be renewed');
    this.#parts.onChange();
  }

  /** Resolves when the connection has ended, with whether it was good. */
  #connect(onTried: () => void): Promise<boolean> {
    const { route, mode, clock, dial, onChange, onDeliver, onMalformed } = this.#parts;
    return new Promise((resolve) => {
      let boundAt: number | null = null;
      const cancelTimeout = clock.after(responseMs, () => session.close('it cannot be reached'));
      const onConnected = async () => {
        cancelTimeout();
        const request = session.request(`bind_${mode}`, bindFields(route, mode), noOptions, () =>
          session.close('its operator does not answer'),
        );
        const answer = await request.catch(() => null);
        if (answer === null || session.isClosed) return;
        if (answer.command === 'generic_nack' || answer.status !== statuses.ok) {
          session.close(bindProblem(answer.status));
          return;
        }
        boundAt = clock.monotonic();
        this.#opening = null;
        this.inFlight = 0;
        this.#session = session;
        this.#problem = null;
        onTried();
        onChange();
      };
      const socket = dial(route, () => void onConnected());
      const session: Session = new Session(socket, clock, route.enquireMs, {
        onRequest: (pdu) => onDeliver(pdu, session),
        onMalformed,
        onProgress: onChange,
        onClosed: (reason) => {
          cancelTimeout();
          this.#opening = null;
          this.#session = null;
          const lasted = boundAt !== null && clock.monotonic() - boundAt >= goodMs;
          const wasGood = lasted || session.hasCarried;
          if (wasGood) this.#reported.clear();
          if (this.#bind?.isGivenBack !== true) this.#reportOnce(reason);
          onTried();
          onChange();
          resolve(wasGood);
        },
      });
      this.#opening = session;
    });
  }

  #reportOnce(problem: string): void {
    if (this.#isStopped) return;
    this.#problem = problem;
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    const { route, mode, report } = this.#parts;
    report(new Error(`SMPP route ${route.name} (${mode}) is not connected: ${problem}`), {
      level: 'warning',
    });
  }

  #pauseAfter(failures: number): number {
    const longest = Math.min(shortestPause * 2 ** (failures + 1), longestPause);
    return shortestPause + randomInteger(this.#parts.random, longest - shortestPause + 1);
  }

  #pause(milliseconds: number): Promise<void> {
    const resumed = new Promise<void>((resolve) => {
      this.#resume = resolve;
      if (this.#isStopped) resolve();
    });
    return atMost(this.#parts.clock, milliseconds, resumed);
  }
}

function bindFields(route: SmppRoute, mode: BindMode): Pdu['fields'] {
  return {
    system_id: route.systemId,
    password: route.password,
    system_type: route.systemType,
    interface_version: interfaceVersion,
    // A transmitter receives nothing.
    address_range: mode === 'transmitter' ? '' : route.addressRange,
  };
}

function bindProblem(status: number): string {
  const code = writtenStatus(status);
  return status === statuses.invalidPassword
    ? `its operator refused the password (${code})`
    : `its operator refused to bind (${code})`;
}
