import { expect, it } from 'vitest';
import { type Outcome, outcomes, type Phase, phases } from '../../../../src/cli/bulk/job/counts.js';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import type { Entry } from '../../../../src/cli/bulk/job/journal/entries.js';
import { JobState as OldState } from './old-fold/job-state.js';
import { everyRequest } from './old-fold/request-details.js';
import { isMoved } from './old-fold/request-states.js';
import { SendTimes } from './old-fold/send-times.js';

const sizes = [3, 1, 1, 5, 1, 2];
const requests = sizes.length;
const recipients = sizes.reduce((sum, size) => sum + size, 0);
const codes = ['rate_limited', 'insufficient_credits', 'provider_failed'];
const times = ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z', 'soon'];
const written = 9_000;
const entriesInAll = Number(process.env.URTUU_FOLD_ENTRIES ?? 1_000_000);

/** mulberry32 */
function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return { below, one: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
type Random = ReturnType<typeof randomOf>;

const idOf = (number: number) =>
  number % 7 === 0
    ? `batch-${number}`
    : `0190b5a0-${String(number % 10_000).padStart(4, '0')}-7abc-8def-${String(number).padStart(12, '0')}`;

const jobTypes = ['job', 'limit', 'account', 'end'] as const;
const requestTypes = [
  ...['send', 'send', 'send', 'accepted', 'accepted', 'accepted', 'progress', 'final', 'final'],
  ...['refused', 'absent', 'unsure', 'alarm', 'removed', 'revised', 'rejected', 'failed', 'moved'],
] as const;

function jobEntry(random: Random): Entry {
  const type = random.one(jobTypes);
  switch (type) {
    case 'job':
      return { type, id: 'july', digest: 'd' };
    case 'limit':
      return { type, credits: random.one([null, 100]) };
    case 'account':
      return { type, hash: 'h', isChecked: random.one([true, false]) };
    case 'end':
      return {
        type,
        at: random.one(times),
        exit: random.below(9),
        balance: random.one([null, 5]),
        rate: random.one([null, 2]),
      };
  }
}

/** An entry of any type; with `isOdd` at any time, else as releases have written them. */
function requestEntry(
  state: JobState,
  random: Random,
  number: number,
  last: Entry | null,
  isOdd: boolean,
): Entry | null {
  const type = random.one(requestTypes);
  const request = random.below(requests);
  const size = sizes[request] ?? 0;
  const phase = state.phase(request);
  const left = size - state.removed(request).size;
  const at = { request, revision: isOdd ? random.below(6) : state.revision(request) };
  const some = Array.from({ length: 1 + random.below(size) }, () => random.below(size));
  const indexes = isOdd ? some : [...new Set(some)];
  const members = indexes.filter((index) => !state.removed(request).has(index));
  const isIn = (...allowed: Phase[]) => isOdd || allowed.includes(phase);
  const isNew = isOdd || (last?.type === 'accepted' && last.request === request && last.kind === 'batch');
  const figures = {
    sent: random.below(8) - 1,
    failed: random.below(6) - 1,
    unknown: random.one([null, 0, 1, 2, 9]),
  };
  switch (type) {
    case 'send':
      return isIn('pending', 'doubt') && left > 0
        ? { type, ...at, recipients: isOdd ? random.below(size + 1) : left }
        : null;
    case 'accepted':
      if (!isIn('doubt')) return null;
      return {
        type,
        ...at,
        id: isOdd ? idOf(random.below(20)) : idOf(number),
        credits: random.one([0, 10, 12.5, 30_000_001]),
        kind: size === 1 ? 'single' : 'batch',
        replayOf: random.one([null, null, '', ...times]),
        acceptedAt: random.one([null, 1_000, 1_767_225_600_000]),
      };
    case 'progress':
      return isIn('accepted', 'alarm') ? { type, request, ...figures } : null;
    case 'final':
      return isIn('accepted', 'alarm')
        ? { type, request, code: random.one([null, ...codes]), ...figures }
        : null;
    case 'refused':
      return isIn('doubt')
        ? { type, ...at, code: random.one(codes), unanswered: random.one([null, 0]) }
        : null;
    case 'absent':
      if (isOdd) return { type, ...at, indexes };
      return isNew && members.length > 0 ? { type, ...at, indexes: members } : null;
    case 'unsure':
      return isNew ? { type, ...at, recipients: random.below(left + 1) } : null;
    case 'alarm':
      return isIn('doubt', 'accepted') ? { type, ...at, reason: 'x' } : null;
    case 'removed':
      if (isOdd) return { type, ...at, indexes };
      return phase === 'doubt' && members.length > 0 ? { type, ...at, indexes: members } : null;
    case 'revised':
      return isIn('doubt', 'failed') ? { type, ...at } : null;
    case 'rejected':
      return isIn('doubt') ? { type, ...at, code: random.one(codes) } : null;
    case 'failed':
      return isIn('doubt')
        ? { type, ...at, code: random.one(codes), id: random.one([null, idOf(number)]) }
        : null;
    case 'moved':
      return isIn('pending', 'accepted', 'rejected', 'failed')
        ? { type, ...at, indexes, recipients: left, job: random.one([null, 'more', 'other']) }
        : null;
    default:
      throw new Error(type);
  }
}

const count = (figure: number) => Math.max(0, figure);

/** What the old fold counts must follow from what it says of each request; after some odd entries it does not. */
function isSane(old: OldState): boolean {
  const sums = Object.fromEntries(outcomes.map((name) => [name, 0])) as Record<Outcome, number>;
  let unanswered = 0;
  let open = 0;
  for (let request = 0; request < requests; request += 1) {
    const phase = old.phase(request);
    const size = old.recipients(request);
    for (const removal of old.removed(request).values()) sums[isMoved(removal) ? 'moved' : 'rejected'] += 1;
    const finals = old.finals.of(request);
    const known = finals.sent + finals.unknown + finals.failed + finals.unsure;
    if (size > 60_000 || known > size) return false;
    if (phase === 'accepted') {
      sums.sent += finals.sent;
      sums.unknown += finals.unknown;
      sums.failed += finals.failed;
      sums.in_doubt += finals.unsure;
      sums.queued += size - known;
    } else if (known > 0) return false;
    if (phase === 'doubt' || phase === 'alarm') sums.in_doubt += size;
    if (phase === 'rejected' || phase === 'failed') sums[phase] += size;
    if (phase === 'doubt') unanswered += size;
    if (old.isOpen(request)) open += 1;
  }
  sums.pending = recipients - outcomes.reduce((sum, name) => sum + sums[name], 0);
  sums.rejected += 2;
  return (
    outcomes.every((name) => sums[name] === old.outcomes[name] && sums[name] >= 0) &&
    unanswered === old.unanswered &&
    open === old.open
  );
}

/** Everything that can be read of a state, in both forms. */
function ofOld(old: OldState, sent: SendTimes, isValid: boolean, ids: readonly string[]) {
  const each = Array.from({ length: requests }, (_, request) => {
    const { id, kind, credits, code, final } = old.details(request);
    const phase = old.phase(request);
    const charged = phase === 'accepted' || phase === 'failed' ? credits : null;
    const figures = phase === 'accepted' &&
      final && { sent: count(final.sent), failed: count(final.failed), unknown: final.unknown };
    return {
      ...{ phase, revision: old.revision(request), recipients: old.recipients(request) },
      removed: [...old.removed(request)],
      ...{ open: old.isOpen(request), failed: old.failed(request), size: old.bodySize(request) },
      status: old.statusOf(request),
      ...{ id, code, charged, final: figures || null, kind: phase === 'accepted' ? kind : null },
      // A code that a later revision has cleared says nothing of why the request is open.
      refusal: code === '' || !old.isOpen(request) || !isValid ? null : old.refusal(request),
      since: [500, 1_000, 5_000, 1e15].map((moment) => sent.isSince(request, moment)),
    };
  });
  return {
    each,
    all: wholeOf(old),
    accepted: isValid
      ? {
          ...{ final: old.final, knows: old.knowsUnknown, elsewhere: old.ranElsewhere, at: old.ranAt },
          batches: [...old.allDetails()]
            .filter(([, { kind }]) => kind === 'batch')
            .map(([request]) => request)
            .sort(),
          by: ids.map((id) => old.requestOfBatch(id)),
        }
      : null,
    active: [500, 5_000, 1e15].map((moment) => sent.isActiveSince(moment)),
  };
}

function ofNew(state: JobState, isValid: boolean, ids: readonly string[]) {
  const each = Array.from({ length: requests }, (_, request) => {
    const phase = state.phase(request);
    return {
      ...{ phase, revision: state.revision(request), recipients: state.recipients(request) },
      removed: [...state.removed(request)],
      ...{ open: state.isOpen(request), failed: state.failed(request), size: state.bodySize(request) },
      status: state.statusOf(request),
      ...{ id: state.idOf(request), code: state.codeOf(request), charged: state.creditsOf(request) },
      final: state.finalOf(request),
      kind: phase === 'accepted' ? state.kindOf(request) : null,
      refusal: (isValid && state.isOpen(request) && state.codeOf(request)) || null,
      since: [500, 1_000, 5_000, 1e15].map((moment) => state.sentAt(request, written) >= moment),
    };
  });
  return {
    each,
    all: wholeOf(state),
    accepted: isValid
      ? {
          ...{
            final: state.final,
            knows: state.knowsUnknown,
            elsewhere: state.ranElsewhere,
            at: state.ranAt,
          },
          batches: [...state.batches()].sort(),
          by: ids.map((id) => state.requestOfBatch(id)),
        }
      : null,
    active: [500, 5_000, 1e15].map((moment) => state.isActiveSince(moment, written)),
  };
}

function wholeOf(state: JobState | OldState) {
  const {
    counts,
    unanswered,
    open,
    finished,
    untouched,
    credits,
    balance,
    ended,
    job,
    limit,
    rate,
    accounts,
    movedTo,
  } = state;
  return {
    ...{ counts, unanswered, open, finished, untouched, credits, balance, ended, job, limit, rate },
    ...{ accounts: [...accounts], movedTo },
    phases: phases.map((phase) => [state.has(phase), state.last(phase), [...state.in(phase)]]),
    first: state.firstOpen(),
  };
}

it.each([
  ['releases write', false],
  ['nobody writes', true],
] as const)(
  'the folds agree on entries as %s them',
  (_, isOdd) => {
    let applied = 0;
    let compared = 0;
    let insane = 0;
    const types: Record<string, number> = {};
    for (let seed = 1; applied < entriesInAll / 2; seed += 1) {
      const random = randomOf(seed + (isOdd ? 1e6 : 0));
      const channel = random.one(['sms', 'email'] as const);
      const plan = { requests, recipients, rejected: 2, channel };
      const state = new JobState(plan);
      const old = new OldState(plan, everyRequest);
      const sent = new SendTimes(requests, written);
      const journal: Entry[] = [];
      const ids: string[] = [];
      const odd = new Set<number>();
      const length = 5 + random.below(isOdd ? 20 : 120);
      const compare = () => {
        if (isOdd && !isSane(old)) return false;
        compared += 1;
        const [before, now] = [ofOld(old, sent, !isOdd, ids), ofNew(state, !isOdd, ids)];
        // No release accepts twice, goes on after an alarm, or reads figures before it knows who is in a batch.
        for (const request of isOdd ? odd : [])
          for (const each of [before.each[request], now.each[request]])
            if (each) Object.assign(each, { id: '', final: null, kind: null });
        if (JSON.stringify(before) !== JSON.stringify(now)) {
          expect({ seed, journal, ...now }).toEqual({ seed, journal, ...before });
        }
        return true;
      };
      for (let step = 0; step < length; step += 1) {
        const entry =
          random.below(20) === 0
            ? jobEntry(random)
            : requestEntry(state, random, seed * 1_000 + step, journal.at(-1) ?? null, isOdd);
        if (entry === null) continue;
        if (entry.type === 'accepted') ids.push(entry.id);
        const isTwice = entry.type === 'accepted' && state.idOf(entry.request) !== '';
        if (isTwice || entry.type === 'alarm' || entry.type === 'unsure') odd.add(entry.request);
        for (const fold of [state, old, sent]) fold.apply(entry);
        journal.push(entry);
        types[entry.type] = (types[entry.type] ?? 0) + 1;
        applied += 1;
        if ((isOdd && !isSane(old)) || (random.below(8) === 0 && !compare())) break;
      }
      if (!compare()) insane += 1;
    }
    process.stderr.write(
      `${applied} entries, ${compared} comparisons, ${insane} ended beyond the old fold: ${JSON.stringify(types)}\n`,
    );
  },
  600_000,
);
