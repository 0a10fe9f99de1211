import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { ConfigurationError, reasonOf } from '../../errors/configuration-error.js';
import { ServiceError } from '../../errors/service-error.js';
import { parseFields } from '../../parse-fields.js';
import type { CarrierConfiguration, ConfigurationSource, WithoutCarrier } from './configuration.js';
import { readSmsRoutes } from './sms-routes.js';
import { emailSchema, smtpSettingsOf } from './smtp-schema.js';

const channels = z.strictObject({ sms: z.unknown(), email: z.unknown() });

/** Reads a configuration and its secrets. Throws ConfigurationError with the file and the field. */
export function readConfiguration(source: ConfigurationSource): CarrierConfiguration {
  try {
    const written = parseFields(channels, readJson(source.file));
    return { sms: readSms(written.sms, source), email: readEmail(written.email, source) };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`${source.file}: ${error.message}`, { cause: error.cause });
  }
}

function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`cannot be read: ${reasonOf(error as Error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigurationError(`is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function readSms(value: unknown, source: ConfigurationSource): CarrierConfiguration['sms'] {
  if (isWithoutCarrier(value)) return value;
  if (typeof value !== 'object' || value === null)
    throw notA('sms', '"simulated" or "off" or {"routes": [...]}');
  return readSmsRoutes(value, source);
}

function readEmail(value: unknown, source: ConfigurationSource): CarrierConfiguration['email'] {
  if (isWithoutCarrier(value)) return value;
  if (typeof value !== 'object' || value === null)
    throw notA('email', '"simulated" or "off" or {"smtp": ...}');
  return smtpSettingsOf(parseFields(emailSchema, value, 'email'), source);
}

function isWithoutCarrier(value: unknown): value is WithoutCarrier {
  return value === 'simulated' || value === 'off';
}

function notA(channel: string, forms: string): ConfigurationError {
  return new ConfigurationError(`${channel}: must be ${forms}`);
}
