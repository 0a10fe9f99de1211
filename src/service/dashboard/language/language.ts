import { english, type Strings } from './english.js';
import { mongolian } from './mongolian.js';

export type { Strings };

export const languages: readonly Strings[] = [english, mongolian];

/** The chosen language, else the first supported one of the browser's, else English. */
export function languageOf(chosen: string | undefined, accepted: string): Strings {
  const wanted = [chosen ?? '', ...accepted.split(',').map((each) => each.trim().slice(0, 2).toLowerCase())];
  for (const code of wanted) {
    const found = languages.find((each) => each.code === code);
    if (found !== undefined) return found;
  }
  return english;
}

/** Replaces `{name}` by its value. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}
