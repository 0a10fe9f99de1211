import { describe, expect, it } from 'vitest';
import { cpuTime } from '../../support/cpu-time.js';
import { fakeOperations, type Given, openApp, request } from './fake-operations.js';

const limit = 1_000_000;
const good = { to: '99112233', text: 'Сайн уу' };

async function post(body: unknown, headers: NonNullable<Given['headers']> = {}, path = '/v1/sms') {
  const { operations, calls } = fakeOperations();
  const response = await openApp(operations).fetch(request(path, { body, headers }));
  const answer = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...answer.error, calls };
}
const refused = (status: number, code: string, message: string) => ({ status, code, message, calls: [] });
const invalid = (message: string) => refused(400, 'invalid_request', message);
const utf8 = (text: string) => new TextEncoder().encode(text);

function streamOf(...chunks: Uint8Array[]): { stream: ReadableStream; taken: () => number } {
  let next = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        const chunk = chunks[next];
        next += 1;
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => next };
}

describe('media type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; profile=x',
  ])('%s is taken', async (type) => {
    expect(await post(good, { 'content-type': type })).toMatchObject({ status: 200 });
  });

  it.each([
    null,
    '',
    'text/plain',
    'application/jsonp',
    'application/json, text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=',
  ])('%j is refused', async (type) => {
    const body = utf8(JSON.stringify(good));
    expect(await post(body, { 'content-type': type })).toEqual(
      refused(415, 'unsupported_media_type', 'Content-Type: must be application/json in UTF-8'),
    );
  });
});

describe('Size limits, request body', () => {
  const tooLarge = refused(413, 'request_too_large', 'The body is over the limit of 1000000 bytes');
  const filled = (bytes: number) => {
    const frame = JSON.stringify({ ...good, text: '' });
    return utf8(frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`));
  };

  it('counts bytes, not characters', async () => {
    const text = 'ж'.repeat(limit / 2);
    expect(await post({ ...good, text })).toEqual(tooLarge);
  });

  it('stops reading a stream that goes over', async () => {
    const { stream, taken } = streamOf(...Array.from({ length: 100 }, () => new Uint8Array(100_000)));
    expect(await post(stream)).toEqual(tooLarge);
    expect(taken()).toBeLessThan(13);
  });

  it.each([String(limit + 1), '9'.repeat(30), '1e9'])('refuses a claim of %s unread', async (length) => {
    const { stream, taken } = streamOf(utf8(JSON.stringify(good)));
    expect(await post(stream, { 'content-length': length })).toEqual(tooLarge);
    expect(taken()).toBe(0);
  });

  it.each(['5', '-1', 'x'])('does not believe a claim of %s', async (length) => {
    expect(await post(filled(limit + 1), { 'content-length': length })).toEqual(tooLarge);
    expect(await post(good, { 'content-length': length })).toMatchObject({ status: 200 });
  });

  it('refuses a stream that breaks off', async () => {
    const stream = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    expect(await post(stream)).toEqual(invalid('The body ended early'));
  });
});

describe('JSON is strict', () => {
  const levels = (depth: number) =>
    `{"to":"99112233","text":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  it.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'The body is empty; it must be a JSON object'],
    [
      'a byte order mark',
      '\uFEFF{"to":"99112233","text":"x"}',
      'The body must not start with a byte order mark',
    ],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'The body must be UTF-8'],
    ['an overlong form', new Uint8Array([0x22, 0xc0, 0xaf, 0x22]), 'The body must be UTF-8'],
    ['a surrogate in UTF-8', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), 'The body must be UTF-8'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 'The body must be UTF-8'],
    ['half an object', '{"to":', 'The body must be valid JSON'],
    ['two objects', '{}{}', 'The body must be valid JSON'],
    ['a comma too many', '{"to":"1",}', 'The body must be valid JSON'],
    ['single quotes', "{'to':'1'}", 'The body must be valid JSON'],
    ['a comment', '{} // x', 'The body must be valid JSON'],
    ['NaN', '{"to":NaN}', 'The body must be valid JSON'],
    ['a raw newline in a string', '{"to":"1\n"}', 'The body must be valid JSON'],
    ['null', 'null', 'The body must be a JSON object'],
    ['an array', '[{"to":"99112233"}]', 'The body must be a JSON object'],
    ['a string', '"x"', 'The body must be a JSON object'],
    ['a number', '1', 'The body must be a JSON object'],
    ['a key twice', '{"to":"1","text":"x","to":"2"}', 'to: appears twice in one object'],
    ['a key twice, once escaped', '{"to":"1","\\u0074o":"2"}', 'to: appears twice in one object'],
    ['a key twice, deep', '{"to":[{"a":1,"b":{},"a" \t\r\n:2}]}', 'a: appears twice in one object'],
    ['the empty key twice', '{"":1,"":2}', '"": appears twice in one object'],
    ['a quoted key twice', '{"\\"":1,"\\"":2}', '"\\"": appears twice in one object'],
    ['__proto__', '{"__proto__":{"to":"1"}}', '__proto__: is not allowed as a key'],
    ['__proto__, escaped', '{"\\u005f_proto__":1}', '__proto__: is not allowed as a key'],
    ['constructor, deep', '{"to":[{"constructor":1}]}', 'constructor: is not allowed as a key'],
    ['prototype', '{"prototype":1}', 'prototype: is not allowed as a key'],
    ['33 levels', levels(33), 'The body is nested more than 32 levels deep'],
    ['half a million levels', '['.repeat(499_999) + ']'.repeat(499_999), 'The body must be a JSON object'],
    ['deep and unclosed', '{"to":'.repeat(100_000), 'The body must be valid JSON'],
  ])('%s is refused', async (_name, body, message) => {
    expect(await post(body)).toEqual(invalid(message));
  });

  it.each<[string, string, string]>([
    ['a key as text', '{"to":"99112233","text":"to"}', 'to'],
    ['what looks like a key twice inside a text', '{"to":"1","text":"\\",\\"to\\":\\"2"}', '","to":"2'],
    ['a text that ends in a backslash', '{"to":"1","text":"\\\\"}', '\\'],
    ['a text of braces', '{"to":"1","text":"}{[__proto__"}', '}{[__proto__'],
    ['white space all around', ' \r\n\t{ "to" : "1" , "text" : "x" } \n', 'x'],
    ['an emoji in escapes', '{"to":"1","text":"\\ud83d\\ude00"}', '😀'],
  ])('%s is taken as it is', async (_name, body, text) => {
    expect((await post(body)).calls).toEqual([['sendSms', expect.objectContaining({ text }), null]]);
  });

  it('reads a megabyte of keys and quotes in linear time', async () => {
    const keys = Array.from({ length: 90_000 }, (_, at) => `"k${at}":1`).join(',');
    const started = cpuTime();
    expect(await post(`{${keys}}`)).toMatchObject({ status: 400 });
    expect(await post(`{"to":"1","text":"${'\\"'.repeat(490_000)}"}`)).toMatchObject({ status: 200 });
    expect(await post(`{"to":"1","text":"${'\\\\'.repeat(490_000)}"}`)).toMatchObject({ status: 200 });
    expect(cpuTime() - started).toBeLessThan(3_000);
  });
});

describe('field rules', () => {
  const mail = { to: 'bat@example.mn', subject: 's', text: 't' };
  const cases: [string, unknown, string][] = [
    ['/v1/sms', {}, 'to: is required; text: is required'],
    ['/v1/sms', { ...good, to: 99112233 }, 'to: must be a string'],
    ['/v1/sms', { ...good, to: ['99112233'] }, 'to: must be a string'],
    ['/v1/sms', { ...good, text: null }, 'text: must be a string'],
    ['/v1/sms', { ...good, text: true }, 'text: must be a string'],
    ['/v1/sms', { ...good, from: 'x', 'a b': 1 }, 'from: is not a known field; "a b": is not a known field'],
    ['/v1/sms', '{"to":"1","text":"\\ud800"}', 'text: must not contain half a surrogate pair'],
    [
      '/v1/email',
      '{"to":"a@b.mn","subject":"s\\ud83d","html":"\\udc00"}',
      'subject: must not contain half a surrogate pair; html: must not contain half a surrogate pair',
    ],
    ['/v1/sms', '{"to":"1\\u0000","text":"x"}', 'to: must not contain a NUL character'],
    ['/v1/sms/bulk', { ...good, to: '99112233' }, 'to: must be an array'],
    ['/v1/sms/bulk', { ...good, to: [] }, 'to: must have at least 1 entry'],
    ['/v1/sms/bulk', { ...good, to: Array(1_001).fill('99112233') }, 'to: must have at most 1000 entries'],
    [
      '/v1/email/bulk',
      { ...mail, to: [], from_name: 1, html: 1, reply_to: 1, subject: 1, text: 1 },
      'to: must have at least 1 entry; subject: must be a string; html: must be a string; ' +
        'text: must be a string; from_name: must be a string; and 1 more',
    ],
    ['/v1/email', { ...mail, reply_to: null }, 'reply_to: must be a string'],
    ['/v1/email', { ...mail, to: [mail.to] }, 'to: must be a string'],
    ['/v1/email/bulk', mail, 'to: must be an array'],
    ['/v1/verify', { to: '1', channel: 'call' }, 'channel: must be "sms" or "email"'],
    ['/v1/verify', { to: '1', channel: 'SMS' }, 'channel: must be "sms" or "email"'],
    ['/v1/verify', { to: '1', code_length: '6' }, 'code_length: must be a whole number'],
    ['/v1/verify', { to: '1', code_length: 6.5 }, 'code_length: must be a whole number'],
    ['/v1/verify', { to: '1', code_length: 3 }, 'code_length: must be at least 4'],
    ['/v1/verify', { to: '1', code_length: 9 }, 'code_length: must be at most 8'],
    ['/v1/verify', '{"to":"1","expires_in":1e999}', 'expires_in: must be a whole number'],
    ['/v1/verify', { to: '1', expires_in: 59 }, 'expires_in: must be at least 60'],
    ['/v1/verify', { to: '1', expires_in: 3_601 }, 'expires_in: must be at most 3600'],
    ['/v1/verify/33333333-3333-4333-8333-333333333333/check', { code: 123456 }, 'code: must be a string'],
  ];
  it.each(cases)('%s %j', async (path, body, message) => {
    expect(await post(body, {}, path)).toEqual(invalid(message));
  });
});
