import { exportedLists, peopleOf } from '../../corpus/exports.js';
import { type CorpusFile, corpus } from '../../corpus/make.js';
import { seededRandom } from '../../support/random.js';
import { groupOf, type Played } from '../row.js';
import {
  guessing,
  type ListReader,
  onlyDigits,
  type Reader,
  type Sent,
  sentOf,
  shipped,
  shippedLists,
  strictLists,
  unreadValues,
} from './readers.js';

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

const compare = ({ expected }: CorpusFile, sent: Sent[] | null) => difference(sentOf(expected), sent);

function difference(expected: Sent[] | null, sent: Sent[] | null): Omit<Findings, 'files'> {
  const texts = (all: Sent[] | null) => (all ?? []).map(({ number, text }) => `${number} ${text}`);
  const meant = texts(expected);
  return { wrong: missing(meant, texts(sent)), lost: missing(texts(sent), meant) };
}

/** Lists of every program, each time of other people and in blocks of another length. */
async function playLists(seed: number, rounds: number, reader: ListReader): Promise<Played> {
  const random = seededRandom(seed);
  const findings = { lists: 0, wrong: 0, lost: 0, bad: 0 };
  for (let round = 0; round < rounds; round += 1)
    for (const list of exportedLists(peopleOf(random))) {
      const { expected } = list;
      const meant = 'refused' in expected ? null : expected.map(({ to, text }) => ({ number: to, text }));
      const sent = await reader(list, Math.ceil(list.bytes.length ** random()));
      const { wrong, lost } = difference(meant, sent);
      findings.lists += 1;
      findings.wrong += wrong;
      findings.lost += lost;
      if (wrong + lost > 0) findings.bad += 1;
    }
  return {
    measured: `${findings.lists} lists of ${findings.lists / rounds} programs`,
    found: `${findings.wrong} wrong recipients or texts, ${findings.lost} lost, in ${findings.bad} lists`,
    wrong: findings.wrong + findings.lost,
  };
}

/** Files as they arrive: encodings, delimiters, line ends and damages. */
export const csv = groupOf(
  'csv',
  {
    full: { files: 1_440, readings: 4, lists: 200 },
    small: { files: 24, readings: 1, lists: 2 },
  },
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
      {
        name: 'what the sheet shows is what arrives',
        play: (seed) => playLists(seed, sizes.lists, shippedLists),
        controls: [
          { name: 'a reader that takes the values unread', play: (seed) => playLists(seed, 2, unreadValues) },
          { name: 'a reader of complete rows and columns', play: (seed) => playLists(seed, 2, strictLists) },
        ],
      },
    ];
  },
);
