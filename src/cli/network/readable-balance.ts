import { type Urtuu, UrtuuError } from '../../client/index.js';

/** The balance; null for a key that may not read. */
export async function readableBalance({ balance }: Pick<Urtuu, 'balance'>): Promise<number | null> {
  try {
    return (await balance.get()).balance;
  } catch (error) {
    if (error instanceof UrtuuError && error.code === 'forbidden') return null;
    throw error;
  }
}

export const cannotRead = 'This key cannot read the balance or look up messages: its scope leaves out read.';
