// node postgres-instance.cjs <url> <callers> <seconds>: prints how many messages a second it accepts and finalizes.
import { openStorage, sendRate } from './postgres-callers.js';

async function main([url = '', callers = '16', seconds = '5']: string[]): Promise<void> {
  const storage = await openStorage(url);
  await sendRate(storage.store, Number(callers), 0.5);
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdout.write(`${await sendRate(storage.store, Number(callers), Number(seconds))}\n`);
  await storage.close();
  process.exit(0);
}

void main(process.argv.slice(2));
