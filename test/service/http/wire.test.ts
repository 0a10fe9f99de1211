import { describe, expect, it, onTestFinished } from 'vitest';
import { createService, type SeenRequest } from '../../../src/service/index.js';
import { fakeOperations, goodKey, ids, openApp } from './fake-operations.js';
import { Client, serve } from './raw-client.js';
import { type Asked, ask, everywhere, inside, json, key, post, raw, raws } from './wire-requests.js';

const kept = '\n(kept)';
const next = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

/** The bytes that answer a request, without what differs from run to run, and whether the connection takes the next one. */
async function answerTo(client: Client, bytes: string): Promise<string> {
  client.say(bytes + next);
  await Promise.race([client.closed, client.hears('{"status":"ok"}')]);
  client.socket.destroy();
  const end = client.received.lastIndexOf('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n');
  const isKept = client.received.endsWith('{"status":"ok"}') && end >= 0;
  const answer = (isKept ? client.received.slice(0, end) : client.received)
    .replaceAll(/^(date|etag): .*\r$/gim, '$1: ...\r')
    .replaceAll(/^(content-length): \d{4,}\r$/gim, '$1: ...\r')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}/g, (id) =>
      Object.values<string>(ids).includes(id) ? id : '<uuid>',
    );
  return `${answer}${isKept ? kept : ''}`;
}

/** One line a head, one a body. */
const printed = (answer: string) => answer.replaceAll('\r\n\r\n', '\n').replaceAll('\r\n', ' | ');

const options = { newRequestId: () => 'one', report: () => {} };

describe('the bytes of an answer', () => {
  it.each([
    ...Object.entries(everywhere).map(([name, asked]) => [name, raw(asked), {}, {}] as const),
    ...Object.entries(raws).map(([name, bytes]) => [name, bytes, {}, {}] as const),
    ...Object.entries(inside).map(
      ([name, [asked, overrides, given]]) => [name, raw(asked), overrides, given] as const,
    ),
  ])('to %s', async (_, bytes, overrides, given) => {
    const { open } = await serve(overrides, { app: { ...options, ...given } });
    expect(printed(await answerTo(open(), bytes))).toMatchSnapshot();
  });

  it('to the description', async () => {
    const { open } = await serve({}, { app: options });
    const answer = await open()
      .say(raw(ask('GET /v1/openapi.json')))
      .hears(/\}$/);
    const [, length, body = ''] = /\r\nContent-Length: (\d+)\r\n[\s\S]*?\r\n\r\n([\s\S]*)/.exec(answer) ?? [];
    expect(Buffer.byteLength(body)).toBe(Number(length));
  });
});

describe('in this process', () => {
  const sameAnywhere = Object.entries(everywhere).map(([name, asked]) => [name, asked, {}, {}] as const);
  const sameInside = Object.entries(inside).map(
    ([name, [asked, overrides, given]]) => [name, asked, overrides, given] as const,
  );

  it.each([...sameAnywhere, ...sameInside])('the same answers: %s', async (_, asked, overrides, given) => {
    const [method = '', target = ''] = asked.line.split(' ');
    const headers = Object.fromEntries(asked.headers.map((each) => each.split(/: (.*)/) as [string, string]));
    const { open } = await serve(overrides, { app: { ...options, ...given } });
    const [head = '', body = ''] = (await answerTo(open(), raw(asked))).replace(kept, '').split('\r\n\r\n');
    const [status = '', ...lines] = head.split('\r\n');
    const own = lines.filter((line) => !/^(?:Content-Length|Date|Connection|Keep-Alive):/.test(line));

    const app = () => openApp(fakeOperations(overrides).operations, { ...options, ...given });
    const url = `http://a${target}`;
    const plain = await app().exchange({ method, url, headers, body: asked.body });
    const masked = (lines: string[]) => lines.map((line) => line.replace(/^(etag): .*/i, '$1: ...'));
    expect(plain.status).toBe(Number(status.split(' ')[1]));
    expect(masked(Object.entries(plain.headers).map((each) => each.join(': ')))).toEqual(own);
    if (method !== 'HEAD') expect(plain.body).toBe(body);

    const response = await app().fetch(new Request(url, { method, headers, body: asked.body || null }));
    expect(response.status).toBe(plain.status);
    expect([...response.headers]).toEqual([...new Headers(plain.headers)]);
    expect(await response.text()).toBe(body);
  });

  it('a HEAD without web objects has the body', async () => {
    const { exchange } = openApp(fakeOperations().operations, options);
    const headers = { Authorization: `Bearer ${goodKey}` };
    expect(await exchange({ method: 'HEAD', url: 'http://a/v1/balance', headers })).toMatchObject({
      body: '{"balance":1000}',
    });
  });
});

describe('beside the API', () => {
  const posted = (line: string, type: string, ...headers: string[]): Asked => ({
    line,
    headers: [`Content-Type: ${type}`, ...headers],
    body: 'a=b',
  });
  const form = 'application/x-www-form-urlencoded';
  it.each<[string, Asked]>([
    ['metrics under another name, HEAD', ask('HEAD /metrics')],
    ['metrics, POST', posted('POST /metrics', form)],
    ['metrics with a query', ask('OPTIONS /metrics?a')],
    ['what is no metric', ask('GET /metrics/')],
    ['the dashboard under another name', ask('GET /dashboard')],
    ['the dashboard, PUT', ask('PUT /dashboard', 'Host: localhost:PORT')],
    ['the dashboard, HEAD', ask('HEAD /dashboard?a', 'Host: localhost:PORT')],
    ['the dashboard, a style', ask('HEAD /dashboard/none.css', 'Host: localhost:PORT')],
    [
      'the dashboard, no form',
      posted('POST /dashboard', json, 'Host: localhost:PORT', 'Origin: http://localhost:PORT'),
    ],
    [
      'the dashboard, a form',
      posted('POST /dashboard/language', form, 'Host: localhost:PORT', 'Origin: http://localhost:PORT'),
    ],
    [
      'a form that is too large',
      {
        ...posted('POST /dashboard/language', form, 'Host: localhost:PORT', 'Origin: http://localhost:PORT'),
        body: 'x'.repeat(1_000_001),
      },
    ],
    ['what is not under the dashboard', ask('GET /dashboards')],
    ['metrics in the query of an address', ask('GET http://evil?/metrics')],
    ['the API', ask('GET /v1/balance')],
  ])('%s', async (_, { line, headers, body }) => {
    const service = await createService({ metrics: true });
    onTestFinished(() => service.close());
    const { url } = await service.listen({ port: 0, metrics: true, dashboard: { publicUrl: null } });
    const port = new URL(url).port;
    const given = headers.map((each) => each.replace('PORT', port));
    const answer = await answerTo(new Client(Number(port)), raw({ line, headers: given, body }));
    const masked = answer.replaceAll(port, 'PORT').replace(/<!doctype[\s\S]*<\/html>/, '<!doctype html>');
    expect(printed(masked)).toMatchSnapshot();
  });

  it.each([
    ['metrics alone', ask('HEAD /metrics')],
    ['metrics alone, DELETE', ask('DELETE /metrics')],
    ['nothing else', ask('GET /v1/balance')],
  ])('%s', async (_, asked) => {
    const service = await createService({ metrics: true });
    onTestFinished(() => service.close());
    const { url } = await service.listenForMetrics({ host: '127.0.0.1', port: 0 });
    const answer = await answerTo(
      new Client(Number(new URL(url).port)),
      raw({ ...asked, headers: ['Connection: close'] }),
    );
    expect(printed(answer)).toMatchSnapshot();
  });

  it('each request is logged with its route, and the code of its error', async () => {
    const seen: SeenRequest[] = [];
    const service = await createService({ metrics: true });
    onTestFinished(() => service.close());
    const listening = await service.listen({
      port: 0,
      metrics: true,
      dashboard: { publicUrl: null },
      log: (request) => void seen.push(request),
    });
    const port = Number(new URL(listening.url).port);
    const own = key.replace(goodKey, service.localKey);
    const send = (to: string) => ({ ...post('/v1/sms', { to, text: 'x' }), headers: [own, json] });
    for (const asked of [
      ask('GET /v1/balance?a', own),
      ask(`HEAD /v1/messages/${ids.message}`, own),
      ask('GET /v1/messages/x', own),
      ask('GET /v1/messages/'),
      ask('DELETE /v1/verify/x/check', own),
      ask('GET /v1/sms'),
      ask('OPTIONS /v1', own),
      ask('GET /healthz'),
      ask('DELETE /v1/openapi.json'),
      ask('GET /metrics'),
      ask('GET /dashboard'),
      send('99112233'),
      send('1'),
      send('99000012'),
    ]) {
      const client = new Client(port);
      client.say(raw({ ...asked, headers: [...asked.headers, 'Connection: close'] }));
      await client.closed;
    }
    expect(
      seen.map(({ method, route, status, code, request_id: id, key: prefix }) =>
        [method, route, status, code, id === null ? 'no id' : 'id', prefix === null ? 'no key' : 'key'].join(
          ' ',
        ),
      ),
    ).toMatchInlineSnapshot(`
      [
        "GET /v1/balance 200  id key",
        "HEAD /v1/messages/:id 404 not_found id key",
        "GET /v1/messages/:id 404 not_found id key",
        "GET  401 unauthorized id no key",
        "DELETE /v1/verify/:id/check 405 method_not_allowed id key",
        "GET /v1/sms 401 unauthorized id no key",
        "OPTIONS  404 not_found id key",
        "GET /healthz 200  id no key",
        "DELETE /v1/openapi.json 405 method_not_allowed id no key",
        "GET  421  no id no key",
        "GET /dashboard 421  no id no key",
        "POST /v1/sms 200  id key",
        "POST /v1/sms 400 invalid_request id key",
        "POST /v1/sms   id key",
      ]
    `);
  });
});
