/** A configured route to a centre on this machine, whose password is in PASSWORD. */
export const smppRoute = (port: number | string, more: object = {}) => ({
  name: 'Mobicom',
  smpp: `smpp://127.0.0.1:${port}`,
  system_id: 'urtuu',
  password: { env: 'PASSWORD' },
  prefixes: ['99'],
  ...more,
});

/** A configured route to a gateway on this machine. */
export const httpRoute = (port: number | string, more: object = {}) => ({
  name: 'gateway',
  http: `http://127.0.0.1:${port}/send`,
  form: { to: '{number}', text: '{text}' },
  accepted: { status: [200], field: 'status', is: ['0'] },
  prefixes: ['99'],
  ...more,
});
