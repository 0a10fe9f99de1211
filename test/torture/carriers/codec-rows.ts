import { groupOf, type Played } from '../row.js';
import { hasty, playAnswerFuzz } from './answer-fuzz.js';
import { playedOn, playPatterns } from './pattern-games.js';
import { type FuzzFindings, playPduFuzz, trusting } from './pdu-fuzz.js';
import { naive, playReceiptFuzz } from './receipt-fuzz.js';
import { forgiving, playRecipientFuzz } from './recipient-fuzz.js';
import { hopeful, playReplyFuzz } from './reply-fuzz.js';
import { playRequestFuzz, trustful } from './request-fuzz.js';

const readsAgain = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|-?\\d+';
/** MB that a heap may have grown by after any number of inputs. */
const mostGrown = 50;

function fuzzed({ inputs, crashes, slow, deaf, grown, example }: FuzzFindings, untrue = 0): Played {
  return {
    measured: `${inputs} inputs, the heap ${grown} MB larger`,
    found: `${crashes} crashes, ${slow} hangs, ${deaf} deaf, ${untrue} untrue${example && `; ${example}`}`,
    wrong: crashes + slow + deaf + untrue + (grown > mostGrown ? 1 : 0),
  };
}

async function withUntrue(playing: Promise<FuzzFindings & { untrue: number }>): Promise<Played> {
  const findings = await playing;
  return fuzzed(findings, findings.untrue);
}

/** What reads bytes of others: carriers, and programs that send mail; with bytes that none should send. */
export const codecs = groupOf(
  'codecs',
  {
    full: {
      pdus: 1_000_000,
      receipts: 1_000_000,
      replies: 1_000_000,
      answers: 1_000_000,
      requests: 1_000_000,
      mails: 100_000,
      characters: 1_000_000,
    },
    small: {
      pdus: 2_000,
      receipts: 2_000,
      replies: 200,
      answers: 2_000,
      requests: 2_000,
      mails: 2_000,
      characters: 8_000,
    },
  },
  (sizes) => [
    {
      name: 'an operator that sends anything over SMPP',
      play: async (seed) => fuzzed(await playPduFuzz(seed, sizes.pdus)),
      controls: [
        {
          name: 'a decoder that reads beyond the end',
          play: async (seed) => fuzzed(await playPduFuzz(seed, 200, trusting)),
        },
      ],
    },
    {
      name: 'receipts in any text',
      play: (seed) => withUntrue(playReceiptFuzz(seed, sizes.receipts)),
      controls: [
        {
          name: 'a reader that ends an id at a space',
          play: (seed) => withUntrue(playReceiptFuzz(seed, 100, naive)),
        },
      ],
    },
    {
      name: 'a relay that answers anything over SMTP',
      play: (seed) => withUntrue(playReplyFuzz(seed, sizes.replies)),
      controls: [
        {
          name: 'a carrier that takes what is unknown for not taken',
          play: (seed) => withUntrue(playReplyFuzz(seed, Math.min(1_000, sizes.replies), hopeful)),
        },
      ],
    },
    {
      name: 'a gateway that answers anything',
      play: (seed) => withUntrue(playAnswerFuzz(seed, sizes.answers)),
      controls: [
        {
          name: 'a carrier that takes a 200 that nobody described for a refusal',
          play: (seed) => withUntrue(playAnswerFuzz(seed, 200, hasty)),
        },
      ],
    },
    {
      name: 'receipts of a gateway in any shape',
      play: (seed) => withUntrue(playRequestFuzz(seed, sizes.requests)),
      controls: [
        {
          name: 'a reader that looks at no token',
          play: (seed) => withUntrue(playRequestFuzz(seed, 300, trustful)),
        },
      ],
    },
    {
      name: 'mails of others: recipient lists in any broken form',
      play: (seed) => playRecipientFuzz(seed, sizes.mails),
      controls: [
        {
          name: 'a splitter that reads what it can',
          play: (seed) => playRecipientFuzz(seed, 200, forgiving),
        },
      ],
      provedBy: 'test/cli/commands/sendmail/recipients.test.ts',
    },
    {
      name: 'every regular expression that outsiders feed, on hostile input',
      provedBy: 'test/patterns.test.ts',
      isTimed: true,
      play: () => playPatterns(sizes.characters),
      controls: [
        {
          name: 'a reader of strings that begins again at each quote of one without an end',
          play: async () => playedOn([{ file: 'control', source: readsAgain, flags: 'g' }], 100_000),
        },
      ],
    },
  ],
);
