import * as z from 'zod/mini';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { ServiceError } from '../../errors/service-error.js';
import { parseFields } from '../../parse-fields.js';
import type { CarrierConfiguration, ConfigurationSource, WithoutCarrier } from './configuration.js';
import { readSmsRoutes } from './sms-routes.js';
import { emailSchema, smtpSettingsOf } from './smtp-schema.js';
import { readTrusted } from './trusted.js';

const channels = z.strictObject({ sms: z.unknown(), email: z.unknown() });

/** Reads a configuration and its secrets. Throws ConfigurationError with the file and the field. */
export function readConfiguration(source: ConfigurationSource): CarrierConfiguration {
  const text = readText(source);
  try {
    const written = parseFields(channels, parseJson(text));
    return { sms: readSms(written.sms, source), email: readEmail(written.email, source) };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`${source.file}: ${error.message}`, { cause: error.cause });
  }
}

/** A pipe is read once, and the configuration more often. */
const piped = new Map<string, string>();

function readText({ file, warn }: ConfigurationSource): string {
  const before = piped.get(file);
  if (before !== undefined) return before;
  const { bytes, warning, isPipe } = readTrusted(file, 'configuration');
  if (warning !== null) warn?.(warning);
  const text = Buffer.from(bytes).toString('utf8');
  if (isPipe) piped.set(file, text);
  return text;
}

function parseJson(text: string): unknown {
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
