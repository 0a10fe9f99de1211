import type { CarrierAnswer } from '../carriers/carrier.js';
import { withoutSecrets } from '../carriers/without-secrets.js';
import type { ShownAnswer } from '../storage/store.js';

/** Characters shown of a carrier's text. */
const mostWords = 40;
const address = /(?<![^\s@<>])[^\s@<>]+@[^\s@<>]+/gu;
const longNumber = /\+?[0-9](?:[ -]?[0-9]){3,}/g;

export type ShowAnswer = (answer: Pick<CarrierAnswer, 'code' | 'words'>) => ShownAnswer;

/** Removes recipients, numbers, codes and the secrets of the configuration. */
export function answerShower(secrets: readonly string[]): ShowAnswer {
  const plain = withoutSecrets(secrets);
  return ({ code = '', words = '' }) => {
    const shown = plain(words).replace(address, '…').replace(longNumber, '…').replace(/\s+/g, ' ').trim();
    return { code, words: Array.from(shown).slice(0, mostWords).join('') };
  };
}
