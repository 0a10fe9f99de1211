import { groupOf, type Played } from '../row.js';
import { type FuzzFindings, playPduFuzz, trusting } from './pdu-fuzz.js';
import { hopeful, playReplyFuzz } from './reply-fuzz.js';

/** MB that a heap may have grown by after any number of inputs. */
const mostGrown = 50;

function fuzzed({ inputs, crashes, slow, deaf, grown, example }: FuzzFindings, untrue = 0): Played {
  return {
    measured: `${inputs} inputs, the heap ${grown} MB larger`,
    found: `${crashes} crashes, ${slow} hangs, ${deaf} deaf, ${untrue} untrue${example && `; ${example}`}`,
    wrong: crashes + slow + deaf + untrue + (grown > mostGrown ? 1 : 0),
  };
}

async function replies(seed: number, inputs: number, around?: Parameters<typeof playReplyFuzz>[2]) {
  const findings = await playReplyFuzz(seed, inputs, around);
  return fuzzed(findings, findings.untrue);
}

/** What reads the bytes of carriers, with bytes that none should send. */
export const codecs = groupOf(
  'codecs',
  { full: { pdus: 1_000_000, replies: 100_000 }, small: { pdus: 6_000, replies: 600 } },
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
      name: 'a relay that answers anything over SMTP',
      play: (seed) => replies(seed, sizes.replies),
      controls: [
        {
          name: 'a carrier that takes what is unknown for not taken',
          play: (seed) => replies(seed, Math.min(1_000, sizes.replies), hopeful),
        },
      ],
    },
  ],
);
