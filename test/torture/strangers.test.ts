import { describe, expect, it } from 'vitest';
import { service } from './service/rows.js';

describe('strangers at the port', () => {
  it('leave a service with 256 MB of heap alive and answering', async () => {
    const row = service.rows('small').find(({ name }) => name === 'strangers at the port');
    expect(await row?.play(1)).toMatchObject({ wrong: 0 });
  }, 60_000);
});
