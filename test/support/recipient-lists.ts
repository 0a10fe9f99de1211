import { seededRandom } from './random.js';

/** The headers of a mail, printed in any form, whole or with one character dropped or doubled. */
export interface RecipientLists {
  headers: string;
  /** Whom it names: of a broken address, what is left of it. */
  people: string[];
  isWhole: boolean;
}

interface Piece {
  text: string;
  kind: 'address' | 'list' | 'name of a header' | 'end of a header';
}

const names = ['Bat', 'Bat Dorj', 'Бат', 'O_o', '=?utf-8?Q?=D0=91_=D0=B0?=', '=?koi8-r?B?4sHU?='];
const quotes = ['Dorj, Bat', 'a \\"b\\" c', 'x@home', 'b) (a', 'a:b;c', 'back\\\\slash'];
const comments = ['home', 'at (the (office))', 'no \\) end', 'a, b; c', 'he said "hi'];
const separators = [', ', ',', '; ', ';', ' ,\t', ',\n ', ',\r\n\t', ', ,'];

export function recipientLists(seed: number): RecipientLists {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const one = (choices: readonly string[]) => choices[below(choices.length)] ?? '';
  const list = (text: string): Piece => ({ text, kind: 'list' });
  let count = 0;
  const address = (): Piece => {
    count += 1;
    return {
      text: `${one(['a', 'b.c', 'd+e'])}${count}@${one(['ex.mn', 'mail.example.mn'])}`,
      kind: 'address',
    };
  };
  const mailbox = (): Piece[] => {
    const printed: (() => Piece[])[] = [
      () => [address()],
      () => [list('<'), address(), list('>')],
      () => [list(`${one(names)} <`), address(), list('>')],
      () => [list(`"${one(quotes)}" <`), address(), list('>')],
      () => [list(`"${one(quotes)}"<`), address(), list(`>(${one(comments)})`)],
      () => [address(), list(` (${one(comments)})`)],
      () => [list(`(${one(comments)}) `), address()],
      () => [list(`${one(names)} (${one(comments)}) <`), address(), list('>')],
    ];
    return printed[below(printed.length)]?.() ?? [];
  };
  const several = (most: number) =>
    Array.from({ length: 1 + below(most) }, (_, index) => [
      ...(index > 0 ? [list(one(separators))] : []),
      ...mailbox(),
    ]);
  const header = (): Piece[] => {
    const group = () => [
      list(`${one(['Team', '"The team"', 'The team'])}: `),
      ...several(3).flat(),
      list(';'),
    ];
    const body = random() < 0.2 ? group() : random() < 0.2 ? plain() : several(4).flat();
    return [
      { text: `${one(['To', 'Cc', 'Bcc', 'CC'])}:`, kind: 'name of a header' },
      list(one([' ', '', '\n '])),
      ...body,
      { text: '\n', kind: 'end of a header' },
    ];
  };
  // As in MAILTO of a crontab.
  const plain = () => [address(), list(' '), address(), list('  '), address()];
  const pieces = Array.from({ length: 1 + below(3) }, header).flat();
  const isWhole = random() < 0.2;
  if (!isWhole) breakOne(pieces, below);
  return {
    headers: pieces.map(({ text }) => text).join(''),
    people: [...new Set(pieces.filter(({ kind }) => kind === 'address').map(({ text }) => text))],
    isWhole,
  };
}

/** Another name, or an empty line before the next header, is another mail and not a broken list. */
function breakOne(pieces: Piece[], below: (count: number) => number): void {
  const breakable = pieces.filter(({ kind }) => kind === 'address' || kind === 'list');
  const length = breakable.reduce((sum, { text }) => sum + text.length, 0);
  let at = below(length);
  for (const piece of breakable) {
    if (at < piece.text.length) {
      const kept = piece.text.slice(0, at);
      const letter = piece.text.slice(at, at + 1);
      piece.text = `${kept}${below(2) === 0 ? '' : letter + letter}${piece.text.slice(at + 1)}`;
      return;
    }
    at -= piece.text.length;
  }
}
