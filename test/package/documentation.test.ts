import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('every public type of the client, each member and each parameter has a comment', () => {
  const script = join(import.meta.dirname, 'undocumented.js');
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  const { names, undocumented } = JSON.parse(printed) as { names: string[]; undocumented: string[] };
  for (const name of ['Urtuu.sms', 'Batches.wait', 'ErrorFields', 'SmsSendParams.text', 'AppInfo.name']) {
    expect(names).toContain(name);
  }
  expect(undocumented).toEqual([]);
});
