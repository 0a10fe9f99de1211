interface Globals {
  window?: { document?: unknown } | undefined;
  navigator?: { product?: string } | undefined;
  process?: { versions?: { node?: string } } | undefined;
}

/** Throws in a browser and in React Native, where everyone could read the key. jsdom in Node.js is allowed. */
export function refuseBrowser(globals: object): void {
  const { window, navigator, process } = globals as Globals;
  if (typeof process?.versions?.node === 'string') return;
  if (window?.document !== undefined || navigator?.product === 'ReactNative') {
    throw new Error('urtuu runs on servers only: in a browser or an app everyone could read the API key');
  }
}
