import type { CoreDoubles } from '../../../src/service/core.js';
import { CarrierServices, judge } from '../../support/carrier-services.js';
import { smppRoute } from '../../support/routes.js';
import { Smsc } from '../../support/smsc.js';

export const window = 3;

/** A batch over a connection that is cut at one point: see Smsc. Throws when anything is twice, lost or untrue. */
export async function playSmppCut(
  cutAt: number,
  batch: { messages: number; text: string; bind: 'transceiver' | 'transmitter+receiver' },
  doubles: CoreDoubles = {},
): Promise<{ points: number; unknown: number }> {
  const services = new CarrierServices();
  const smsc: Smsc = new Smsc({
    cutAt,
    idOf: (number) => (0xa000 + number).toString(16),
    onTaken(segment, answer) {
      answer();
      void smsc.deliverReceipt(segment, 'DELIVRD', `${Number.parseInt(segment.id, 16)}`);
    },
  });
  const more = { per_second: 1_000, receipt_id: 'hex_to_dec', bind: batch.bind, window };
  const route = smppRoute(await smsc.listen(), more);
  try {
    await services.open(services.configured({ routes: [route] }), doubles);
    const numbers = Array.from({ length: batch.messages }, (_, index) => `${99_000_100 + index}`);
    const id = await services.sendBatch(numbers, batch.text);
    await services.completed(id);
    return { unknown: await judge(services, id, smsc.taken), points: smsc.points };
  } finally {
    await services.closeAll();
    await smsc.close();
  }
}
