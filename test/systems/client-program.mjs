// A program that uses the client, run by the runtime that is tested: node client-program.mjs <client>.
// Prints one JSON object: what each call gave.
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const { Urtuu, UrtuuError } = await import(pathToFileURL(process.argv[2]).href);
const client = new Urtuu(process.env.URTUU_API_KEY, { baseUrl: process.env.URTUU_BASE_URL, timeout: 5_000 });
const outcome = (call) =>
  call.then(
    (value) => ({ value }),
    (error) => ({
      code: error instanceof UrtuuError ? error.code : String(error),
      status: error.status ?? null,
    }),
  );

const told = {};
for (const [name, call] of Object.entries({
  balance: () => client.balance.get(),
  sms: () => client.sms.send({ to: '88001122', text: 'Сайн уу' }),
  bulk: () => client.sms.sendBulk({ to: ['88001122', '88001123'], text: 'hi' }),
  email: () => client.email.send({ to: 'bat@example.mn', subject: 's', text: 't' }),
  invalid: () => client.sms.send({ to: 'nobody', text: 'hi' }),
  missing: () => client.messages.get('ffffffff-ffff-4fff-8fff-ffffffffffff'),
  verify: () => client.verify.create({ to: '88001199' }),
})) {
  told[name] = await outcome(call());
}
process.stdout.write(JSON.stringify(told));
