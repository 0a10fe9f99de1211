/** A value of a configuration, as it is written. */
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
  /** What they were written from, and when. */
  document: { url: string; date: string };
  route: WrittenFields;
  /** More of them where the route has receipts, or takes messages from outside. */
  receipts: WrittenFields;
  incoming: WrittenFields;
  /** Fields that only the account's owner knows, as paths; those of receipts where there are any. */
  needs: readonly string[];
}
