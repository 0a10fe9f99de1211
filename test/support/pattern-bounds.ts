import type { Pattern } from './patterns.js';

/** A regular expression that takes longer than a long text allows, and why no outsider gives it one. */
export interface PatternBound {
  file: string;
  /** What its source begins with. */
  begins: string;
  /** Characters that it is given at most; without them, only the owner of the machine or the program itself gives it any. */
  most?: number;
  why: string;
}

const commandLine = 'messages of the parser of the own command line';
const formatted = { most: 30, why: 'the digits of one number of JavaScript' };
const previewed = { most: 5_000, why: 'the own HTML of a mail, for its preview, which is cut' };

export const patternBounds: PatternBound[] = [
  { file: 'cli/usage-error.ts', begins: "'(.*)' is not one of", why: commandLine },
  { file: 'cli/usage-error.ts', begins: "^option '(?:-\\w, )?(--?[\\w-]+).*'", why: commandLine },
  { file: 'cli/commands/commands/read-commands.ts', begins: '[<[](.*)', why: 'declarations of the program' },
  { file: 'cli/bulk/input/workbook/cell-value.ts', begins: '^(\\d+)\\.?(\\d*)', ...formatted },
  { file: 'cli/text/wording.ts', begins: '\\B(?=', ...formatted },
  { file: 'service/dashboard/parts/format.ts', begins: '\\B(?=', ...formatted },
  {
    file: 'cli/terminal/wrap.ts',
    begins: '(?:\\b[A-Z_]+=',
    most: 2_000,
    why: 'a longer text is not searched',
  },
  { file: 'cli/text/html-text.ts', begins: '<!--', ...previewed },
  { file: 'cli/text/html-text.ts', begins: '<(?:br|hr', ...previewed },
  { file: 'cli/text/html-text.ts', begins: '<\\/?[a-z]', ...previewed },
  { file: 'cli/text/html-text.ts', begins: ' *\\n *', ...previewed },
  {
    file: 'contract/links.ts',
    begins: '[a-z][a-z0-9+.-]{0,30}:',
    most: 1_000,
    why: 'an SMS has 5 parts at most',
  },
  { file: 'contract/mail-charset.ts', begins: '<meta', most: 4_096, why: 'the head of a page is searched' },
  { file: 'service/carriers/http/safe-pattern.ts', begins: '\\[[^\\]]*\\]', why: 'the own configuration' },
  { file: 'service/report.ts', begins: '([0-9a-f]{8}', most: 1_000, why: 'errors are cut' },
];

/** Files that build one when they run, for each call of RegExp. */
export const builtPatterns = [
  // Patterns of the own configuration, on 4 KB of answers: `dangerOf` refuses those that could take long.
  ...Array<string>(3).fill('service/carriers/configured/gateway-schema.ts'),
  // Addresses of the dashboard: a path with at most one id.
  'service/dashboard/routes.ts',
];

export const boundOf = ({ file, source }: Pattern): PatternBound | undefined =>
  patternBounds.find((bound) => bound.file === file && source.startsWith(bound.begins));
