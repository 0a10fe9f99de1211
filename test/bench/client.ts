import { Urtuu } from '../../src/client/index.js';
import { smsResult } from '../support/resources.js';
import { median, type Row } from './pairs.js';

const answer = JSON.stringify(smsResult());
const stub = async () => new Response(answer, { headers: { 'content-type': 'application/json' } });
const callsARound = 20_000;

/** Microseconds of cpu of one call. */
async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  for (let count = 0; count < callsARound; count += 1) await call();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / callsARound;
}

/** Cpu of one client call over an in-process stub fetch, less that of the bare stub. */
export async function client(rounds = 15): Promise<Row[]> {
  const urtuu = new Urtuu('urtuu_bench', { fetch: stub });
  const calls = {
    'sms.send': () => urtuu.sms.send({ to: '99112233', text: 'Сайн байна уу' }),
    'balance.get': () => urtuu.balance.get(),
  };
  const rows: Row[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const differences: number[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const difference = -(await cpuOf(stub)) + (await cpuOf(call));
      if (round >= 0) differences.push(difference);
    }
    const cost = median(differences);
    rows.push({
      what: `client ${name}, in-process stub fetch`,
      against: 'the bare stub',
      goal: 'under 8 us of cpu a call',
      measured: `${cost.toFixed(1)} us more`,
      met: cost < 8,
    });
  }
  return rows;
}
