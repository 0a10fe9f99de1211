/** Whom a list of addresses names, as written: addresses, and names without a domain. */
export interface AddressList {
  named: string[];
  /** Its entries that do not say for certain whom they name. */
  unreadable: string[];
}

type Kind = 'word' | 'quoted' | 'comment' | 'angle' | 'mark' | 'broken';

interface Token {
  kind: Kind;
  /** Without quotes, parentheses and brackets. */
  text: string;
  start: number;
  end: number;
}

const blank = /\s/;
const endOfWord = /[\s,;:<>()"\\]/;

/** The tokens of RFC 5322. A mark that ends what never began is broken; all that follows one without an end is. */
function* tokensOf(list: string): Generator<Token> {
  for (let at = 0; at < list.length; ) {
    const first = list[at] ?? '';
    if (blank.test(first)) {
      at += 1;
      continue;
    }
    const start = at;
    const token = (kind: Kind, text: string, end: number): Token => ({ kind, text, start, end });
    if (first === ',' || first === ';' || first === ':') {
      yield token('mark', first, ++at);
      continue;
    }
    const close = endOf(list, start);
    if (close < 0) {
      at = '"<('.includes(first) ? list.length : start + 1;
      yield token('broken', list.slice(start, at), at);
      continue;
    }
    const inner = list.slice(start + 1, close - 1);
    // `"bat"@example.mn` is an address.
    const isLocalPart = first === '"' && list[close] === '@';
    at = isLocalPart ? endOfWordFrom(list, close) : close;
    if (first === '(') yield token('comment', inner, at);
    else if (first === '<') yield token('angle', inner.trim(), at);
    else if (isLocalPart) yield token('word', `${inner}${list.slice(close, at)}`, at);
    else if (first === '"') yield token('quoted', inner, at);
    else yield token('word', list.slice(start, at), at);
  }
}

/** Behind the token at `start`; -1 if it has no end. */
function endOf(list: string, start: number): number {
  const first = list[start];
  if (first === '<') return list.indexOf('>', start) + 1 || -1;
  if (first !== '"' && first !== '(') {
    const end = endOfWordFrom(list, start);
    return end > start ? end : -1;
  }
  let depth = 1;
  for (let at = start + 1; at < list.length; at += 1) {
    const letter = list[at];
    if (letter === '\\') at += 1;
    else if (first === '"') depth -= letter === '"' ? 1 : 0;
    else depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
    if (depth === 0) return at + 1;
  }
  return -1;
}

function endOfWordFrom(list: string, start: number): number {
  let at = start;
  while (at < list.length && !endOfWord.test(list[at] ?? '')) at += 1;
  return at;
}

/**
 * Reads the addresses of a header or an argument. Semicolons separate, too, as Outlook writes them, and so do blanks
 * between plain words, as in a crontab's MAILTO.
 */
export function readAddressList(list: string): AddressList {
  const read: AddressList = { named: [], unreadable: [] };
  let entry: Token[] = [];
  let inGroup = false;
  const close = () => {
    const written = list.slice(entry[0]?.start, entry.at(-1)?.end);
    const names = entry.length === 0 ? [] : namedBy(entry, written);
    if (names === null) read.unreadable.push(written);
    else for (const name of names) read.named.push(name);
    entry = [];
  };
  for (const token of tokensOf(list)) {
    if (token.kind !== 'mark') entry.push(token);
    else if (token.text === ':' && !inGroup && isNameOfGroup(entry)) {
      inGroup = true;
      entry = [];
    } else if (token.text === ':') entry.push({ ...token, kind: 'broken' });
    else {
      if (token.text === ';') inGroup = false;
      close();
    }
  }
  close();
  return read;
}

const isNameOfGroup = (entry: readonly Token[]) =>
  entry.length > 0 &&
  entry.every(({ kind, text }) => kind !== 'broken' && kind !== 'angle' && !text.includes('@'));

/** Null if one entry may name several, or its address is uncertain. */
function namedBy(entry: readonly Token[], written: string): string[] | null {
  const of = (kind: Kind) => entry.filter((token) => token.kind === kind);
  const [words, quoted, comments, [angle, ...others]] = [
    of('word'),
    of('quoted'),
    of('comment'),
    of('angle'),
  ];
  const isOne = written.indexOf('@') === written.lastIndexOf('@');
  if (
    isOne &&
    others.length === 0 &&
    angle?.text.includes('@') &&
    of('broken').every(({ end }) => end <= angle.start)
  )
    return [angle.text];
  // `"a@ex.mn"`
  if (isOne && entry.length === 1 && quoted[0]?.text.includes('@')) return [quoted[0].text];
  if (of('broken').length > 0 || others.length > 0 || entry.some(isGlued)) return null;
  const names = [...quoted, ...comments].map(({ text }) => text);
  if (angle !== undefined) {
    const isBehind = [...words, ...quoted].some(({ start }) => start > angle.start);
    const isOther = words.some(({ text }) => isAddress(text) && !isSame(text, angle.text));
    return isBehind || isOther || names.some((text) => hasAddress(text, angle.text)) ? null : [angle.text];
  }
  // `unlisted-recipients:; (no To-header on input)` names nobody.
  if (entry.every(({ kind, text }) => kind === 'comment' && !text.includes('@'))) return [];
  if (words.length === 0 || names.some((text) => hasAddress(text, ''))) return null;
  // `"Bat" a@ex.mn` names one; `"a@ex.mn" b@ex.mn` may name two.
  if (quoted.some(({ text }) => text.includes('@'))) return null;
  return words.length === 1 || names.length === 0 ? words.map(({ text }) => text) : null;
}

/** `"a"b@ex.mn`: a quote was lost or doubled. */
const isGlued = ({ kind, start }: Token, index: number, entry: readonly Token[]) => {
  const before = entry[index - 1];
  const isText = (each: Kind | undefined) => each === 'word' || each === 'quoted';
  return isText(kind) && isText(before?.kind) && before?.end === start;
};

/** `root@host` and `Bat@Work` are names. */
const isAddress = (word: string) => word.includes('@') && word.includes('.', word.indexOf('@'));

/** Some programs write the address for a name: `'a@ex.mn' <a@ex.mn>`. */
const isSame = (word: string, address: string) =>
  word.replace(/^['‘`[]|['’`\].]$/g, '').toLowerCase() === address.toLowerCase();

/** Whether a name or a comment has another address in brackets: its end may be that of another one. */
const hasAddress = (text: string, own: string) =>
  text.includes('<') && text.replaceAll(`<${own}>`, '').includes('@');
