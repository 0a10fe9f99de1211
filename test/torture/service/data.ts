import type { ServiceOptions } from '../../../src/service/index.js';

/** Of all databases that the harness begins. */
export const databaseSecret = new Uint8Array(32).fill(7);

export const isDatabase = (data: string): boolean => data.startsWith('postgres://');

/** Where a service keeps its data: a folder, or a database. */
export const dataAt = (
  data: string,
  secret: Uint8Array = databaseSecret,
): Pick<ServiceOptions, 'directory' | 'database' | 'secret'> =>
  isDatabase(data) ? { database: data, secret } : { directory: data };
