import { Relay, type Step } from '../../support/relay.js';
import { smppRoute } from '../../support/routes.js';
import { Smsc } from '../../support/smsc.js';

export const whoms = ['one recipient', 'one sender', 'everybody'] as const;
export type Whom = (typeof whoms)[number];

/** An answer that may pass, which some or all messages get for a while. */
export interface Trouble {
  whom: Whom;
  /** As logs have it. */
  code: string;
  /** It is about the account: nobody knows at first whose messages it is about. */
  isOfAccount: boolean;
  /** It is about the rate: the lane's, while nobody else has anything under way. */
  isOfRate: boolean;
  /** It is about its recipient, by its meaning: it says nothing of a sender or a lane. */
  isOfRecipient: boolean;
}

/** A carrier's side with a trouble. */
export interface TroubledPeer {
  readonly lane: string;
  isTroubled: boolean;
  /** When messages were taken, by recipient, in milliseconds of `performance.now()`. */
  readonly taken: ReadonlyMap<string, number[]>;
  /** Starts it, and gives the configuration of a service that sends to it. */
  listen(): Promise<object>;
  close(): Promise<void>;
}

/** The sender with the trouble is project 0, whose only bad recipient is its first. */
export const smsRecipient = (project: number, index: number): string =>
  `99${String(project).padStart(2, '0')}${String(index).padStart(4, '0')}`;
export const mailRecipient = (project: number, index: number): string => `p${project}-${index}@example.com`;
export const badDomain = 'shop.mn';

function remember(taken: Map<string, number[]>, to: string): void {
  taken.set(to, [...(taken.get(to) ?? []), performance.now()]);
}

const aboutTheAccount = [0x04, 0x0e, 0x0f];
const aboutTheRate = [0x58, 0x14];
/** 0xff: one that no standard has. */
export const statuses = [...aboutTheRate, 0x08, ...aboutTheAccount, 0xff] as const;

export function smscTrouble(whom: Whom, status: number): Trouble {
  return {
    whom,
    code: `0x${status.toString(16).padStart(2, '0')}`,
    isOfAccount: aboutTheAccount.includes(status),
    isOfRate: aboutTheRate.includes(status),
    isOfRecipient: false,
  };
}

export function troubledSmsc({ whom }: Trouble, status: number): TroubledPeer {
  const isBad = (to: string) =>
    whom === 'everybody' || (whom === 'one sender' ? to.startsWith('9900') : to === smsRecipient(0, 0));
  const taken = new Map<string, number[]>();
  const smsc = new Smsc({
    react: ({ to }) => (peer.isTroubled && isBad(to) ? status : 'take'),
    onTaken(segment, answer) {
      remember(taken, segment.to);
      answer();
    },
  });
  const peer: TroubledPeer = {
    lane: 'Mobicom',
    isTroubled: true,
    taken,
    async listen() {
      const route = smppRoute(await smsc.listen(), { per_second: 100, binds: 2, window: 5 });
      return { sms: { routes: [route] }, email: 'off' };
    },
    close: () => smsc.close(),
  };
  return peer;
}

export interface Reply {
  at: Step;
  text: string;
}

export const replies: readonly Reply[] = [
  { at: 'MAIL', text: '421 4.7.0 Too much from you' },
  { at: 'MAIL', text: '450 4.7.1 Sender put off' },
  { at: 'MAIL', text: '451 4.3.0 Try later' },
  { at: 'MAIL', text: '530 5.7.0 Log in first' },
  { at: 'MAIL', text: '535 5.7.8 Log in again' },
  { at: 'RCPT', text: '450 4.2.0 Greylisted' },
  { at: 'RCPT', text: '452 4.2.2 Mailbox full' },
  { at: 'DATA', text: '451 4.3.2 Not now' },
  { at: 'body', text: '421 4.7.0 Closing' },
  { at: 'body', text: '451 4.7.1 Try again later' },
  { at: 'body', text: '452 4.3.1 No room' },
];

export function relayTrouble(whom: Whom, { at, text }: Reply): Trouble {
  return {
    whom,
    code: text.slice(0, 9),
    isOfRate: false,
    isOfAccount: /^(?:421|530|535)/.test(text),
    isOfRecipient: at === 'RCPT',
  };
}

export function troubledRelay({ whom }: Trouble, reply: Reply): TroubledPeer {
  const isBad = (to: string, from: string) =>
    whom === 'everybody' ||
    (whom === 'one sender' ? from.endsWith(`@${badDomain}`) : to === mailRecipient(0, 0));
  const taken = new Map<string, number[]>();
  const relay = new Relay({
    isPipelining: true,
    react(step, _, to, from) {
      if (peer.isTroubled && step === reply.at && isBad(to, from)) return reply.text;
      if (step === 'body') remember(taken, to);
      return null;
    },
  });
  const peer: TroubledPeer = {
    lane: 'email',
    isTroubled: true,
    taken,
    async listen() {
      const smtp = `smtp://127.0.0.1:${await relay.listen()}`;
      return { sms: 'off', email: { smtp, from: 'no-reply@example.mn', connections: 2 } };
    },
    close: () => relay.close(),
  };
  return peer;
}
