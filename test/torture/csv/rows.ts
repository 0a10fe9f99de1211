import { type CorpusFile, corpus } from '../../corpus/make.js';
import { seededRandom } from '../../support/random.js';
import { groupOf, type Played } from '../row.js';
import { guessing, onlyDigits, type Reader, sentOf, shipped } from './readers.js';

interface Findings {
  /** Files with something wrong, and what was sent of them that nobody meant, or not sent that was meant. */
  files: number;
  wrong: number;
  lost: number;
}

/** What differs between two lists, as often as it is there. */
function missing(from: readonly string[], all: readonly string[]): number {
  const left = new Map<string, number>();
  for (const one of from) left.set(one, (left.get(one) ?? 0) + 1);
  return all.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  }).length;
}

async function playCorpus(options: {
  seed: number;
  files: number;
  /** How often each file is read, every time in blocks of another length. */
  readings: number;
  reader: Reader;
}): Promise<Findings & { readings: number }> {
  const random = seededRandom(options.seed);
  const files = [...corpus(true)]
    .map((file) => ({ file, place: random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, options.files)
    .map(({ file }) => file);
  const findings = { files: 0, wrong: 0, lost: 0, readings: 0 };
  for (const file of files) {
    for (let reading = 0; reading < options.readings; reading += 1) {
      const blockBytes = Math.ceil(file.bytes.length ** random());
      const { wrong, lost } = compare(file, await options.reader(file, blockBytes));
      findings.readings += 1;
      findings.wrong += wrong;
      findings.lost += lost;
      if (wrong + lost > 0) findings.files += 1;
    }
  }
  return findings;
}

function compare({ expected }: CorpusFile, sent: ReturnType<typeof sentOf>): Omit<Findings, 'files'> {
  const texts = (all: ReturnType<typeof sentOf>) =>
    (all ?? []).map(({ number, text }) => `${number} ${text}`);
  const meant = texts(sentOf(expected));
  return { wrong: missing(meant, texts(sent)), lost: missing(texts(sent), meant) };
}

/** Files as they arrive: encodings, delimiters, line ends and damages. */
export const csv = groupOf(
  'csv',
  { full: { files: 1_440, readings: 4 }, small: { files: 24, readings: 1 } },
  (sizes) => {
    const play = async (seed: number, files: number, reader: Reader): Promise<Played> => {
      const result = await playCorpus({ seed, files, readings: sizes.readings, reader });
      return {
        measured: `${Math.min(files, 1_440)} files, ${result.readings} readings`,
        found: `${result.wrong} wrong recipients or texts, ${result.lost} lost, in ${result.files} readings`,
        wrong: result.wrong + result.lost,
      };
    };
    const few = Math.min(100, sizes.files);
    return [
      {
        name: 'CSV files of every kind',
        play: (seed) => play(seed, sizes.files, shipped),
        controls: [
          { name: 'a reader that guesses the encoding', play: (seed) => play(seed, few, guessing) },
          { name: 'a reader that takes the digits of a cell', play: (seed) => play(seed, few, onlyDigits) },
        ],
      },
    ];
  },
);
