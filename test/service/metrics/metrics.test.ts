import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serviceErrors } from '../../../src/contract/index.js';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import { createService } from '../../../src/service/index.js';
import { Counter, Histogram, quotedLabel } from '../../../src/service/metrics/families.js';
import { Metrics } from '../../../src/service/metrics/metrics.js';

describe('a histogram', () => {
  it('counts every value in its bucket and in those above, and sums them up', () => {
    const histogram = new Histogram('seconds', 'Some.');
    for (const milliseconds of [0, 1, 1.1, 30_000, 30_001]) histogram.observe('a="b"', milliseconds);
    const lines = histogram.write().split('\n');
    expect(lines.slice(0, 2)).toEqual(['# HELP seconds Some.', '# TYPE seconds histogram']);
    expect(lines).toContain('seconds_bucket{a="b",le="0.001"} 2');
    expect(lines).toContain('seconds_bucket{a="b",le="0.0025"} 3');
    expect(lines).toContain('seconds_bucket{a="b",le="10"} 3');
    expect(lines).toContain('seconds_bucket{a="b",le="30"} 4');
    expect(lines).toContain('seconds_bucket{a="b",le="+Inf"} 5');
    expect(lines).toContain('seconds_count{a="b"} 5');
    expect(lines.some((line) => line.startsWith('seconds_sum{a="b"} 60.003'))).toBe(true);
  });

  it('keeps labels apart and within their quotes', () => {
    const counter = new Counter('n', 'Some.');
    for (const route of ['a', 'b', 'a', 'x"\\\n']) counter.add(`route="${quotedLabel(route)}"`);
    const expected = ['n{route="a"} 2', 'n{route="b"} 1', 'n{route="x\\"\\\\\\n"} 1'];
    expect(counter.write().trim().split('\n').slice(2)).toEqual(expected);
  });
});

describe('the metrics of a service', () => {
  async function listening(metrics: boolean) {
    const service = await createService({ metrics });
    onTestFinished(() => service.close());
    const { url } = await service.listen({ port: 0, metrics });
    const page = async () => {
      const answer = await fetch(url.replace('/v1', '/metrics'));
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
    };
    const send = (path: string, body: object, key = service.localKey) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then((answer) => answer.text());
    return { service, page, send };
  }

  it('say which lane and which project its carrier slows down, and since when', async () => {
    const { page, send } = await listening(true);
    const to = Array.from({ length: 6 }, (_, index) => `fault-busy@example${index}.mn`);
    await send('/email/bulk', { to, subject: 'S', text: 'T' });
    const slow = async () => (await page()).text.match(/^urtuu_lane_slow_seconds\{.*$/gm) ?? [];
    while ((await slow()).length === 0) await new Promise(setImmediate);
    const project = '00000000-0000-7000-8000-000000000001';
    expect((await slow()).map((line) => line.replace(/ [\d.]+$/, ''))).toEqual([
      'urtuu_lane_slow_seconds{lane="email",project="",state="suspected",code="busy"}',
      `urtuu_lane_slow_seconds{lane="email",project="${project}",state="suspected",code="busy"}`,
    ]);
  });

  it('count requests, refusals, submissions and messages by their outcome', async () => {
    const { service, page, send } = await listening(true);
    await send('/sms', { to: '99112233', text: 'Hello' });
    await send('/sms', { to: '99000001', text: 'Hello' });
    await send('/sms/bulk', { to: ['99112244', '88112244'], text: 'Hello' });
    await send('/nothing/99112233', {});
    await send('/sms', { to: '99112233', text: 'Hello' }, 'nobody');
    const verification = JSON.parse(await send('/verify', { to: '99112255' }));
    await send(`/verify/${verification.id}/check`, { code: 'none' });
    await service.administration.idle();
    const { status, type, text } = await page();
    expect({ status, type }).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    const lines = text.split('\n');
    for (const line of [
      'urtuu_http_request_duration_seconds_count{route="POST /v1/sms",status="200"} 1',
      'urtuu_http_request_duration_seconds_count{route="POST /v1/sms",status="502"} 1',
      'urtuu_http_request_duration_seconds_count{route="POST /v1/sms",status="401"} 1',
      'urtuu_http_request_duration_seconds_count{route="POST /v1/sms/bulk",status="202"} 1',
      'urtuu_http_request_duration_seconds_count{route="other",status="404"} 1',
      'urtuu_refusals_total{code="provider_failed"} 1',
      'urtuu_refusals_total{code="unauthorized"} 1',
      'urtuu_messages_total{channel="sms",status="sent"} 4',
      'urtuu_messages_total{channel="sms",status="failed"} 1',
      'urtuu_submit_duration_seconds_count{route="Mobicom",result="accepted"} 3',
      'urtuu_verifications_total{result="created"} 1',
      'urtuu_verifications_total{result="verified"} 0',
      'urtuu_verifications_total{result="wrong"} 1',
      'urtuu_store_duration_seconds_count{operation="acceptBatch"} 1',
      'urtuu_carrier_connected{lane="sms",state="simulated"} 1',
    ])
      expect(lines).toContain(line);
    expect(text).not.toMatch(/99112233|Hello|nobody/);
    // Every line is a comment or a number with a name, as Prometheus reads them.
    for (const line of lines.filter(Boolean))
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) \w+ \S.*|\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? [-+\d.eInf]+)$/,
      );
  });

  it('are there at 0 with all labels that are known: Prometheus would not see a first failure', async () => {
    const { page } = await listening(true);
    const { text } = await page();
    for (const line of [
      ...['sms', 'email'].flatMap((channel) => [
        `urtuu_messages_total{channel="${channel}",status="sent"} 0`,
        `urtuu_messages_total{channel="${channel}",status="failed"} 0`,
        `urtuu_unknown_deliveries_total{channel="${channel}"} 0`,
      ]),
      ...Object.keys(serviceErrors).map((code) => `urtuu_refusals_total{code="${code}"} 0`),
      'urtuu_receipts_total{state="undelivered"} 0',
      'urtuu_gateway_requests_not_found_total{path="receipts"} 0',
      'urtuu_store_duration_seconds_count{operation="finalizeMessages"} 0',
    ])
      expect(text).toContain(`\n${line}\n`);
    expect(text).not.toContain('quantile');
  });

  it('of a route of a carrier are there at 0 before its first submission, and its first unread receipt', async () => {
    const metrics = new Metrics();
    onTestFinished(() => metrics.close());
    const gateway = { lanes: ['Gate "A"'], take: async () => null };
    metrics.wrappers.carriers([gateway, { lanes: ['SMPP'] }, { lanes: ['email'] }] as unknown as Carrier[]);
    const text = await metrics.read({
      heartbeat: { connections: [] },
      store: { queueDepth: async () => [], countUnjoined: async () => [] },
    });
    for (const result of ['accepted', 'later', 'refused', 'unknown'])
      expect(text).toContain(
        `urtuu_submit_duration_seconds_count{route="Gate \\"A\\"",result="${result}"} 0\n`,
      );
    for (const line of [
      'urtuu_gateway_requests_unread_total{path="incoming",route="Gate \\"A\\"",reason="state"} 0',
      'urtuu_gateway_requests_unread_total{path="receipts",route="SMPP",reason="body"} 0',
      'urtuu_segments_beyond_parts_total{route="SMPP"} 0',
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).not.toMatch(/_total\{.*route="email"/);
  });

  it('are for this machine: neither a detour of a path nor another host leads to them', async () => {
    const service = await createService({ metrics: true });
    onTestFinished(() => service.close());
    const main = new URL((await service.listen({ port: 0, metrics: true })).url);
    const own = new URL((await service.listenForMetrics({ host: '127.0.0.1', port: 0 })).url);
    const { port } = main;
    const statusOf = (url: URL, path: string, host: string, method = 'GET') =>
      new Promise((resolve, reject) => {
        request(url, { path, method, headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end();
      });
    const here = `127.0.0.1:${port}`;
    for (const path of ['/metrics', '/metrics?a=b', `http://${here}/metrics`])
      expect(await statusOf(main, path, here)).toBe(200);
    for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect(await statusOf(main, '/metrics', host)).toBe(200);
    const detours = [
      '/v1/../metrics',
      '/./metrics',
      '/v1/%2e%2e/metrics',
      '//metrics',
      '/metrics/',
      '/%6detrics',
    ];
    for (const path of detours)
      for (const url of [main, own]) expect(await statusOf(url, path, here)).not.toBe(200);
    for (const host of ['sms.example.mn', `sms.example.mn:${port}`, 'localhost', '127.0.0.1:1'])
      expect(await statusOf(main, '/metrics', host)).toBe(421);
    expect(await statusOf(main, '/metrics', here, 'POST')).toBe(405);
    // Scrapers know it by address, or by any name.
    expect(await statusOf(own, '/metrics', 'urtuu-one.monitoring.svc:9464')).toBe(200);
  });

  it('are not there unless they are asked for', async () => {
    const { page } = await listening(false);
    expect((await page()).status).toBe(404);
  });
});
