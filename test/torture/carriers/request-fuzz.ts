import type { CarrierRequest } from '../../../src/service/carriers/carrier.js';
import { takeRequest } from '../../../src/service/carriers/http/gateway-requests.js';
import type { Receipt } from '../../../src/service/storage/store.js';
import { gatewayRoute } from '../../service/carriers/http/gateway-routes.js';
import { changedText, type Dice, playInputs } from './fuzz-inputs.js';

type Take = typeof takeRequest;

const token = 'receipts-0123456789';
const states = { delivered: ['ok', '1'], undelivered: ['failed', '2'] };
const byId = {
  id: '*.id',
  reference: null,
  to: '*.to',
  state: '*.state',
  code: '*.code',
  ...states,
  token,
  signature: null,
};
const route = gatewayRoute({ receipts: byId });
const referenced = gatewayRoute({
  receipts: { ...byId, reference: 'ref', id: null, to: null, state: 'state', code: null },
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

function requestOf(dice: Dice) {
  const { random, upTo, one } = dice;
  const isReferenced = random() < 0.3;
  const items = Array.from({ length: 1 + upTo(3) }, () => ({
    id: `g${upTo(1_000)}`,
    to: one(['97699112233', '+97699112234', '99112235']),
    state: one(['ok', 1, 'failed', 2, 'queued', 8]),
  }));
  const [first] = items as [(typeof items)[0]];
  let [query, body] = isReferenced ? [`ref=m1&state=${first.state}`, ''] : ['', JSON.stringify(items)];
  const isChanged = random() < 0.5;
  if (isChanged && isReferenced) query = changedText(query, words, dice);
  else if (isChanged) body = changedText(body, words, dice);
  if (isChanged && random() < 0.0005) body = one(words).repeat(30_000).slice(0, 65_536);
  const type = isChanged ? one(types) : 'application/json';
  const isMeant = random() < 0.98;
  const request: CarrierRequest = {
    of: 'receipts',
    route: 'gateway',
    token: isMeant ? token : `${token}${one(['x', ' ', '\u0000'])}`,
    query,
    type,
    body,
  };
  const written = isReferenced ? [{ ...first, id: 'm1', to: '99112233' }] : items;
  return { isReferenced, isChanged, isMeant, request, written };
}

/** Receipts as gateways write them, and what looks like some; `untrue` counts those that say what nobody wrote. */
export function playRequestFuzz(seed: number, inputs: number, take: Take = takeRequest) {
  const known = (state: unknown) => [...states.delivered, ...states.undelivered].includes(String(state));
  const wrongIn = async (given: ReturnType<typeof requestOf>) => {
    const { isReferenced, isChanged, isMeant, request, written } = given;
    const receipts: Receipt[] = [];
    const isTaken = await take(isReferenced ? referenced : route, request, {
      recipientOf: async (id) => (id === 'm1' ? '99112233' : null),
      onReceipt: async (receipt) => void receipts.push(receipt),
      onIncoming: async () => {},
    });
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
    return isTaken === (isMeant ? true : null) && isTrue ? null : `${isTaken} ${read}`;
  };
  return playInputs(
    seed,
    inputs,
    requestOf,
    wrongIn,
    ({ request }) => `${request.query.slice(0, 100)} ${request.body}`,
  );
}

/** A control: it looks at no token. */
export const trustful: Take = (of, request, tools) => takeRequest(of, { ...request, token }, tools);
