import type { AcceptedRecipient, Content, Store } from '../../../../src/service/storage/store.js';
import { answerOf, claimOf } from '../conformance/fixture.js';
import { byText, type Play, type Side, type World } from './world.js';

export const lanes = ['sms', 'email', 'slow'];
export const routes = ['Mobicom', 'Unitel'];
/** Longer ones would look like a clock that was set back. */
export const delays = [0, 1, 1_000, 15_000, 40_000];

export const recipient = (world: World, to: string): AcceptedRecipient => ({
  id: world.new('message'),
  to,
  operator: world.of(['Mobicom', null]),
  lane: world.of(lanes),
  route: world.of(routes),
});

export const content = (world: World): Content => ({
  text: world.of(['hi', 'a "longer" text\n', null]),
  html: world.of([null, '<p>']),
  subject: world.of([null, 'Subject']),
  from: null,
  replyTo: null,
  encrypted: null,
});

export const common = (world: World) => ({
  projectId: world.project(),
  channel: world.of(['sms', 'email'] as const),
  parts: world.of([1, 3, null]),
  rateMultiplier: world.of([1, 1.5, null]),
  credits: world.of([0, 10, 45]),
  content: content(world),
  idempotencyKey: world.chance(0.4) ? `k${world.below(40)}` : null,
  claim: world.chance(0.4) ? claimOf(world.new('token')) : null,
  boundMs: world.of([15_000, 86_400_000]),
});

export const messageOf = (world: World) => {
  const given = common(world);
  return {
    ...given,
    content: { ...given.content, isBulk: world.chance(0.3) },
    recipient: recipient(world, world.recipient(given.channel)),
    caps: world.of([
      [20, 80],
      [2, 5],
    ]),
    answer: world.chance(0.5) ? answerOf : null,
  };
};

export const page = (world: World, kind: 'message' | 'batch' | 'incoming') => ({
  limit: world.of([1, 3, 50]),
  after: world.chance(0.5) ? world.a(kind) : null,
});

/** In the order of nothing: the engines look through them in their own. */
export const sorted = async (list: Promise<readonly unknown[] | null>) =>
  [...((await list) ?? [])].sort(byText);

/** Every portion, from the first on. */
export async function whole<Portion extends { next: Next | null }, Next>(
  read: (after: Next | null) => Promise<Portion>,
): Promise<Portion[]> {
  const portions = [await read(null)];
  for (let next = portions[0]?.next ?? null; next !== null; next = portions.at(-1)?.next ?? null)
    portions.push(await read(next));
  return portions;
}

export const prunable = async ({ store }: Side, olderMs: number) =>
  (await whole((after: number | null) => store.listPrunable({ olderMs, after: after ?? 0 })))
    .flatMap(({ messages }) => messages)
    .sort(byText);

export const simple =
  <Result>(call: (store: Store) => Promise<Result>): Play =>
  ({ store }) =>
    call(store);

export type Calls<Part> = Record<keyof Part, (world: World) => Play>;
