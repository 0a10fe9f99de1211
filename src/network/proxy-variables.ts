export type Env = Readonly<Record<string, string | undefined>>;

/** Whether any URL may have a proxy. */
export const namesProxy = (env: Env): boolean =>
  ['http_proxy', 'https_proxy', 'all_proxy'].some((name) => env[name] || env[name.toUpperCase()]);
