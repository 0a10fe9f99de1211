/** A value as written in a configuration. */
export type Written =
  | string
  | number
  | boolean
  | null
  | readonly Written[]
  | { readonly [name: string]: Written };
export type WrittenFields = Readonly<Record<string, Written>>;

/** The fields of a known gateway. */
export interface Preset {
  /** The document that they were written from, and when. */
  document: { url: string; date: string };
  route: WrittenFields;
  /** Added if the route has receipts or incoming messages. */
  receipts: WrittenFields;
  incoming: WrittenFields;
  /** Paths of fields that only the account's owner knows, and those for receipts if there are any. */
  needs: readonly string[];
}
