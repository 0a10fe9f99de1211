// Reads the balance and then asks for a code, over what the runtime makes of connections that are kept open:
// node verify-program.mjs <client>. Prints the code of the error that the second call ends with.
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const { Urtuu } = await import(pathToFileURL(process.argv[2]).href);
const client = new Urtuu(process.env.URTUU_API_KEY, { baseUrl: process.env.URTUU_BASE_URL });
await client.balance.get();
const error = await client.verify.create({ to: '88001122' }).catch((thrown) => thrown);
process.stdout.write(error.code);
