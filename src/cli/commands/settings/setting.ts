import { type Command, InvalidArgumentError } from 'commander';
import type { Settings, SettingsPatch } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { readRecipient } from '../../input/recipients.js';
import { type Column, field, type View } from '../../output/view.js';
import type { sandboxStore } from '../sandbox/data.js';

/** The service whose settings a command reads or changes: `urtuu sandbox` or another one. */
export interface SettingsOwner {
  /** The words before `get` and `set`. */
  command: string;
  addOptions(command: Command): void;
  open: typeof sandboxStore;
}

const column = (name: string): Column<Settings> => ({
  name,
  value: (settings) => settingText(settings, name),
});

export const settingsView: View<Settings> = {
  columns: [
    'brand_name',
    'reply_to',
    'own_domain',
    'list_unsubscribe',
    'suppressions',
    'stop_words',
    'start_words',
    'quiet_hours',
    'quiet_zone',
    'retention_days',
    'operators',
    'no_link_operators',
    'holidays',
    // As in JSON, where a field with nested ones follows the columns.
    'caps.per_10_minutes',
    'caps.per_24_hours',
    'verifications.per_24_hours',
    'verifications.per_100_numbers',
    'prices.sms_part',
    'prices.email',
  ].map(column),
  record: (settings) => settings,
};

export const settingsExample =
  '{"brand_name": null, "reply_to": null, "own_domain": null, "list_unsubscribe": null, "suppressions": false, "stop_words": ["STOP", "UNSUBSCRIBE", "ЗОГС", "БОЛЬ"], "start_words": ["START", "UNSTOP", "ЭХЛЭХ"], "quiet_hours": null, "quiet_zone": "Asia/Ulaanbaatar", "retention_days": null, "operators": {"Mobicom": ["85", "94", "95", "99"], "Unitel": ["80", "86", "88", "89"], "Skytel": ["90", "91", "92", "96"], "G-Mobile": ["83", "93", "97", "98"]}, "no_link_operators": ["Skytel", "G-Mobile"], "holidays": {}, "caps": {"per_10_minutes": 5, "per_24_hours": 20}, "verifications": {"per_24_hours": null, "per_100_numbers": null}, "prices": {"sms_part": 10, "email": 2}}';

/** A single setting, by the path in its name. */
export const oneSettingView = (name: string): View<Settings> => ({
  columns: [column(name)],
  record(settings) {
    const [group, member] = pathOf(name);
    const value = settingAt(settings, name) ?? null;
    return { [group]: member === undefined ? value : { [member]: value } };
  },
});

interface NamedValue {
  name: string;
  value: string;
}

const listView: View<NamedValue> = { columns: [field('name'), field('value')], record: (row) => row };

/** One setting on each line, with the name for `set`. */
export const printLines = (io: Context['io'], settings: Settings, names: readonly string[]): Promise<void> =>
  io.printAll(
    listView,
    names.map((name) => ({ name, value: settingText(settings, name) })),
  );

/** Whether a program reads the output, or the caller selected fields. */
export const isChosen = ({ io, options }: Pick<Context, 'io' | 'options'>): boolean =>
  io.printer.isMachine || options.value !== undefined || options.columns !== undefined;

/** Reads a setting's name; a holiday is `holidays.<date>`, an operator `operators.<name>`. */
export const readSettingName = Object.assign(
  (written: string): string => {
    if (readSettingName.words.includes(written) || /^(?:holidays|operators)\.(?!__proto__$)./s.test(written))
      return written;
    throw new InvalidArgumentError(`'${written}' is not one of ${readSettingName.words.join(', ')}`);
  },
  { words: settingsView.columns.map(({ name }) => name) },
);

/** A setting for people: a list with spaces, `Skytel 90 91, Unitel 80` for an object. */
export function settingText(settings: Settings, name: string): string {
  const value = settingAt(settings, name);
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(' ');
  if (name === 'own_domain') return Object.values(value).join(' ');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key} ${Array.isArray(each) ? each.join(' ') : each}`)
    .join(', ');
}

/** The change for one setting; an empty value removes it. */
export function changeOf(name: string, values: readonly string[]): (current: Settings) => SettingsPatch {
  const [group, member] = pathOf(name);
  const isList = ['operators', 'no_link_operators', 'stop_words', 'start_words'].includes(group);
  const [value = ''] = values;
  if ((group === 'holidays' || group === 'operators') && member === undefined)
    throw usageError(
      `${name}: set one at a time`,
      `Example: ${group}.${group === 'holidays' ? '2026-12-29 1.5' : 'Unitel 80 86'}`,
    );
  if (group === 'own_domain' && values.length > 1) return () => ({ own_domain: ownDomainOf(values) });
  if (!isList && values.length > 1)
    throw usageError(`${name} has one value`, 'Quote a text that has spaces.');
  const isRemoved = values.length === 1 && value === '';
  const isAddress = group === 'reply_to' && value !== '';
  const one = isAddress ? readRecipient('address', value, 'reply_to: ', 'Nothing was changed.') : value;
  const given = isList ? values.filter((each) => each !== '') : read(group, one);
  return (current) => {
    if (member === undefined) return { [group]: isRemoved && typeof given === 'string' ? null : given };
    if (group === 'verifications') return { verifications: { [member]: isRemoved ? null : given } };
    if (group === 'caps' || group === 'prices') return { [group]: { [member]: given } };
    const { [member]: _, ...others } = current[group as 'holidays' | 'operators'];
    return {
      [group]: isRemoved ? others : { ...current[group as 'holidays' | 'operators'], [member]: given },
    };
  };
}

function ownDomainOf([domain = '', selector = '', file = '', ...others]: readonly string[]) {
  if (selector !== '' && file !== '' && others.length === 0) return { domain, selector, key_file: file };
  throw usageError(
    'own_domain takes a domain, or a domain, selector and key file',
    'Example: own_domain shop.mn mail /etc/urtuu/shop.pem',
  );
}

/** The service rejects a text if it needs a number or a boolean. */
const read = (group: string, value: string): string | number | boolean =>
  group === 'suppressions' && /^(?:true|false)?$/.test(value)
    ? value === 'true'
    : ['caps', 'verifications', 'prices', 'holidays', 'retention_days'].includes(group) &&
        /^-?\d+(?:\.\d+)?$/.test(value)
      ? Number(value)
      : value;

function pathOf(name: string): [group: string, member: string | undefined] {
  const [, group = name, member] = /^(\w+)\.(.*)$/s.exec(name) ?? [];
  return [group, member];
}

function settingAt(settings: Settings, name: string): unknown {
  const [group, member] = pathOf(name);
  const value = settings[group as keyof Settings];
  if (member === undefined) return value;
  return value !== null && Object.hasOwn(value as object, member)
    ? (value as Record<string, unknown>)[member]
    : undefined;
}
