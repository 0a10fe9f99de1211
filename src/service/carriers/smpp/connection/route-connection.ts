import { atMost } from '../../../clock.js';
import type { Receipt } from '../../../storage/store.js';
import type { CarrierFigures, Incoming, Reservation } from '../../carrier.js';
import { statuses } from '../codec/commands.js';
import type { Pdu } from '../codec/pdu.js';
import { readIncoming } from '../incoming.js';
import { readReceipt } from '../receipts.js';
import { segmentsBeyondParts } from '../segments.js';
import { notConnected, submitIn } from '../submission.js';
import { Link, type LinkParts } from './link.js';
import { responseMs, type Session } from './session.js';
import { RouteWindow } from './window.js';

/** Milliseconds without a connection after which the route counts as down. */
const downMs = 30_000;
/** Receipts and messages being stored; further ones are refused for now. */
const maxDelivered = 1_000;

type Parts = Omit<LinkParts, 'mode' | 'onDeliver' | 'onMalformed' | 'onChange'> & {
  onReceipt(receipt: Receipt): Promise<void>;
  onIncoming(incoming: Incoming): Promise<void>;
  figures: CarrierFigures;
};

/** The connections of a route: messages out, receipts in. */
export class RouteConnection {
  readonly #parts: Parts;
  readonly #links: Link[];
  readonly window: RouteWindow;
  readonly #underWay = new Set<Promise<unknown>>();
  #delivered = 0;
  #wasUp = false;
  /** When it was last up, on the monotonic clock. */
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
        onMalformed: () => parts.figures.unread('receipts', route.name, 'body'),
        onChange: () => this.#change(),
      });
    const binds = Array.from({ length: route.binds });
    const submitting = binds.map(() => link(route.bind === 'transceiver' ? 'transceiver' : 'transmitter'));
    const receiving = route.bind === 'transceiver' ? [] : binds.map(() => link('receiver'));
    this.#links = [...submitting, ...receiving];
    this.window = new RouteWindow(submitting, parts);
  }

  get isDown(): boolean {
    return !this.window.isOpen && this.#parts.clock.monotonic() - this.#upAt >= downMs;
  }

  async start(): Promise<void> {
    this.#upAt = this.#parts.clock.monotonic();
    this.window.open();
    await Promise.all(this.#links.map((link) => link.start()));
  }

  /** Waits for answers to what was sent, then unbinds. */
  async stop(): Promise<void> {
    this.window.drain();
    await atMost(this.#parts.clock, responseMs, Promise.allSettled(this.#underWay));
    this.window.close();
    await Promise.all(this.#links.map((link) => link.stop()));
  }

  async reserve(isSingle: boolean): Promise<Reservation | null> {
    const room = await this.window.wait(isSingle ? 'single' : 'batch');
    if (room === null) return null;
    let isHeld = true;
    return {
      submit: async (submission, signal) => {
        // It may have stopped since, and nothing would answer a new submission.
        if (!this.window.isOpen) return notConnected(this.#parts.route.name);
        const submitting = submitIn(room, submission, signal, { ...this.#parts, window: this.window });
        this.#underWay.add(submitting);
        const result = await submitting.finally(() => this.#underWay.delete(submitting));
        if (result.kind === 'accepted') this.#countSegments(submission.text ?? '');
        return result;
      },
      release: () => {
        room.release();
        if (isHeld) this.window.leave();
        isHeld = false;
      },
    };
  }

  #countSegments(text: string): void {
    const { route, figures } = this.#parts;
    const beyond = segmentsBeyondParts(text, route.alphabet);
    if (beyond > 0) figures.beyondParts(route.name, beyond);
  }

  #change(): void {
    const { isOpen: isUp } = this.window;
    if (isUp || this.#wasUp) this.#upAt = this.#parts.clock.monotonic();
    this.#wasUp = isUp;
    this.window.serve();
  }

  /** Acknowledges a receipt or an incoming message once it is stored. */
  #deliver(pdu: Pdu, session: Session): void {
    if (this.#delivered >= maxDelivered) {
      session.respond(pdu, statuses.tryAgain);
      return;
    }
    this.#delivered += 1;
    this.#store(pdu)
      .then(
        () => session.respond(pdu, statuses.ok),
        (error) => {
          this.#parts.report(error, { level: 'warning' });
          session.respond(pdu, statuses.tryAgain);
        },
      )
      .finally(() => {
        this.#delivered -= 1;
      });
  }

  async #store(pdu: Pdu): Promise<void> {
    const { route, onReceipt, onIncoming, figures } = this.#parts;
    const receipt = readReceipt(pdu, route.receiptId);
    if (receipt === null) return onIncoming({ route: route.name, ...readIncoming(pdu, route.alphabet) });
    const { carrierId, state, unread, ...rest } = receipt;
    if (unread !== null) figures.unread('receipts', route.name, unread);
    if (state !== null && carrierId !== null)
      await onReceipt({ ...rest, route: route.name, carrierId, state });
  }
}
