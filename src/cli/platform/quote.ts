import { platformOf } from './platform.js';

/** Words that a POSIX shell takes as they are. A leading `=` is a path in zsh. */
const plainPosix = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * Words that PowerShell takes as they are: options and what begins with a letter. Numbers it would read as
 * numbers, a comma makes a list, and an option with a dot or a colon is torn in two.
 */
const plainPowerShell = /^(?:--?[A-Za-z][\w-]*|[A-Za-z_][\w.:\\/+-]*)$/;

/** All that PowerShell takes for a single quote. */
const singleQuotes = /['\u2018-\u201b]/g;

/** A word of a command as it has to be typed: in a POSIX shell, or on Windows in PowerShell. */
export function quoteArgument(word: string, platform: NodeJS.Platform): string {
  if (platformOf(platform).quoting === 'powershell') {
    return plainPowerShell.test(word) ? word : `'${word.replace(singleQuotes, '$&$&')}'`;
  }
  return plainPosix.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
