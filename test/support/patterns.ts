import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createContext, runInContext, Script } from 'node:vm';

/** A regular expression of the sources. */
export interface Pattern {
  file: string;
  source: string;
  flags: string;
}

/** What was slow: `begin`, then `repeated` up to the size, then `end`. */
export interface Attack {
  begin: string;
  repeated: string;
  end: string;
}

const sources = resolve(import.meta.dirname, '../../src');

export const nameOf = ({ file, source, flags }: Pattern): string => `${file} /${source}/${flags}`;

/** Every regular expression of the sources, and the files with calls of RegExp whose argument is not known before they run. */
export async function patternsOfSources(): Promise<{ patterns: Pattern[]; unknown: string[] }> {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file))
    .sort();
  const found = await Promise.all(
    files.map((file) => patternsOf(file, readFileSync(join(sources, file), 'utf8'))),
  );
  return {
    patterns: found.flatMap(({ patterns }) => patterns),
    unknown: found.flatMap(({ unknown }) => unknown),
  };
}

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export async function patternsOf(
  file: string,
  code: string,
): Promise<{ patterns: Pattern[]; unknown: string[] }> {
  // Only as a module, which the bundle of the torture is not.
  const { parseAst } = await import('vitest/node');
  const patterns: Pattern[] = [];
  const unknown: string[] = [];
  const { body } = parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file) as unknown as {
    body: Node[];
  };
  const textOf = ({ start, end }: Node) => code.slice(start, end);
  const constants = createContext({});
  for (const { declarations } of body as { declarations?: { id: Node; init: Node | null }[] }[])
    for (const { id, init } of declarations ?? []) {
      const value = init?.type.startsWith('TS') ? (init.expression as Node) : init;
      // What refers to imports or has types in it is no constant that a pattern is made of.
      if (value) tried(() => runInContext(`globalThis.${id.name} = ${textOf(value)}`, constants));
    }
  visit(body, (node) => {
    const regex = node.regex as { pattern: string; flags: string } | undefined;
    if (regex !== undefined) patterns.push({ file, source: regex.pattern, flags: regex.flags });
    if ((node.callee as Node | undefined)?.name !== 'RegExp') return;
    const built = tried(() => runInContext(textOf(node), constants) as RegExp);
    if (built === undefined) unknown.push(file);
    else patterns.push({ file, source: built.source, flags: built.flags });
  });
  return { patterns, unknown };
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) see(node as Node);
  for (const child of Object.values(node)) visit(child, see);
}

function tried<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** Of the processor: other programs run too. */
function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
const playing = createContext({ now: milliseconds });
/** Plays attacks from `at` on, up to one that takes over `most` milliseconds. */
const play = new Script(`
  for (; at < attacks.length && !(times[at - 1] > most); at += 1) {
    const { begin, repeated, end } = attacks[at];
    const text = begin + repeated.repeat(Math.max(1, Math.floor(size / repeated.length))) + end;
    const begun = now();
    if (expression.global) text.replace(expression, '');
    else expression.test(text);
    times[at] = now() - begun;
  }
`);

/** Milliseconds of each attack. An endless one is cut, and is the last. */
function timesOf({ source, flags }: Pattern, attacks: Attack[], size: number, most: number): number[] {
  const game = { attacks, times: [] as number[], at: 0, expression: new RegExp(source, flags), size, most };
  Object.assign(playing, game);
  const isEndless =
    tried(() => play.runInContext(playing, { timeout: 2_000 + 10 * most }) ?? true) === undefined;
  return isEndless ? [...game.times, Number.POSITIVE_INFINITY] : game.times;
}

/** Attacks that are played at the full size. */
const finalists = 8;
/** Characters of the first round: what grows with their square takes 100 times as long as what does not. */
const screened = 16_000;

/** The first attack of `size` characters that takes over `most` milliseconds; null without one. */
export function slowAttack(pattern: Pattern, size: number, most: number): (Attack & { ms: number }) | null {
  const attacks = attacksOn(pattern);
  const first = Math.min(size, screened);
  const times: number[] = [];
  while (times.length < attacks.length) {
    times.push(...timesOf(pattern, attacks.slice(times.length), first, most));
    const last = attacks[times.length - 1] as Attack;
    const ms = bestOf(pattern, last, first, most);
    if (ms > most) return { ...last, ms };
    times[times.length - 1] = ms;
  }
  if (first === size) return null;
  const slowest = attacks
    .map((attack, index) => ({ attack, ms: times[index] ?? 0 }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, finalists);
  for (const { attack } of slowest) {
    const ms = bestOf(pattern, attack, size, most);
    if (ms > most) return { ...attack, ms };
  }
  return null;
}

/** Of five times, since other programs run too. */
function bestOf(pattern: Pattern, attack: Attack, size: number, most: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let game = 0; game < 5 && best > most; game += 1) {
    const [ms = Number.POSITIVE_INFINITY] = timesOf(pattern, [attack], size, most);
    if (ms === Number.POSITIVE_INFINITY) return ms;
    best = Math.min(best, ms);
  }
  return best;
}

/** Characters that stand for classes. */
const usual = [...'a0A1_- .,:;=+@/\\"\'`<>()[]{}?&#%*|!~\t\r\n\0xe2Eéя９😀'];
const piece =
  /\[(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\[\s\S]|\(\?(?:<?[=!]|:|<\w+>)|\{\d+(?:,\d*)?\}|[\s\S]/gu;
const isSyntax = /^(?:\(\?.*|[()|*+?^$]|\\[bB1-9]|\{\d.*\})$/s;

/**
 * Texts that almost match: each character of the pattern, or of its classes, again and again; each pair of them; and
 * the beginning of a match whose next pieces repeat.
 */
export function attacksOn({ source, flags }: Pick<Pattern, 'source' | 'flags'>): Attack[] {
  const pieces = [...source.matchAll(piece)].map(([text]) => text).filter((text) => !isSyntax.test(text));
  const own = [...new Set(pieces.map((text) => text.replace(/^\\(?=[^\w])/, '')))].filter(
    (text) => [...text].length === 1,
  );
  const fitting = pieces.map((text) => {
    const fits = tried(() => new RegExp(`^(?:${text})$`, flags.replace(/[gmy]/g, '')));
    const found = [...new Set([...own, ...usual])].filter((character) => fits?.test(character));
    return found.length === 0 ? ['x'] : found;
  });
  const turns = [0, 1, 2, 3].flatMap((turn) => fitting.map((found) => found[turn]));
  const characters = [...new Set([...turns, ...own, ...' \na0'])]
    .flatMap((found) => found ?? [])
    .slice(0, 20);
  const samples = [0, 1].map((choice) => fitting.map((found) => found[choice] ?? found[0] ?? 'x'));
  const attacks = new Map<string, Attack>();
  const add = (begin: string, repeated: string) => {
    for (const end of ['', '\0'])
      attacks.set(JSON.stringify([begin, repeated, end]), { begin, repeated, end });
  };
  const few = characters.slice(0, 8);
  const pairs = characters.flatMap((one) => characters.map((other) => (one === other ? one : one + other)));
  for (const pair of pairs) add('', pair);
  for (const one of few) for (const other of few) for (const third of few) add('', one + other + third);
  for (const sample of samples)
    for (const [index, found] of fitting.entries()) {
      const begin = sample.slice(0, index).join('');
      for (const length of new Set([1, 2, 3, 4, 5, 6, sample.length - index])) {
        const repeated = sample.slice(index, index + length).join('');
        add(begin, repeated);
        add('', repeated);
      }
      for (const one of found.slice(0, 3)) for (const other of ['', ...few]) add(begin, one + other);
    }
  return [...attacks.values()];
}
