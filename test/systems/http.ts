import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Asks a server of this machine. Not with `fetch`, which cannot connect under Wine. */
export async function ask(
  url: string,
  headers: Record<string, string> = {},
  form?: Record<string, string>,
): Promise<Answer> {
  const body = form === undefined ? '' : new URLSearchParams(form).toString();
  const outgoing = request(url, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      ...headers,
      ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
    },
    agent: false,
  });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  return { status: incoming.statusCode, headers: incoming.headers, text: await text(incoming) };
}
