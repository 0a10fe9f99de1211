import { proxyFor as findProxy, proxyProblem } from '../../contract/index.js';
import { usageError } from '../errors.js';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL. Throws CliError (exit 2) for an unusable address, without showing any of it: it may contain a
 * password.
 */
export function proxyFor(url: URL, env: Env): string | null {
  const proxy = findProxy(url, env);
  if (proxy === null) return null;
  const { address, variable } = proxy;
  switch (proxyProblem(address)) {
    case null:
      return address;
    case 'not encoded':
      throw usageError(
        `the user name or password in ${variable} is not percent-encoded`,
        'Percent-encode the password: % is %25, # is %23, / is %2F, ? is %3F.',
      );
    case 'not an address':
      throw usageError(
        `${variable} is not an http or https address`,
        `Example: ${variable}=http://proxy.example.mn:3128`,
      );
  }
}
