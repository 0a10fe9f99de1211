import { type Urtuu, UrtuuError } from '../../client/index.js';

/** The balance; null for a key that may only send. */
export async function readableBalance({ balance }: Pick<Urtuu, 'balance'>): Promise<number | null> {
  try {
    return (await balance.get()).balance;
  } catch (error) {
    if (error instanceof UrtuuError && error.code === 'forbidden') return null;
    throw error;
  }
}

export const onlySends = 'This key may only send: it cannot read the balance or look up messages.';
