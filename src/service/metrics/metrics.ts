import pkg from '../../../package.json' with { type: 'json' };
import { serviceErrors } from '../../contract/index.js';
import {
  type Carrier,
  type CarrierFigures,
  type CarrierRequest,
  emailRoute,
  type Submission,
  type SubmitResult,
  type Unread,
} from '../carriers/carrier.js';
import type { SeenRequest } from '../service.js';
import type { Ended, LaneConnection, LaneTrouble } from '../storage/instances.js';
import type { Storage } from '../storage/storage.js';
import type { Store, VerificationResult } from '../storage/store.js';
import { EventLoopDelay } from './event-loop-delay.js';
import { Counter, type Family, Histogram, quotedLabel, writeSeries } from './families.js';
import { type LookedAtStore, StoreFigures } from './store-figures.js';
import { type Method, wrapped } from './wrapped.js';

/** Looked at with each reading. */
export interface Sources {
  heartbeat: { connections: LaneConnection[] };
  store: LookedAtStore;
}

/** Methods of the store whose time tells how it is doing: those that every message needs. */
const timedMethods: ReadonlySet<PropertyKey> = new Set<keyof Store>([
  'acceptMessage',
  'acceptBatch',
  'acceptVerification',
  'claimMessages',
  'markSubmitting',
  'finalizeMessages',
]);

const channels = ['sms', 'email'] as const;
const results = ['accepted', 'later', 'refused', 'unknown'] as const satisfies readonly (
  | SubmitResult['kind']
  | 'unknown'
)[];
const paths = ['receipts', 'incoming'] as const satisfies readonly CarrierRequest['of'][];
const unread = ['body', 'fields', 'state'] as const satisfies readonly Unread[];

/** Counts and measures of one service object since its start, as Prometheus reads them. */
export class Metrics {
  readonly #requests = new Histogram(
    'urtuu_http_request_duration_seconds',
    'Time until the answer, by route and status.',
  );
  readonly #refusals = new Counter('urtuu_refusals_total', 'Refused requests by error code.');
  readonly #shed = new Counter(
    'urtuu_connections_shed_total',
    'Connections closed with an unfinished request or answered with 503 because the limit was reached.',
  );
  readonly #finalized = new Counter(
    'urtuu_messages_total',
    'Messages with an outcome, by channel and status.',
  );
  readonly #unknown = new Counter(
    'urtuu_unknown_deliveries_total',
    'Sent messages that may not have arrived, by channel.',
  );
  readonly #submitted = new Histogram(
    'urtuu_submit_duration_seconds',
    'Time of a submission, by route and result.',
  );
  readonly #notFound = new Counter(
    'urtuu_gateway_requests_not_found_total',
    'Requests of gateways that got 404, by path.',
  );
  readonly #unread = new Counter(
    'urtuu_gateway_requests_unread_total',
    'Receipts and incoming messages that changed nothing, by path, route and reason.',
  );
  /** The same, by route. */
  readonly #unreadBy = new Map<string, Partial<Record<Unread, number>>>();
  readonly #beyondParts = new Counter(
    'urtuu_segments_beyond_parts_total',
    'Segments beyond the parts that are charged, by route.',
  );
  readonly #verifications = new Counter(
    'urtuu_verifications_total',
    'Verifications created, and checks of their codes, by result.',
  );
  readonly #receipts = new Counter('urtuu_receipts_total', 'Receipts of carriers by state.');
  readonly #store = new Histogram('urtuu_store_duration_seconds', 'Time of the store, by operation.');
  readonly #families: readonly Family[] = [
    this.#requests,
    this.#refusals,
    this.#shed,
    this.#finalized,
    this.#unknown,
    this.#submitted,
    this.#receipts,
    this.#verifications,
    this.#notFound,
    this.#unread,
    this.#beyondParts,
    this.#store,
  ];
  readonly #ofStore = new StoreFigures();
  readonly #delay = new EventLoopDelay();

  constructor() {
    // Shown before the first: the increase of a counter that appears with 1 is 0.
    this.#shed.add('', 0);
    for (const path of paths) this.#notFound.add(`path="${path}"`, 0);
    for (const code of Object.keys(serviceErrors)) this.#refusals.add(`code="${code}"`, 0);
    for (const channel of channels) {
      this.#unknown.add(`channel="${channel}"`, 0);
      for (const status of ['sent', 'failed'])
        this.#finalized.add(`channel="${channel}",status="${status}"`, 0);
    }
    for (const state of ['delivered', 'undelivered']) this.#receipts.add(`state="${state}"`, 0);
    for (const operation of ['admit', ...timedMethods]) this.#store.begin(`operation="${String(operation)}"`);
    for (const result of ['created', 'verified', 'wrong']) this.#verifications.add(`result="${result}"`, 0);
  }

  request({ method, route, status, code, ms }: SeenRequest): void {
    // Methods and paths of strangers would make a series each.
    const name = route === null ? 'other' : `${method} ${route}`;
    this.#requests.observe(`route="${name}",status="${status ?? 'dropped'}"`, ms);
    if (code !== null) this.#refusals.add(`code="${code}"`);
  }

  shed(): void {
    this.#shed.add('');
  }

  notFound(of: CarrierRequest['of']): void {
    this.#notFound.add(`path="${of}"`);
  }

  unread(of: CarrierRequest['of'], route: string, reason: Unread): void {
    this.#unread.add(`path="${of}",route="${quotedLabel(route)}",reason="${reason}"`);
    const counts = this.#unreadBy.get(route) ?? {};
    this.#unreadBy.set(route, { ...counts, [reason]: (counts[reason] ?? 0) + 1 });
  }

  readonly #figures: CarrierFigures = {
    unread: (...given) => this.unread(...given),
    beyondParts: (route, segments) => this.#beyondParts.add(`route="${quotedLabel(route)}"`, segments),
  };

  /** The same parts, measured. */
  readonly wrappers = {
    admit:
      (admit: Storage['admit']): Storage['admit'] =>
      (admission) =>
        this.#timed('admit', admit(admission)),
    onEnded: (ended: readonly Ended[]): void => {
      for (const { channel, status, isUnknown, count } of ended) {
        this.#finalized.add(`channel="${channel}",status="${status}"`, count);
        if (isUnknown) this.#unknown.add(`channel="${channel}"`, count);
      }
    },
    unreadOf: (lane: string) => this.#unreadBy.get(lane) ?? {},
    store: (store: Store): Store =>
      wrapped(store, (name, method) => this.#verification(name, this.#measured(name, method) ?? method)),
    carriers: (carriers: readonly Carrier[]): readonly Carrier[] =>
      carriers.map((carrier) => this.#carrier(carrier)),
  };

  /** In the text format of Prometheus. Without the queue while the store does not answer. */
  async read({ heartbeat, store }: Sources): Promise<string> {
    const ofStore = await this.#ofStore.write(store);
    return this.#write(heartbeat.connections) + ofStore;
  }

  #write(connections: readonly LaneConnection[]): string {
    const lanes = connections.map(
      ({ lane, state }) =>
        [`lane="${quotedLabel(lane)}",state="${state}"`, state === 'down' ? 0 : 1] as const,
    );
    return [
      writeSeries('urtuu_info', 'gauge', 'The version.', [[`version="${pkg.version}"`, 1]]),
      ...this.#families.map((family) => family.write()),
      writeSeries('urtuu_carrier_connected', 'gauge', 'Lanes of carriers; 0 for one that is down.', lanes),
      writeSeries(
        'urtuu_lane_slow_seconds',
        'gauge',
        'Seconds that a carrier has slowed down a lane or a project on it, by state and last answer.',
        connections.flatMap(({ lane, troubles = [] }) => troubles.map((one) => slowSeries(lane, one))),
      ),
      this.#delay.write(),
      writeSeries('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [
        ['', process.memoryUsage.rss()],
      ]),
    ].join('');
  }

  close(): void {
    this.#delay.close();
  }

  #verification(name: PropertyKey, method: Method): Method {
    const count = (result: string) => this.#verifications.add(`result="${result}"`);
    if (name === 'acceptVerification')
      return async (...args) => {
        const result = (await method(...args)) as VerificationResult;
        if (result.kind === 'accepted') count('created');
        return result;
      };
    if (name !== 'checkVerification') return method;
    return async (...args) => {
      const checked = (await method(...args)) as Awaited<ReturnType<Store['checkVerification']>>;
      if (checked?.tried) count(checked.verification.status === 'verified' ? 'verified' : 'wrong');
      return checked;
    };
  }

  #measured(name: PropertyKey, method: Method): Method | null {
    if (!timedMethods.has(name)) return null;
    return (...args) => this.#timed(String(name), method(...args) as Promise<unknown>);
  }

  async #timed<Result>(operation: string, work: Promise<Result>): Promise<Result> {
    const start = performance.now();
    try {
      return await work;
    } finally {
      this.#store.observe(`operation="${operation}"`, performance.now() - start);
    }
  }

  /** The series of a carrier's routes: each of a real carrier is a lane. */
  #begin({ kind, lanes, take }: Carrier): void {
    if (kind !== undefined) return;
    for (const lane of lanes) {
      const route = `route="${quotedLabel(lane)}"`;
      for (const result of results) this.#submitted.begin(`${route},result="${result}"`);
      if (lane === emailRoute) continue;
      // SMPP, which has no requests.
      if (take === undefined) this.#beyondParts.add(route, 0);
      for (const path of take === undefined ? (['receipts'] as const) : paths)
        for (const reason of unread) this.#unread.add(`path="${path}",${route},reason="${reason}"`, 0);
    }
  }

  #carrier(carrier: Carrier): Carrier {
    this.#begin(carrier);
    const submit =
      (send: Method): Method =>
      async (submission, ...rest) => {
        const { route } = submission as Submission;
        const start = performance.now();
        let result: SubmitResult['kind'] | 'unknown' = 'unknown';
        try {
          const given = (await send(submission, ...rest)) as SubmitResult;
          result = given.kind;
          return given;
        } finally {
          const labels = `route="${quotedLabel(route)}",result="${result}"`;
          this.#submitted.observe(labels, performance.now() - start);
        }
      };
    return wrapped(carrier, (name, method) => {
      if (name === 'submit') return submit(method);
      if (name === 'start') {
        const start = method as Carrier['start'];
        return (...args) => {
          const [onReceipt, onIncoming] = args as Parameters<Carrier['start']>;
          const counted: typeof onReceipt = (receipt) => {
            this.#receipts.add(`state="${receipt.state}"`);
            return onReceipt(receipt);
          };
          return start(counted, onIncoming, this.#figures);
        };
      }
      if (name !== 'reserve') return null;
      return async (...args) => {
        const reservation = await (method as NonNullable<Carrier['reserve']>)(...(args as [string, boolean]));
        // With all that it has: a request may be kept, to be repeated.
        return reservation && wrapped(reservation, (name, each) => (name === 'submit' ? submit(each) : null));
      };
    });
  }
}

function slowSeries(lane: string, { project, state, code, forMs }: LaneTrouble): readonly [string, number] {
  const labels = Object.entries({ lane, project: project ?? '', state, code });
  return [labels.map(([name, value]) => `${name}="${quotedLabel(value)}"`).join(','), forMs / 1_000];
}
