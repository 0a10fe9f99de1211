import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bannedWords } from './support/banned-words.js';

const root = resolve(import.meta.dirname, '..');
const files = ['src', 'docs', 'bin', 'deploy', 'examples', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md']
  .flatMap((top) =>
    statSync(join(root, top)).isFile()
      ? [top]
      : readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
  )
  .filter((name) => /\.(?:tsx?|js|md|sql|sh|ya?ml)$/.test(name))
  .map((name) => name.replaceAll('\\', '/'));

/** Sentences in one line, wherever the source breaks them. */
const texts = new Map(
  files.map((file) => [
    file,
    readFileSync(join(root, file), 'utf8').replace(/\n\s*(?:\*|\/\/|--)?[ \t]*/g, ' '),
  ]),
);

describe('the words of the product', () => {
  it.each(bannedWords.map((word) => [word.pattern.source, word] as const))('are not /%s/', (_, word) => {
    const found = [...texts].flatMap(([file, text]) =>
      [...text.matchAll(word.pattern)]
        .map(({ 0: match, index }) => text.slice(Math.max(0, index - 30), index + match.length + 30))
        .filter(
          (around) => !word.except?.some((one) => one.file.test(file) && (one.text?.test(around) ?? true)),
        )
        .map((around) => `${file}: ...${around}...`),
    );
    expect(found, `instead: ${word.instead}`).toEqual([]);
  });
});
