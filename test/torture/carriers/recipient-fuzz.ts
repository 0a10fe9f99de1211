import PostalMime, { addressParser } from 'postal-mime';
import { CliError } from '../../../src/cli/errors.js';
import { readMessage } from '../../../src/cli/sendmail/message.js';
import { normalizeAddress } from '../../../src/contract/index.js';
import { seededRandom } from '../../support/random.js';
import { recipientLists } from '../../support/recipient-lists.js';
import type { Played } from '../row.js';

/** Whom a mail is sent to; null if it is refused. */
type Reader = (mail: string) => Promise<readonly string[] | null>;

export const shippedReader: Reader = async (mail) => {
  const addressed = { recipients: [], inHeaders: true, localTo: async () => null };
  try {
    return (await readMessage(Buffer.from(mail), addressed)).params.to;
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
};

/** Splits as a reader of mails does, which need not reach anybody; with commas between plain words. */
export const forgiving: Reader = async (mail) => {
  const { headers } = await PostalMime.parse(mail);
  const lists = headers.filter(({ key }) => /^(?:to|cc|bcc)$/.test(key)).map(({ value }) => value);
  const to = lists
    .map((list) => (/[<>"():\\]/.test(list) ? list : list.trim().replace(/[ \t]+/g, ', ')))
    .flatMap((list) => addressParser(list, { flatten: true }))
    .map(({ address, name }) => address || name);
  return to.every((each) => normalizeAddress(each) !== null) ? to : null;
};

/** Mails with recipients in any form, most of them broken: each must reach everybody it names, or be refused. */
export async function playRecipientFuzz(
  seed: number,
  mails: number,
  reader = shippedReader,
): Promise<Played> {
  const random = seededRandom(seed);
  const found = { lost: 0, strangers: 0, refused: 0 };
  let example = '';
  for (let mail = 0; mail < mails; mail += 1) {
    const { headers, people, isWhole } = recipientLists(Math.floor(random() * 2 ** 32));
    const to = await reader(`${headers}Subject: s\n\nhi`);
    const lost = to === null ? 0 : people.filter((each) => !to.includes(each)).length;
    const strangers = (to ?? []).filter((each) => !people.includes(each)).length;
    const refused = to === null && isWhole ? 1 : 0;
    if (lost + strangers + refused > 0) example ||= JSON.stringify(headers);
    found.lost += lost;
    found.strangers += strangers;
    found.refused += refused;
  }
  return {
    measured: `${mails} mails`,
    found: `${found.lost} lost, ${found.strangers} strangers, ${found.refused} whole ones refused${example && `; ${example}`}`,
    wrong: found.lost + found.strangers + found.refused,
  };
}
