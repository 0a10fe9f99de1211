import type { Child } from 'hono/jsx';
import type { Settings, SettingsPatch } from '../../settings.js';
import type { PageContext } from '../page.js';

/** A page of settings: its address, what it shows, and what its form changes. */
export interface Topic {
  path: 'sending' | 'email' | 'prices';
  title(t: PageContext['t']): string;
  /** Above the form. */
  facts?(context: PageContext, settings: Settings): Promise<Child>;
  /** Of the fields of its form, as they are shown. */
  values(settings: Settings): Readonly<Record<string, string>>;
  fields(context: PageContext, value: (name: string) => string, settings: Settings): Child;
  patch(
    fields: URLSearchParams,
    current: Settings,
  ): Pick<
    SettingsPatch,
    | 'caps'
    | 'prices'
    | 'brand_name'
    | 'reply_to'
    | 'holidays'
    | 'list_unsubscribe'
    | 'suppressions'
    | 'stop_words'
    | 'start_words'
  >;
}

export const text = (fields: URLSearchParams, name: string) => fields.get(name)?.trim() || null;
/** NaN for anything else, which the rules of settings refuse by the name of its field. */
export const number = (fields: URLSearchParams, name: string) => Number(text(fields, name) ?? Number.NaN);
