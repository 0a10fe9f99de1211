/** Masks recipients anywhere in a text. */
export function maskedText(text: string): string {
  return text
    .replace(/(?<![^\s"'<>,;])[^\s"'<>,;]+@[^\s"'<>,;]+/g, masked)
    .replace(/\+?\d[\d -]{4,}\d/g, maskedRun);
}

/** Only what begins and ends at the edges of words: an id has digits too. */
function maskedRun(run: string, at: number, whole: string): string {
  const isInWord = (index: number) => /[\w-]/.test(whole.charAt(index));
  const begin = isInWord(at - 1) ? run.search(/(?<=[ +])\d/) : 0;
  const end = isInWord(at + run.length) ? (/^.*\d(?= )/s.exec(run)?.[0].length ?? 0) : run.length;
  const number = run.slice(begin, end);
  return begin < 0 || !/\d.{4,}\d/s.test(number)
    ? run
    : run.slice(0, begin) + masked(number) + run.slice(end);
}

/**
 * 9911**33, b***@example.mn. In a cell with other text, every number is masked; a cell without a number is masked as
 * a whole.
 */
export function masked(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  if (at > 0) return `${recipient.slice(0, 1)}***${recipient.slice(at)}`;
  if (!/[^+\d\s./()-]/.test(recipient)) return maskedNumber(recipient);
  if (!/\d/.test(recipient)) return shortened(recipient);
  return recipient.replace(/\+?\d[\d\s./()-]{3,}\d/g, maskedNumber);
}

/** Of two numbers in one, only the first four digits remain. */
function maskedNumber(number: string): string {
  const digits = number.replace(/[^+\d]/g, '');
  return digits.length > 13 ? `${digits.slice(0, 4)}**` : shortened(digits);
}

const shortened = (text: string) => (text.length < 4 ? '****' : `${text.slice(0, -4)}**${text.slice(-2)}`);
