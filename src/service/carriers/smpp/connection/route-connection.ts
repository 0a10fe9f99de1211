import type { Receipt } from '../../../storage/store.js';
import type { Reservation } from '../../carrier.js';
import { statuses } from '../codec/commands.js';
import type { Pdu } from '../codec/pdu.js';
import { readReceipt } from '../receipts.js';
import { submitIn } from '../submission.js';
import { Link, type LinkParts } from './link.js';
import { responseMs, type Session } from './session.js';
import { RouteWindow } from './window.js';

/** Seconds of its rate that a route takes on, and the most messages. */
const [aheadSeconds, aheadMessages] = [5, 2_000];
/** Milliseconds without a connection after which it counts as down. */
const downMs = 30_000;
/** Receipts that are being stored; more are put off. */
const maxReceipts = 1_000;

type Parts = Omit<LinkParts, 'mode' | 'onDeliver' | 'onChange'> & {
  onReceipt(receipt: Receipt): Promise<void>;
};

/** The connections of a route: messages out, receipts in. */
export class RouteConnection {
  readonly #parts: Parts;
  readonly #links: Link[];
  readonly #window: RouteWindow;
  #submissions = 0;
  #onDrained: () => void = () => {};
  #receipts = 0;
  #isIncomingReported = false;
  #wasUp = false;
  /** When it was up last, on the monotonic clock. */
  #upAt: number;

  constructor(parts: Parts) {
    const { route, clock } = parts;
    this.#parts = parts;
    this.#upAt = clock.monotonic();
    const link = (mode: LinkParts['mode']) =>
      new Link({
        ...parts,
        mode,
        onDeliver: (pdu, session) => this.#deliver(pdu, session),
        onChange: () => this.#change(),
      });
    const binds = Array.from({ length: route.binds });
    const submitting = binds.map(() => link(route.bind === 'transceiver' ? 'transceiver' : 'transmitter'));
    const receiving = route.bind === 'transceiver' ? [] : binds.map(() => link('receiver'));
    this.#links = [...submitting, ...receiving];
    this.#window = new RouteWindow(submitting, parts);
  }

  /** Messages that it takes on. */
  get capacity(): number {
    return this.#window.isUp
      ? Math.min(Math.ceil(this.#parts.route.perSecond * aheadSeconds), aheadMessages)
      : 0;
  }

  get isDown(): boolean {
    return !this.#window.isUp && this.#parts.clock.monotonic() - this.#upAt >= downMs;
  }

  async start(): Promise<void> {
    this.#upAt = this.#parts.clock.monotonic();
    this.#window.open();
    await Promise.all(this.#links.map((link) => link.start()));
  }

  /** Lets what goes out be answered, then unbinds. */
  async stop(): Promise<void> {
    this.#window.close();
    await this.#drained();
    this.#window.abandon();
    await Promise.all(this.#links.map((link) => link.stop()));
  }

  async reserve(isSingle: boolean): Promise<Reservation | null> {
    const room = await this.#window.wait(isSingle ? 'single' : 'batch');
    if (room === null) return null;
    let isHeld = true;
    return {
      submit: async (submission, signal) => {
        this.#submissions += 1;
        try {
          return await submitIn(room, submission, signal, { ...this.#parts, window: this.#window });
        } finally {
          this.#submissions -= 1;
          if (this.#submissions === 0) this.#onDrained();
        }
      },
      release: () => {
        room.release();
        if (isHeld) this.#window.leave();
        isHeld = false;
      },
    };
  }

  #change(): void {
    const { isUp } = this.#window;
    if (isUp || this.#wasUp) this.#upAt = this.#parts.clock.monotonic();
    this.#wasUp = isUp;
    this.#window.change();
  }

  #drained(): Promise<void> {
    if (this.#submissions === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(responseMs, resolve);
      this.#onDrained = () => {
        cancel();
        resolve();
      };
    });
  }

  /** A receipt is acknowledged once it is stored. */
  #deliver(pdu: Pdu, session: Session): void {
    const { route, report, onReceipt } = this.#parts;
    const receipt = readReceipt(pdu, route.receiptId);
    if (receipt === null) this.#reportIncoming();
    if (receipt === null || receipt.state === null || receipt.carrierId === null) {
      session.respond(pdu, statuses.ok);
      return;
    }
    if (this.#receipts >= maxReceipts) {
      session.respond(pdu, statuses.tryAgain);
      return;
    }
    const { carrierId, to, state, reference } = receipt;
    this.#receipts += 1;
    onReceipt({ route: route.name, carrierId, to, state, reference })
      .then(
        () => session.respond(pdu, statuses.ok),
        (error) => {
          report(error, { level: 'warning' });
          session.respond(pdu, statuses.tryAgain);
        },
      )
      .finally(() => {
        this.#receipts -= 1;
      });
  }

  #reportIncoming(): void {
    if (this.#isIncomingReported) return;
    this.#isIncomingReported = true;
    const { route, report } = this.#parts;
    report(new Error(`SMPP route ${route.name} delivers incoming messages, which are not kept`), {
      level: 'warning',
    });
  }
}
