import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readConfiguration } from '../../../../src/service/carriers/configured/read-configuration.js';
import { AccessToken } from '../../../../src/service/carriers/smtp/access-token.js';
import { emptyFolder } from '../../../support/folders.js';

const folder = emptyFolder();
let file: string;
beforeEach(() => {
  file = join(folder, 'service.json');
});

const route = {
  name: 'Mobicom',
  smpp: 'smpp+tls://smsc.example.mn:3550',
  system_id: 'urtuu',
  password: { env: 'PASSWORD' },
  prefixes: ['99'],
};

function read(written: unknown) {
  writeFileSync(file, typeof written === 'string' ? written : JSON.stringify(written));
  return readConfiguration({ file, environment: { PASSWORD: 'secret', EMPTY: '', LINES: 'a\nb' } });
}

const withRoutes = (...routes: object[]) => ({ email: 'off', sms: { routes } });
const relay = { smtp: 'smtp://relay.example.mn', from: 'no-reply@example.mn' };
const withEmail = (changes: object) => ({ sms: 'off', email: { ...relay, ...changes } });
const changed = (changes: object) => withRoutes({ ...route, ...changes });

/** Every field that may be written. */
const routeFields = {
  ...route,
  bind: 'transceiver',
  binds: 1,
  system_type: '',
  address_range: '^97699',
  service_type: 'CMT',
  source: '139911',
  source_ton: 3,
  source_npi: 0,
  dest_ton: 1,
  dest_npi: 1,
  number_form: 'international',
  alphabet: 'gsm',
  segments: 'udh',
  validity: '24h',
  validity_format: 'relative',
  receipt_id: 'same',
  permanent: ['0x0403', 1025],
  temporary: ['0x45'],
  window: 20,
  per_second: 100,
  enquire_interval: '30s',
  tlvs: 'on',
  fallback: [],
  links: true,
};
const emailFields = {
  ...relay,
  user: 'urtuu',
  password: { env: 'PASSWORD' },
  tls: 'required',
  name: 'app.example.mn',
  bounce_domain: 'bounce.example.mn',
  connections: 4,
  per_second: 2,
  per_minute: 30,
  per_day: 500,
};

describe('a configuration', () => {
  it.each(['simulated', 'off'] as const)('without carriers says so: %s', (given) => {
    expect(read({ sms: given, email: given })).toEqual({ sms: given, email: given });
  });

  it('has defaults for all but a few fields', () => {
    expect(read(changed({}))).toEqual({
      email: 'off',
      sms: {
        routes: [
          {
            name: 'Mobicom',
            host: 'smsc.example.mn',
            port: 3550,
            tls: true,
            systemId: 'urtuu',
            password: 'secret',
            systemType: '',
            addressRange: '',
            serviceType: '',
            bind: 'transceiver',
            binds: 1,
            source: '',
            sourceTon: 0,
            sourceNpi: 0,
            destTon: 1,
            destNpi: 1,
            numberForm: 'international',
            alphabet: 'gsm',
            segments: 'udh',
            validityMs: 86_400_000,
            validityFormat: 'relative',
            receiptId: 'same',
            permanent: [],
            temporary: [],
            window: 10,
            perSecond: 100,
            enquireMs: 30_000,
            hasTlvs: true,
            prefixes: ['99'],
            fallback: [],
            links: true,
            inboxProject: null,
          },
        ],
      },
    });
  });

  it.each([
    ['smpp://10.0.0.7', { host: '10.0.0.7', port: 2775, tls: false }],
    ['smpp+tls://a.mn', { host: 'a.mn', port: 3550, tls: true }],
    ['smpp://[::1]:9000', { host: '::1', port: 9000, tls: false }],
  ])('takes the address %s', (smpp, expected) => {
    expect(read(changed({ smpp })).sms).toMatchObject({ routes: [expected] });
  });

  it('has defaults for a mail relay', () => {
    expect(read(withEmail({})).email).toEqual({
      host: 'relay.example.mn',
      port: 587,
      tls: 'required',
      login: null,
      from: 'no-reply@example.mn',
      name: 'example.mn',
      bounceDomain: null,
      connections: 4,
      perSecond: null,
      perDay: null,
    });
  });

  it.each([
    [{ smtp: 'smtps://a.mn' }, { host: 'a.mn', port: 465, tls: 'implicit' }],
    [{ smtp: 'smtps://a.mn', tls: 'required' }, { tls: 'implicit' }],
    [
      { smtp: 'smtp://a.mn:25', tls: 'off' },
      { port: 25, tls: 'off' },
    ],
    [{ smtp: 'smtp://localhost' }, { tls: 'off' }],
    [{ smtp: 'smtp://[::1]' }, { host: '::1', tls: 'off' }],
    [{ smtp: 'smtp://127.0.0.1', tls: 'required' }, { tls: 'required' }],
    [{ smtp: 'smtp://127.0.0.1.example.mn' }, { tls: 'required' }],
    [{ user: 'u', password: { env: 'PASSWORD' } }, { login: { user: 'u', password: 'secret' } }],
    [{ name: 'App-1.example.mn' }, { name: 'App-1.example.mn' }],
    [{ name: '[192.0.2.1]' }, { name: '[192.0.2.1]' }],
    [{ name: '[IPv6:2001:db8::1]' }, { name: '[IPv6:2001:db8::1]' }],
    [{ per_second: 2 }, { perSecond: 2 }],
    [{ per_minute: 30 }, { perSecond: 0.5 }],
    [{ per_second: 2, per_minute: 30 }, { perSecond: 0.5 }],
    [{ per_day: 2_000 }, { perSecond: null, perDay: 2_000 }],
    [
      { bounce_domain: 'b.mn', connections: 10 },
      { bounceDomain: 'b.mn', connections: 10 },
    ],
  ])('of a mail relay: %j', (changes, expected) => {
    expect(read(withEmail(changes)).email).toMatchObject(expected);
  });

  it('takes the token of a mailbox from a command, which others cannot change', () => {
    const program = join(folder, 'token');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    const email = withEmail({ user: 'u', token: { command: ['./token', '--of', 'u'] } });
    expect(read(email).email).toMatchObject({
      login: { user: 'u', token: expect.any(AccessToken) },
    });
    chmodSync(program, 0o722);
    expect(() => read(email)).toThrow('email.token.command: ');
  });

  it('reads a secret from a file beside it, without the newline at its end', () => {
    writeFileSync(join(folder, 'mobicom'), 'from file\n');
    expect(read(changed({ password: { file: 'mobicom' } })).sms).toMatchObject({
      routes: [{ password: 'from file' }],
    });
  });

  it.each([
    [{}, 'sms: is required; email: is required'],
    [{ sms: 'off' }, 'email: is required'],
    [{ sms: 'on', email: 'off' }, 'sms: must be "simulated" or "off" or {"routes": [...]}'],
    [{ sms: 'off', email: 'on' }, 'email: must be "simulated" or "off" or {"smtp": ...}'],
    [{ sms: 'off', email: {} }, 'email.smtp: is required; email.from: is required'],
    [withEmail({ smtp: 'http://a.mn' }), 'email.smtp: must be smtp://<host>:<port> or smtps://'],
    [withEmail({ smtp: 'smtp://u:p@a.mn' }), 'email.smtp: must be smtp://'],
    [withEmail({ smtp: 'smtps://a.mn', tls: 'off' }), 'email.tls: must not be "off"'],
    [withEmail({ tls: 'maybe' }), 'email.tls: must be "required" or "off"'],
    [withEmail({ user: 'u' }), 'email.password: is required with "user"'],
    [withEmail({ password: { env: 'PASSWORD' } }), 'email.user: is required with "password"'],
    [withEmail({ token: { command: ['t'] } }), 'email.user: is required with "token"'],
    [
      withEmail({ user: 'u', password: { env: 'PASSWORD' }, token: { command: ['t'] } }),
      'email.token: must not be combined with "password"',
    ],
    [withEmail({ user: 'u', token: { command: [] } }), 'email.token.command: must have at least 1 entry'],
    [withEmail({ user: 'u', token: { command: [''] } }), 'email.token.command[0]: must be a program'],
    [withEmail({ user: 'u', token: { command: 'gcloud print' } }), 'email.token.command: must be an array'],
    [withEmail({ user: 'u', token: { command: ['./token'] } }), /token\.command: cannot read .*no such file/],
    [withEmail({ user: 'u', password: 'p' }), 'email.password: must be {"env": "<variable>"}'],
    [withEmail({ from: 'Урту <a@b.mn>' }), 'email.from: must be an email address'],
    [withEmail({ from: 'a@Example.mn' }), 'email.from: must be an email address'],
    [withEmail({ bounce_domain: 'Bounce.mn' }), 'email.bounce_domain: must be a domain'],
    ...['app', 'a_b.mn', '192.0.2.1', '[2001:db8::1]', '[IPv6:192.0.2.1]', 'a.mn\r\nMAIL', 'a.mn.', ''].map(
      (name): [object, string] => [withEmail({ name }), 'email.name: must be a host name'],
    ),
    [withEmail({ connections: 11 }), 'email.connections: must be at most 10'],
    [withEmail({ per_minute: 0 }), 'email.per_minute: must be at least 1'],
    [withEmail({ per_day: 0 }), 'email.per_day: must be at least 1'],
    [withEmail({ connections: 0 }), 'email.connections: must be at least 1'],
    [withEmail({ port: 25 }), 'email.port: is not a known field'],
    [{ sms: 'off', email: 'off', push: 'off' }, 'push: is not a known field'],
    ['[]', 'must be an object'],
    ['{', 'is not JSON'],
    [withRoutes(), 'sms.routes: must have at least 1 entry'],
    [withRoutes({}), 'sms.routes[0].name: is required; sms.routes[0].smpp: is required'],
    [changed({ prefix: [] }), 'sms.routes[0].prefix: is not a known field'],
    [changed({ name: 'email' }), 'sms.routes[0].name: is a reserved name'],
    [changed({ name: '' }), 'sms.routes[0].name: must have at least 1 character'],
    [changed({ smpp: 'http://a.mn' }), 'sms.routes[0].smpp: must be smpp://'],
    [changed({ smpp: 'smpp://user:pw@a.mn' }), 'sms.routes[0].smpp: must be smpp://'],
    [changed({ smpp: 'a.mn:2775' }), 'sms.routes[0].smpp: must be smpp://'],
    [changed({ system_id: 'x'.repeat(16) }), 'sms.routes[0].system_id: must have at most 15 characters'],
    [changed({ source: 'Өртөө' }), 'sms.routes[0].source: must be printable ASCII'],
    [changed({ password: 'secret' }), 'sms.routes[0].password: must be {"env": "<variable>"} or'],
    [changed({ password: { env: 'A', file: 'b' } }), 'sms.routes[0].password: must be {"env"'],
    [changed({ password: { env: 'UNSET' } }), 'sms.routes[0].password: the variable UNSET is not set'],
    [changed({ password: { env: 'EMPTY' } }), 'sms.routes[0].password: is empty or not printable ASCII'],
    [changed({ password: { env: 'LINES' } }), 'sms.routes[0].password: is empty or not printable ASCII'],
    [
      changed({ password: { file: 'missing' } }),
      /sms\.routes\[0\]\.password: cannot read .*missing: no such file or directory$/,
    ],
    [changed({ bind: 'receiver' }), 'sms.routes[0].bind: must be "transceiver" or "transmitter+receiver"'],
    [changed({ window: 51 }), 'sms.routes[0].window: must be at most 50'],
    [changed({ permanent: ['69'] }), 'sms.routes[0].permanent[0]: must be a status other than 0, as "0x45"'],
    [changed({ permanent: ['0x0'] }), 'sms.routes[0].permanent[0]: must be a status other than 0'],
    [changed({ temporary: [1.5] }), 'sms.routes[0].temporary[0]: must be a status other than 0'],
    [changed({ permanent: [69], temporary: ['0x45'] }), 'sms.routes[0].temporary: 0x45 is in permanent too'],
    [changed({ per_second: 0 }), 'sms.routes[0].per_second: must be at least 1'],
    [changed({ per_second: 0.5 }), 'sms.routes[0].per_second: must be a whole number'],
    [changed({ links: 'no' }), 'sms.routes[0].links: must be'],
    [
      changed({ alphabet: 'utf-8' }),
      'sms.routes[0].alphabet: must be "gsm" or "latin1" or "ascii" or "ucs2"',
    ],
    [changed({ validity: '24' }), 'sms.routes[0].validity: must be 1m to 14d, as 24h'],
    [changed({ validity: '15d' }), 'sms.routes[0].validity: must be 1m to 14d, as 24h'],
    [changed({ enquire_interval: '4s' }), 'sms.routes[0].enquire_interval: must be 5s to 10m, as 30s'],
    [changed({ enquire_interval: '11m' }), 'sms.routes[0].enquire_interval: must be 5s to 10m, as 30s'],
    [
      changed({ tlvs: 'off', segments: 'sar' }),
      'sms.routes[0].tlvs: must not be "off": segments "sar" needs',
    ],
    [changed({ address_range: 'x'.repeat(41) }), 'sms.routes[0].address_range: must have at most 40'],
    [changed({ service_type: 'USSD-1' }), 'sms.routes[0].service_type: must have at most 5 characters'],
    [changed({ prefixes: ['9'] }), 'sms.routes[0].prefixes[0]: must be two digits'],
    [changed({ prefixes: [] }), 'sms.routes[0].prefixes: is required'],
    [withRoutes(route, { ...route, prefixes: ['88'] }), 'sms.routes[1].name: is the name of another route'],
    [withRoutes(route, { ...route, name: 'U' }), 'sms.routes[1].prefixes: 99 already belongs to Mobicom'],
    [changed({ fallback: ['none'] }), 'sms.routes[0].fallback: there is no route "none"'],
    [changed({ fallback: ['Mobicom'] }), 'sms.routes[0].fallback: must not name the route itself'],
  ])('%j is refused: %s', (written, problem) => {
    const expected = typeof problem === 'string' ? `${file}: ${problem}` : problem;
    expect(() => read(written)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message:
          typeof expected === 'string' ? expect.stringContaining(expected) : expect.stringMatching(expected),
      }),
    );
  });

  it.each(
    Object.keys(routeFields).flatMap((field) => [null, -1, { a: 1 }].map((wrong) => [field, wrong] as const)),
  )('names the field of a route: %s is %j', (field, wrong) => {
    expect(() => read(changed({ [field]: wrong }))).toThrow(`${file}: sms.routes[0].${field}`);
  });

  it.each(
    Object.keys(emailFields).flatMap((field) => [null, -1, { a: 1 }].map((wrong) => [field, wrong] as const)),
  )('names the field of a relay: %s is %j', (field, wrong) => {
    expect(() => read(withEmail({ ...emailFields, [field]: wrong }))).toThrow(`${file}: email.${field}`);
  });

  it('that is not there is refused', () => {
    const source = { file: join(folder, 'missing.json'), environment: {} };
    expect(() => readConfiguration(source)).toThrow(`cannot read ${source.file}: no such file or directory`);
    expect(() => readConfiguration({ ...source, file: folder })).toThrow(
      `cannot read ${folder}: illegal operation on a directory`,
    );
  });

  it('never shows a secret in its errors', () => {
    try {
      read(changed({ password: 'hunter2', system_id: 5 }));
      expect.unreachable();
    } catch (error) {
      expect(String((error as Error).message)).not.toContain('hunter2');
    }
  });
});
