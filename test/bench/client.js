// Cpu of one client call over an in-process stub fetch, against the bare stub. Run after `npm run build`.
import { Urtuu } from '../../dist/client/index.js';

const answer = JSON.stringify({
  id: '4b3f7c5e-0000-4000-8000-000000000000',
  status: 'sent',
  channel: 'sms',
  to: '99112233',
  parts: 1,
  rate_multiplier: 1,
  credits: 10,
  batch_id: null,
  error: null,
  created_at: '2030-01-01T00:00:00.000Z',
  sent_at: '2030-01-01T00:00:00.000Z',
  balance: 990,
});
const stub = async () => new Response(answer, { headers: { 'content-type': 'application/json' } });
const client = new Urtuu('urtuu_bench', { fetch: stub });
const calls = {
  'bare stub': stub,
  'sms.send': () => client.sms.send({ to: '99112233', text: 'Сайн байна уу' }),
  'balance.get': () => client.balance.get(),
};

const rounds = 15;
const callsARound = 20_000;

async function cpuOf(call) {
  const start = process.cpuUsage();
  for (let count = 0; count < callsARound; count += 1) await call();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / callsARound;
}

const seen = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
for (let round = -1; round < rounds; round += 1) {
  for (const [name, call] of Object.entries(calls)) {
    const cpu = await cpuOf(call);
    if (round >= 0) seen[name].push(cpu);
  }
}
for (const [name, list] of Object.entries(seen)) {
  const median = list.sort((a, b) => a - b)[Math.floor(rounds / 2)];
  process.stdout.write(`${name}: ${median.toFixed(1)} us of cpu a call\n`);
}
