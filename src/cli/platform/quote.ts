import { platformOf } from './platform.js';

/** Words that need no quotes in a POSIX shell. A leading `=` is a path in zsh. */
const plainPosix = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * Words that need no quotes in PowerShell: options, and words that start with a letter. It parses numbers, turns
 * commas into lists, and splits an option at a dot or a colon.
 */
const plainPowerShell = /^(?:--?[A-Za-z][\w-]*|[A-Za-z_][\w.:\\/+-]*)$/;

/** The characters that PowerShell treats as a single quote. */
const singleQuotes = /['\u2018-\u201b]/g;

/** Quotes a word for a POSIX shell, or on Windows for PowerShell. */
export function quoteArgument(word: string, platform: NodeJS.Platform): string {
  if (platformOf(platform).quoting === 'powershell') {
    return plainPowerShell.test(word) ? word : `'${word.replace(singleQuotes, '$&$&')}'`;
  }
  return plainPosix.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * A line for the same shells that runs a command with its own variables. A variable without a value must be set: a
 * POSIX shell stops there if it is not.
 */
export function shellLine(
  words: readonly string[],
  variables: Readonly<Record<string, string | null>>,
  platform: NodeJS.Platform,
): string {
  const isPosix = platformOf(platform).quoting === 'posix';
  const set = Object.entries(variables).flatMap(([name, value]) => {
    if (value === null) return isPosix ? [`${name}="\${${name}:?}"`] : [];
    return [
      isPosix
        ? `${name}=${quoteArgument(value, platform)}`
        : `$env:${name}='${value.replace(singleQuotes, '$&$&')}';`,
    ];
  });
  return [...set, ...words.map((word) => quoteArgument(word, platform))].join(' ');
}
