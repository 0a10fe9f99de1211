import { describe, expect, it } from 'vitest';
import { desk, people } from '../desks.js';

describe('--report of a job that was finished, which counts as a success', () => {
  const job = 'sms bulk list.csv --text Hello --job july --yes --if-finished ok';

  it('is written, in place of an older file', async () => {
    const here = desk(people(2));
    expect(await here.run(job)).toMatchObject({ code: 0 });
    here.write('report.csv', ['of another run']);
    expect(await here.run(`${job} --report report.csv`)).toMatchObject({ code: 0 });
    expect(here.read('report.csv').match(/,sent,/g)).toHaveLength(2);
    expect(here.project.messages).toHaveLength(2);
  });

  it.each([
    ['incomplete: 14', 503, 14],
    ['alarming: 6', 200, 6],
  ])('is no success where it is %s', async (_, status, code) => {
    const here = desk(people(2));
    expect(await here.run(job)).toMatchObject({ code: 0 });
    for (const message of here.project.messages) message.to = '88000000';
    if (status === 503)
      here.project.options.instead = ({ path }) =>
        path.startsWith('/batches') ? { status, body: {} } : undefined;
    expect(await here.run(`${job} --report report.csv --wait-timeout 3s`)).toMatchObject({ code });
  });
});
