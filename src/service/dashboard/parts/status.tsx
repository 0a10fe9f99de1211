import type { Child } from 'hono/jsx';
import type { BatchStatus, Message } from '../../../contract/index.js';
import type { Strings } from '../language/language.js';

type MessageState = Message['status'] | NonNullable<Message['delivery']>;
type State = MessageState | BatchStatus;
type Tone = 'good' | 'done' | 'bad' | 'wait' | 'doubt';

const tones: Readonly<Record<State, Tone>> = {
  queued: 'wait',
  processing: 'wait',
  sent: 'good',
  delivered: 'done',
  completed: 'done',
  failed: 'bad',
  undelivered: 'bad',
  bounced: 'bad',
  unknown: 'doubt',
};

const circle = 'M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 1 0 0-12.5';
const tick = 'M5.25 8.2l2 2 3.6-4';

/** A shape of its own for each, so that nobody needs the colours. */
const shapes: Readonly<Record<Tone, readonly [outline: string, sign: string]>> = {
  good: [circle, tick],
  done: [circle, tick],
  bad: [
    'M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65h-5.2l-3.65-3.65v-5.2z',
    'M5.75 5.75l4.5 4.5M10.25 5.75l-4.5 4.5',
  ],
  wait: [circle, 'M8 4.5v3.7l2.4 1.5'],
  doubt: ['M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5z', 'M6.5 6.6a1.5 1.5 0 1 1 2.3 1.3q-.8.5-.8 1.1M8 11v.1'],
};

/** The latest that is known of a message: a report on its delivery says more than its status. */
export const stateOf = ({ status, delivery }: Pick<Message, 'status' | 'delivery'>): MessageState =>
  delivery ?? status;

/** A shape and a word. */
export function Status({ state, t }: { state: State; t: Strings }) {
  return <Sign tone={tones[state]}>{t[state]}</Sign>;
}

export function Sign({ tone, children }: { tone: Tone; children?: Child }) {
  return (
    <span class={`status ${tone}`}>
      <svg aria-hidden="true">
        <use href={`#${tone}`} />
      </svg>
      {children}
    </span>
  );
}

/** The shapes, once a page. */
export const Signs = () => (
  <svg class="unseen" aria-hidden="true">
    {Object.entries(shapes).map(([tone, [outline, sign]]) => (
      <symbol id={tone} viewBox="0 0 16 16">
        <path d={outline} />
        <path d={sign} class="sign" />
      </symbol>
    ))}
  </svg>
);
