import { recipients } from '../people.js';

export type Path = '/sms' | '/sms/bulk' | '/email' | '/email/bulk';

/** One send that a customer wants done once. */
export interface Task {
  path: Path;
  body: Record<string, unknown>;
  /** Who sends it: an index into the projects. */
  project: number;
  idempotencyKey: string;
  /** Messages that have to arrive, and those that no operator takes. */
  arrive: number;
  refused: number;
  /** Credits, after refunds. */
  cost: number;
}

/** Answered finally: accepted, or not accepted by the operator. */
export interface Acknowledgement {
  task: Task;
  status: number;
  body: Record<string, unknown>;
  /** When, in milliseconds of `performance.now()`. */
  at: number;
}

/** What is due of a single SMS that was over its 15 s: where it failed, nothing may have been delivered or charged. */
export function dueOverTime(one: Acknowledgement): Acknowledgement {
  const { task, status } = one;
  if (task.path !== '/sms' || status !== 502) return one;
  return { ...one, task: { ...task, arrive: 0, refused: 1, cost: 0 } };
}

const refused = '99000001';
/** The first submission of each message to it is lost. */
export const lostOnce = '99000008';
/** Numbers whose submission goes wrong but has to arrive once; caps allow few of them. */
const difficult = ['99000006', lostOnce];
const prices = { sms: 10, email: 2 };

export interface TaskMaker {
  next(): Task;
}

/** Singles and batches, SMS and email, for recipients nobody had before. */
export function taskMaker(projects: number, random: () => number, batchSize = 20): TaskMaker {
  let made = 0;
  let people = 0;
  const difficulties = new Map<string, number>();
  const take = (count: number) => {
    people += count;
    return recipients(people - count, count);
  };
  const addresses = (count: number) => take(count).map((number) => `p${number}@example.mn`);

  function single(project: number): Pick<Task, 'path' | 'body' | 'arrive' | 'refused' | 'cost'> {
    const text = made % 3 === 0 ? 'Сайн байна уу' : 'Hello';
    const chance = random();
    if (chance < 0.05) {
      return { path: '/sms', body: { to: refused, text }, arrive: 0, refused: 1, cost: 0 };
    }
    const hard = difficult[Math.floor(random() * difficult.length)] ?? '';
    const used = difficulties.get(`${project} ${hard}`) ?? 0;
    if (chance < 0.1 && used < 5) {
      difficulties.set(`${project} ${hard}`, used + 1);
      return { path: '/sms', body: { to: hard, text }, arrive: 1, refused: 0, cost: prices.sms };
    }
    return { path: '/sms', body: { to: take(1)[0], text }, arrive: 1, refused: 0, cost: prices.sms };
  }

  function any(project: number): Pick<Task, 'path' | 'body' | 'arrive' | 'refused' | 'cost'> {
    const chance = random();
    if (chance < 0.5) return single(project);
    if (chance < 0.7) {
      const body = { to: addresses(1)[0], subject: 'News', text: 'Hello' };
      return { path: '/email', body, arrive: 1, refused: 0, cost: prices.email };
    }
    const arrive = 1 + Math.floor(random() * batchSize);
    if (chance < 0.85) {
      const body = { to: addresses(arrive), subject: 'News', html: '<b>News</b>' };
      return { path: '/email/bulk', body, arrive, refused: 0, cost: arrive * prices.email };
    }
    const bad = random() < 0.2 ? [refused] : [];
    const body = { to: [...take(arrive), ...bad], text: 'Hello' };
    return { path: '/sms/bulk', body, arrive, refused: bad.length, cost: arrive * prices.sms };
  }

  return {
    next() {
      const project = made % projects;
      made += 1;
      return { ...any(project), project, idempotencyKey: `task-${made}` };
    },
  };
}
