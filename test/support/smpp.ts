import type { Carrier, Incoming, Submission } from '../../src/service/carriers/carrier.js';
import { dial } from '../../src/service/carriers/smpp/connection/dial.js';
import { localRouteLimits } from '../../src/service/carriers/smpp/limits.js';
import type { SmppRoute } from '../../src/service/carriers/smpp/route-settings.js';
import { type SmppParts, smppCarrier } from '../../src/service/carriers/smpp/smpp.js';
import { ManualClock } from '../../src/service/clock.js';
import { seededRandom } from '../../src/service/random.js';
import type { Receipt } from '../../src/service/storage/store.js';

export function routeTo(port: number, changes: Partial<SmppRoute> = {}): SmppRoute {
  return {
    name: 'Mobicom',
    host: '127.0.0.1',
    port,
    tls: false,
    systemId: 'urtuu',
    password: 'secret',
    systemType: '',
    addressRange: '',
    serviceType: '',
    bind: 'transceiver',
    binds: 1,
    source: '139911',
    sourceTon: 3,
    sourceNpi: 0,
    destTon: 1,
    destNpi: 1,
    numberForm: 'international',
    segments: 'udh',
    validityMs: 86_400_000,
    validityFormat: 'relative',
    alphabet: 'gsm',
    receiptId: 'same',
    permanent: [],
    temporary: [],
    window: 10,
    perSecond: 1_000_000,
    enquireMs: 30_000,
    hasTlvs: true,
    prefixes: ['99'],
    fallback: [],
    links: true,
    inboxProject: null,
    ...changes,
  };
}

export function submissionOf(reference: string, changes: Partial<Submission> = {}): Submission {
  return {
    reference,
    attempt: 1,
    channel: 'sms',
    route: 'Mobicom',
    to: '99112233',
    text: 'Hi',
    subject: null,
    html: null,
    from: null,
    replyTo: null,
    ...changes,
  };
}

/** Lets the sockets of this process exchange what they have, until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tick = 0; tick < 20_000; tick += 1) {
    if (holds()) return;
    await new Promise(setImmediate);
  }
  throw new Error('it never holds');
}

/** A carrier on a clock that the test moves; connections are real. */
export class SmppDesk {
  readonly clock: ManualClock;
  readonly receipts: Receipt[] = [];
  readonly incoming: Incoming[] = [];
  readonly reported: string[] = [];
  /** What storing a receipt or a message does. */
  store: (receipt: Receipt | Incoming) => Promise<void> = async () => {};
  readonly carrier: Carrier;

  constructor(routes: readonly SmppRoute[], parts: Partial<SmppParts> & { clock?: ManualClock } = {}) {
    this.clock = parts.clock ?? new ManualClock(Date.UTC(2026, 10, 22));
    this.carrier = smppCarrier({
      routes,
      clock: this.clock,
      random: seededRandom('smpp'),
      limits: localRouteLimits(this.clock),
      report: (error) => void this.reported.push((error as Error).message),
      dial,
      ...parts,
    });
  }

  start(): Promise<void> {
    return this.carrier.start(
      async (receipt) => {
        await this.store(receipt);
        this.receipts.push(receipt);
      },
      async (incoming) => {
        await this.store(incoming);
        this.incoming.push(incoming);
      },
    );
  }

  submit(reference: string, changes: Partial<Submission> = {}, signal = new AbortController().signal) {
    return this.carrier.submit(submissionOf(reference, changes), signal);
  }

  /** Lets time pass a step at a time, and the sockets exchange what they have, until something holds. */
  async pass(holds: () => boolean, step = 250, longest = 600_000): Promise<number> {
    for (let passed = 0; passed <= longest; passed += step) {
      for (let tick = 0; tick < 30; tick += 1) {
        if (holds()) return passed;
        await new Promise(setImmediate);
      }
      this.clock.advance(step);
    }
    throw new Error('it never holds');
  }

  /** `stop`, whose waits for answers end with the time. */
  async stop(): Promise<void> {
    let isStopped = false;
    void this.carrier.stop().then(() => {
      isStopped = true;
    });
    await this.pass(() => isStopped);
  }
}
