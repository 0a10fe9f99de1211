import type { CacheFolder } from './cache-folder.js';

/** A command's name, or another plain word. */
export const plainWord = /^[a-z][a-z-]{0,20}$/;
/** `urtuu service settings get --help` */
const mostWords = 4;

/**
 * The page that `--help` printed after these words, kept for the next time. Outside of a terminal a page depends on
 * nothing else: not on settings, width, colours or language.
 */
export class HelpPage {
  readonly #files: CacheFolder;
  readonly #name: string;
  readonly #head: string;

  private constructor(files: CacheFolder, build: string, words: readonly string[]) {
    this.#files = files;
    this.#name = `${words.join('.')}.page`;
    this.#head = `${build} ${words.join(' ')}\n`;
  }

  /** Null if the command line is anything else than words and `--help`. */
  static of(argv: readonly string[], build: string, files: CacheFolder): HelpPage | null {
    const words = argv.length === 0 ? ['--help'] : argv;
    const isPlain =
      words.length <= mostWords &&
      words.every((word, index) => plainWord.test(word) || (index === words.length - 1 && word === '--help'));
    return isPlain && words.at(-1) === '--help' ? new HelpPage(files, build, words) : null;
  }

  /** The page as this build printed it; null if it must be made. */
  read(): Buffer | null {
    const copy = this.#files.read(this.#name);
    const length = this.#head.length;
    return copy?.toString('latin1', 0, length) === this.#head ? copy.subarray(length) : null;
  }

  keep(page: string): void {
    this.#files.write(this.#name, Buffer.from(this.#head + page));
  }
}
