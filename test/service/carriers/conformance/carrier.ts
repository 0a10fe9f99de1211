import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Carrier, everyAttempt, type Submission } from '../../../../src/service/carriers/carrier.js';

/** A carrier under test, with a counterpart that takes everything. */
export interface CarrierUnderTest {
  name: string;
  /** Whether it tells what became of a submission. */
  canInquire: boolean;
  /** Opens handles of one new carrier, as processes that share it have them. */
  open(handles: number): Promise<{
    carriers: readonly Carrier[];
    submission: Pick<Submission, 'channel' | 'route' | 'to' | 'text'>;
    /** References that the counterpart was given, in its order. */
    taken(): Promise<string[]>;
    close(): Promise<void>;
  }>;
}

/** The rules of a carrier: on one handle, and on two whose calls alternate. */
export function carrierConformance(under: CarrierUnderTest): void {
  describe.each([1, 2])(`carrier: ${under.name}, handles: %i`, (handles) => {
    let opened: Awaited<ReturnType<CarrierUnderTest['open']>>;
    let calls = 0;
    const next = () => opened.carriers[calls++ % handles] as Carrier;
    const submit = (reference: string, attempt = 1) => {
      const rest = { subject: null, html: null, from: null, replyTo: null };
      const submission = { reference, attempt, ...opened.submission, ...rest };
      return next().submit(submission, new AbortController().signal);
    };

    beforeEach(async () => {
      opened = await under.open(handles);
      await Promise.all(opened.carriers.map((carrier) => carrier.start(async () => {})));
    });
    afterEach(async () => {
      await Promise.all(opened.carriers.map((carrier) => carrier.stop()));
      await opened.close();
    });

    const itCan = it.runIf(under.canInquire);

    it('has lanes with room, and waits for an unknown outcome for longer than a submission lasts', () => {
      for (const { lanes, capacity, submitMs, doubtMs } of opened.carriers) {
        expect(lanes.length).toBeGreaterThan(0);
        for (const lane of lanes) expect(capacity(lane)).toBeGreaterThan(0);
        expect(doubtMs).toBeGreaterThan(submitMs);
      }
      expect(opened.carriers.every(({ inquire }) => (inquire !== undefined) === under.canInquire)).toBe(true);
    });

    it('takes what is submitted, together and one after the other, each once', async () => {
      const references = Array.from({ length: 50 }, (_, index) => `m${index}`);
      const results = await Promise.all(references.slice(0, 40).map((reference) => submit(reference)));
      for (const reference of references.slice(40)) results.push(await submit(reference));
      expect(results.every(({ kind }) => kind === 'accepted')).toBe(true);
      expect((await opened.taken()).sort()).toEqual(references.sort());
    });

    itCan('tells the fate of a submission', async () => {
      await submit('taken');
      expect(await next().inquire?.('taken', opened.submission.to, 2)).toBe('taken');
      expect(await next().inquire?.('never', opened.submission.to, 2)).toBe('not_taken');
    });

    itCan('never takes an attempt whose fate it was asked for, and takes the next one', async () => {
      expect(await next().inquire?.('m', opened.submission.to, 2)).toBe('not_taken');
      await expect(submit('m', 1)).rejects.toThrow();
      await expect(submit('m', 1)).rejects.toThrow();
      expect(await submit('m', 2)).toMatchObject({ kind: 'accepted' });
      await next().inquire?.('removed', opened.submission.to, everyAttempt);
      await expect(submit('removed', 1_000)).rejects.toThrow();
      expect(await opened.taken()).toEqual(['m']);
    });

    itCan('answers a submission and a question at once in one order', async () => {
      for (let round = 0; round < 20; round += 1) {
        const reference = `r${round}`;
        const [result, fate] = await Promise.all([
          submit(reference).catch(() => null),
          next().inquire?.(reference, opened.submission.to, 2),
        ]);
        expect(fate).toBe(result === null ? 'not_taken' : 'taken');
      }
    });

    it('can be stopped and started again', async () => {
      await Promise.all(opened.carriers.map((carrier) => carrier.stop()));
      await Promise.all(opened.carriers.map((carrier) => carrier.start(async () => {})));
      expect(await submit('after')).toMatchObject({ kind: 'accepted' });
    });
  });
}
