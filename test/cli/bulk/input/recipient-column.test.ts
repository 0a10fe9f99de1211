import { describe, expect, it } from 'vitest';
import { plan, refusal, requestsOf } from '../plans.js';

describe('the recipient column is recognised by its name', () => {
  it.each([
    'to',
    'Phone',
    'PHONE NUMBER',
    'phone_number',
    ' number ',
    'Mobile',
    'tel.',
    'MSISDN',
    'утас',
    'Утас',
    'УТАСНЫ ДУГААР',
    'дугаар',
    'Гар утас',
    ...['Phone 1 - Value', 'Mobile No.', 'PhoneNumber', 'Phone (mobile)', 'Contact No', 'phone1', 'Cell #'],
    ...[
      'Утас 1',
      'Утас №1',
      'Утас№',
      'Тел',
      'Тел:',
      'Телефоны дугаар',
      'Утасны дугаар 1',
      'Холбоо барих дугаар',
    ],
    ...['Моб. телефон', 'Мобильный телефон', 'Номер тел.', 'Контактный телефон'],
  ])('%j for SMS', async (name) => {
    const outcome = await plan(`id,${name},email\n1,99112233,a@b.mn\n`);
    expect((await requestsOf(outcome))[0]?.to).toEqual(['99112233']);
  });

  it.each([
    'to',
    'email',
    'E-Mail',
    'mail',
    'Email address',
    'имэйл',
    'И-мэйл',
    'ИМЭЙЛ ХАЯГ',
    'цахим шуудан',
    ...[
      'E-mail 1 - Value',
      'Email хаяг',
      'Имейл',
      'Майл хаяг',
      'Цахим шуудангийн хаяг',
      'email_address_1',
      'Адрес эл. почты',
    ],
  ])('%j for email', async (name) => {
    const outcome = await plan(`id,${name},phone\n1,a@b.mn,99112233\n`, { channel: 'email', subject: 'Hi' });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['a@b.mn']);
  });

  it.each([
    ['phone,Утас 2,Mobile No.', '99112233'],
    ['Phone 1 - Type,Phone 1 - Value,Phone 1 - Label', '88112233'],
    ['Home Phone,Mobile Phone,Business Phone', '88112233'],
  ])('and by the better known of two names: %s', async (names, to) => {
    const outcome = await plan(`${names}\n99112233,88112233,80112233\n`);
    expect((await requestsOf(outcome))[0]?.to).toEqual([to]);
  });

  it('or named', async () => {
    const outcome = await plan('owner,утас\n99112233,88112233\n', { toColumn: 'owner' });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['99112233']);
  });

  it.each([
    [
      'phone,mobile\n1,2\n',
      {},
      'list.csv:1: more than one recipient column: phone, mobile',
      /--to-column\. Columns: phone, mobile\./,
    ],
    [
      'Phone 1 - Value,Phone 2 - Value\n1,2\n',
      {},
      'list.csv:1: more than one recipient column: Phone 1 - Value, Phone 2 - Value',
      /--to-column\./,
    ],
    ['id,name\n1,2\n', {}, 'list.csv:1: no recipient column found', /Columns: id, name\./],
    ['99112233,Bat\n1,2\n', {}, 'list.csv:1: no recipient column found', /--headerless/],
    ['phone\n1\n', { toColumn: 'утас' }, 'list.csv:1: unknown column утас', /Columns: phone/],
    ['1,Bat\n2,Dorj\n', { headerless: true }, 'list.csv:1: no recipient column found', /Columns: 1, 2\./],
  ])('%j %j is an error that lists the columns', async (csv, options, message, hint) => {
    expect(await refusal(csv, options)).toMatchObject({
      name: 'InputError',
      kind: 'columns',
      message,
      hint: expect.stringMatching(hint),
    });
  });
});

describe('header names', () => {
  it.each([
    ['phone,name,phone\n', 'list.csv:1: duplicate column phone'],
    ['sep=;\r\n\r\nphone;name; phone\r\n', 'list.csv:3: duplicate column phone'],
    ['phone,na\ufffdme\n', 'list.csv:1: damaged characters in the header'],
  ])('%j is an error', async (csv, message) => {
    expect(await refusal(csv)).toMatchObject({ name: 'InputError', message });
  });
});

describe('a list without a header', () => {
  it('takes its only column', async () => {
    const outcome = await plan('99112233\n88112233', { headerless: true });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['99112233', '88112233']);
    expect(outcome.meta.columns).toEqual(['1']);
  });
  it('numbers its columns', async () => {
    const outcome = await plan('Bat;99112233\nDorj;88112233', {
      headerless: true,
      toColumn: '2',
      text: 'Hello {1}',
    });
    expect((await requestsOf(outcome)).map(({ body }) => body)).toEqual([
      '{"to":"99112233","text":"Hello Bat"}',
      '{"to":"88112233","text":"Hello Dorj"}',
    ]);
  });
});

describe('very many columns', () => {
  it('are read in a time that grows with them, not with their square', async () => {
    const names = [...Array.from({ length: 100_000 }, (_, index) => `c${index}`), 'phone'];
    const values = names.map((name) => (name === 'phone' ? '99112233' : 'x'));
    const before = process.cpuUsage();
    const outcome = await plan(`${names.join()}\n${values.join()}\n`, { text: 'Hi {c7}' });
    const { user, system } = process.cpuUsage(before);
    expect(outcome.meta.recipients).toBe(1);
    expect((user + system) / 1e6).toBeLessThan(4);
  });
});
