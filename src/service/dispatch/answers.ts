import type { CarrierAnswer } from '../carriers/carrier.js';
import type { Tried, TriedKind } from '../storage/store.js';

/** Characters of a carrier's words that are shown. */
const mostWords = 40;
const address = /[^\s@<>]+@[^\s@<>]+/gu;
const longNumber = /\+?[0-9](?:[ -]?[0-9]){3,}/g;

/** A carrier's answer, as it may be shown to anybody who looks after the service. */
export interface ShownAnswer {
  code: string;
  words: string;
}

export type ShowAnswer = (answer: Pick<CarrierAnswer, 'code' | 'words'>) => ShownAnswer;

/** Without recipients, numbers, codes and the secrets of the configuration. */
export function answerShower(secrets: readonly string[]): ShowAnswer {
  return ({ code = '', words = '' }) => {
    const plain = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words);
    const shown = plain.replace(address, '…').replace(longNumber, '…').replace(/\s+/g, ' ').trim();
    return { code, words: Array.from(shown).slice(0, mostWords).join('') };
  };
}

export function triedAs(kind: TriedKind, route: string, shown: ShownAnswer): Tried {
  return { kind, route, ...shown };
}

/** As one line: `450 4.7.1 Sender rejected`. */
export const answerLine = ({ code, words }: ShownAnswer): string =>
  words === '' ? code : `${code} ${words}`;
