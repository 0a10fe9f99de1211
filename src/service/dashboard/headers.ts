/** For every page: nothing from other sites, nothing inline, no framing. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Browsers send the Origin of forms, and no address to other sites.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** For the HTML of an email, which somebody else wrote: a sandbox without an origin that loads nothing. */
export const emailHeaders: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'SAMEORIGIN',
};

/** Of a batch, for spreadsheets. */
export const reportHeaders = (batch: string): Readonly<Record<string, string>> => ({
  ...pageHeaders,
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': `attachment; filename="batch-${batch}.csv"`,
});

export const streamHeaders: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'Content-Type': 'text/event-stream',
  'X-Accel-Buffering': 'no',
};
