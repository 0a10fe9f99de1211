import { expect, it } from 'vitest';
import { playSmtpChaos } from '../../../torture/carriers/smtp-chaos.js';

it.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'nothing is twice and nothing lost with a relay that answers anything (seed %i)',
  async (seed) => {
    expect((await playSmtpChaos(seed)).sent).toBeGreaterThan(0);
  },
);
