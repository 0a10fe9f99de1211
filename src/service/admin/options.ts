import { DataError } from '../errors/data-error.js';
import { invalid } from '../operations/fields.js';
import type { SettingsPatch } from '../settings.js';

export const noSandbox = () =>
  new DataError('a service that has, or had, carriers refuses a sandbox key', {
    hint: 'Start it without URTUU_SANDBOX_KEY; or, for tests, with data of its own (--data) and without --config.',
  });

export async function checkedSettings(given: SettingsPatch | null): Promise<SettingsPatch> {
  if (given === null) return {};
  const { checkSettings } = await import('./settings.js');
  const { quiet_hours: hours, quiet_zone: zone, ...overrides } = checkSettings(given);
  // The mark of a message asks the store.
  if (hours !== undefined || zone !== undefined)
    throw invalid('settings.quiet_hours: can only be stored, with settings.update of a project');
  return overrides;
}
