import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answers, refusal } from '../../../support/run.js';
import { desk, people } from './desks.js';

/** Fails at any question. */
const nobody = () => ({ terminal: 80, questions: answers() });

describe('before it asks for a text, a bulk command', () => {
  it('looks for a key', async () => {
    const here = desk(people(1));
    const { code, stderr } = await here.run('sms bulk list.csv', { ...nobody(), env: {} });
    expect(code).toBe(4);
    expect(stderr).toContain('no API key');
  });

  it('tries the key', async () => {
    const here = desk(people(1));
    here.project.options.instead = () => refusal(401, 'unauthorized');
    expect(await here.run('sms bulk list.csv', nobody())).toMatchObject({ code: 4 });
  });

  it('opens the embedded service', async () => {
    const here = desk(people(1));
    const openService = async () => {
      throw new Error('no engine');
    };
    const { stderr } = await here.run('sms bulk list.csv --sandbox', { ...nobody(), openService });
    expect(stderr).toContain('no engine');
  });

  it.each([
    ['a file that is missing', 'sms bulk missing.csv', 13, 'cannot read missing.csv'],
    ['a file of another kind', 'sms bulk page.csv', 8, 'is a web page'],
    ['a list without a recipient column', 'sms bulk mails.csv', 8, 'no recipient column found'],
    ['a list for another channel', 'email bulk list.csv', 8, 'no recipient column found'],
    ['a column that is not there', 'sms bulk list.csv --to-column tel', 8, 'unknown column tel'],
    ['a delimiter that is unknown', 'sms bulk list.csv --delimiter x', 2, 'unknown delimiter'],
    ['an encoding that is unknown', 'sms bulk list.csv --encoding x', 8, 'unknown encoding x'],
    [
      'a given subject with another column',
      "email bulk mails.csv --subject 'Hi {nme}'",
      8,
      'unknown column {nme}',
    ],
  ])('reads the header, and refuses %s', async (_, line, exit, reason) => {
    const here = desk(people(1));
    here.write('mails.csv', ['email,name', 'a@example.mn,A']);
    here.write('page.csv', ['<html>']);
    const { code, stderr } = await here.run(line, nobody());
    expect(code).toBe(exit);
    expect(stderr).toContain(reason);
    expect(here.project.sends).toEqual([]);
  });

  it('names the columns in its questions, and checks the answers', async () => {
    const here = desk(people(1));
    here.write('mails.csv', ['email,Нэр', 'a@example.mn,Бат']);
    const questions = answers('Сайн уу {Нэр}', 'Hello {Нэр}', true);
    expect(await here.run('email bulk mails.csv', { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(questions.asked.slice(0, 2)).toEqual(['Subject ({email} {Нэр}):', 'Text ({email} {Нэр}):']);
    expect(here.project.sends[0]?.body).toMatchObject({ subject: 'Сайн уу Бат', text: 'Hello Бат' });
    const wrong = await here.run('sms bulk list.csv', { terminal: 80, questions: answers('Hi {nmae}') });
    expect(wrong.stderr).toMatch(/refused: text: unknown column \{nmae\}\. Columns:\s+phone, name\./);
  });

  it('names only some of very many columns', async () => {
    const here = desk([]);
    here.write('wide.csv', [
      `phone,${Array.from({ length: 20 }, (_, n) => `c${n}`).join()}`,
      `99112233${',x'.repeat(20)}`,
    ]);
    const questions = answers('Hi', true);
    await here.run('sms bulk wide.csv', { terminal: 80, questions });
    expect(questions.asked[0]).toBe('Text ({phone} {c0} {c1} {c2} {c3} {c4} {c5} {c6} …):');
  });

  it('asks for the encoding of a header, once', async () => {
    const here = desk([]);
    const name = [0xed, 0xfd, 0xf0];
    const list = [...Buffer.from('phone,'), ...name, ...Buffer.from('\n99112233,'), 0xc1, 0xe0, 0xf2];
    writeFileSync(`${here.home}/list.csv`, Buffer.from(list));
    const questions = answers('windows-1251', 'Hi {нэр}', true);
    expect(await here.run('sms bulk list.csv', { terminal: 80, questions })).toMatchObject({ code: 0 });
    expect(questions.asked.filter((each) => each.includes('encoding'))).toHaveLength(1);
    expect(here.project.sends[0]?.body).toMatchObject({ text: 'Hi Бат' });
  });

  it('says in its question that nobody receives anything from the sandbox', async () => {
    const here = desk(people(1));
    const questions = answers(false);
    await here.run('sms bulk list.csv --text Hi --sandbox', { terminal: 80, questions });
    expect(questions.asked).toEqual([
      'Send to 1 recipient for 10 credits? Nobody receives anything: this is the sandbox.',
    ]);
  });
});
