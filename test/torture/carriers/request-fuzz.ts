import type { CarrierRequest } from '../../../src/service/carriers/carrier.js';
import { takeRequest } from '../../../src/service/carriers/http/gateway-requests.js';
import type { Receipt } from '../../../src/service/storage/store.js';
import { gatewayRoute } from '../../service/carriers/http/gateway-routes.js';
import { cpuTime } from '../../support/cpu-time.js';
import { seededRandom } from '../../support/random.js';
import { type FuzzFindings, heapNow } from './pdu-fuzz.js';

type Take = typeof takeRequest;

const slowMs = 250;
const token = 'receipts-0123456789';
const states = { delivered: ['ok', '1'], undelivered: ['failed', '2'] };
const byId = { id: '*.id', reference: null, to: '*.to', state: '*.state', ...states, token, signature: null };
const route = gatewayRoute({ receipts: byId });
const referenced = gatewayRoute({
  receipts: { ...byId, reference: 'ref', id: null, to: null, state: 'state' },
});
const words = [
  '"ok"',
  '"id"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '\u0000',
  '%',
  '*',
  '&',
  '=',
  'я',
  '__proto__',
];
const types = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', ''];

/** Receipts as gateways write them, and what looks like some; `untrue` counts those that say what nobody wrote. */
export async function playRequestFuzz(
  seed: number,
  inputs: number,
  take: Take = takeRequest,
): Promise<FuzzFindings & { untrue: number }> {
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * most);
  const one = <Value>(values: readonly Value[]) => values[upTo(values.length)] as Value;
  const findings = { inputs, crashes: 0, slow: 0, deaf: 0, grown: 0, untrue: 0, example: '' };
  const note = (problem: string, { query, body }: CarrierRequest) => {
    if (findings.example === '')
      findings.example = `${problem} for ${query.slice(0, 100)} ${body.slice(0, 200)}`;
  };
  const before = heapNow();
  for (let input = 0; input < inputs; input += 1) {
    const isReferenced = random() < 0.3;
    const items = Array.from({ length: 1 + upTo(3) }, () => ({
      id: `g${upTo(1_000)}`,
      to: one(['97699112233', '+97699112234', '99112235']),
      state: one(['ok', 1, 'failed', 2, 'queued', 8]),
    }));
    const [first] = items as [(typeof items)[0]];
    let [query, body] = isReferenced ? [`ref=m1&state=${first.state}`, ''] : ['', JSON.stringify(items)];
    const isChanged = random() < 0.5;
    for (let changes = isChanged ? 1 + upTo(4) : 0; changes > 0; changes -= 1) {
      const text = isReferenced ? query : body;
      const at = upTo(text.length);
      const changed = text.slice(0, at) + one(words).repeat(1 + upTo(3)) + text.slice(at + upTo(8));
      if (isReferenced) query = changed;
      else body = changed;
    }
    if (isChanged && random() < 0.0005) body = one(words).repeat(30_000).slice(0, 65_536);
    const type = isChanged ? one(types) : 'application/json';
    const isMeant = random() < 0.98;
    const request = {
      of: 'receipts',
      route: 'gateway',
      token: isMeant ? token : `${token}${one(['x', ' ', '\u0000'])}`,
      query,
      type,
      body,
    } as const;
    const receipts: Receipt[] = [];
    const started = cpuTime();
    try {
      const isTaken = await take(isReferenced ? referenced : route, request, {
        recipientOf: async (id) => (id === 'm1' ? '99112233' : null),
        onReceipt: async (receipt) => void receipts.push(receipt),
        onIncoming: async () => {},
      });
      const known = (state: unknown) => [...states.delivered, ...states.undelivered].includes(String(state));
      const written = isReferenced ? [{ ...first, id: 'm1', to: '99112233' }] : items;
      const expected = written
        .filter(({ state }) => known(state))
        .map(({ id, to, state }) => {
          const is = states.delivered.includes(String(state)) ? 'delivered' : 'undelivered';
          return `${id} ${to.slice(-8)} ${is}`;
        });
      const read = receipts.map(({ carrierId, to, state }) => `${carrierId} ${to} ${state}`);
      const isTrue = isChanged
        ? read.every((line) => /^[^\p{Cc}]{1,600}$/u.test(line)) && (isMeant || read.length === 0)
        : `${read}` === `${isMeant ? expected : []}`;
      if (isTaken !== (isMeant ? true : null) || !isTrue) {
        findings.untrue += 1;
        note(`${isTaken} ${read}`, request);
      }
    } catch (error) {
      findings.crashes += 1;
      note(String(error), request);
    }
    if (cpuTime() - started > slowMs) {
      findings.slow += 1;
      note('slow', request);
    }
  }
  findings.grown = Math.max(0, Math.round((heapNow() - before) / 1_000_000));
  return findings;
}

/** A control: it looks at no token. */
export const trustful: Take = (of, request, tools) => takeRequest(of, { ...request, token }, tools);
