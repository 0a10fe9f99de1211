const plainRecipients = /^\{"to":(?:"[^"\\\0-\x1f]+"|\["[^"\\\0-\x1f]+"(?:,"[^"\\\0-\x1f]+")*\])(?=,")/;

/**
 * Visits the recipients of a body, each as a part of a text, with the place in the body where the message begins. A
 * string for each would cost more than a look-up.
 */
export function visitRecipients(
  body: string,
  visit: (text: string, from: number, end: number, message: number) => void,
): void {
  const [list] = plainRecipients.exec(body) ?? [];
  if (list === undefined) {
    const { to } = JSON.parse(body) as { to: string | string[] };
    const message = `{"to":${JSON.stringify(to)},`.length;
    for (const each of [to].flat()) visit(each, 0, each.length, message);
    return;
  }
  const message = list.length + 1;
  for (let from = list.indexOf('"', '{"to":'.length) + 1; from < list.length; ) {
    const end = body.indexOf('"', from);
    visit(body, from, end, message);
    from = end + '","'.length;
  }
}

/** The list at the beginning of a body, as written: strings without escapes. */
const writtenList = /^\{"to":\["[^"\\\0-\x1f]+"(?:,"[^"\\\0-\x1f]+")*\](?=,")/;

/**
 * Empty for anything but a body: the file was changed then. JSON.parse looks up every short string in V8's table, which
 * takes three times as long as splitting.
 */
export function recipientsOf(body: string): string[] {
  try {
    const [list] = writtenList.exec(body) ?? [];
    if (list === undefined) {
      const { to } = JSON.parse(body) as { to?: string | string[] };
      return typeof to === 'string' ? [to] : (to ?? []);
    }
    JSON.parse(`{${body.slice(list.length + 1)}`);
    return list.slice('{"to":["'.length, -'"]'.length).split('","');
  } catch {
    return [];
  }
}
