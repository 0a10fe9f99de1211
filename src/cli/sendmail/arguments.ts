/** Flags in the manual of Postfix's sendmail that can be ignored without losing anything. */
const ignoredFlags = 'GUcimnx';
const ignoredWithValue = 'ABCLNORVXefhpr';

/**
 * Converts the words after `sendmail` for our parser: `-ti -N never -oem -FCron` becomes `-t -F Cron`. Other modes of
 * sendmail (`-bp`, `-I`) are kept, and refused.
 */
export function sendmailWords(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [...kept, ...words.slice(at)];
    if (!/^-[^-]/.test(word)) {
      kept.push(word);
      continue;
    }
    const cluster = readCluster(word.slice(1), words[at + 1]);
    kept.push(...cluster.words);
    if (cluster.tookNext) at += 1;
  }
  return kept;
}

/** Letters after one dash: flags, then perhaps an option whose value is the rest of the word, or the next one. */
function readCluster(letters: string, next: string | undefined): { words: string[]; tookNext: boolean } {
  const words: string[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    const rest = letters.slice(at + 1);
    if (ignoredFlags.includes(letter)) continue;
    if (letter === 't' || letter === 'v') {
      words.push(`-${letter}`);
      continue;
    }
    if ((letter === 'o' && rest !== '') || (letter === 'b' && rest === 'm')) break;
    const takesValue = ignoredWithValue.includes(letter) || letter === 'F';
    const value = rest || next;
    // An option that is unknown, or has no value: the parser reports it.
    if (!takesValue || value === undefined) words.push(`-${letter}${rest}`);
    else if (letter === 'F') words.push('-F', value);
    return { words, tookNext: takesValue && rest === '' && value !== undefined };
  }
  return { words, tookNext: false };
}
