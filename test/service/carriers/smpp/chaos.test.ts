import { expect, it } from 'vitest';
import { playSmppChaos } from '../../../torture/carriers/smpp-chaos.js';

it.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'nothing is twice and nothing lost (seed %i)',
  async (seed) => {
    expect((await playSmppChaos(seed)).sent).toBeGreaterThan(0);
  },
);
