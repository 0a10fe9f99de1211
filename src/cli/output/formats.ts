export const formats = ['table', 'json', 'ndjson', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** Whether programs read it. */
export const isMachineFormat = (text: string): boolean =>
  text !== 'table' && formats.some((format) => format === text);

/** The options that decide how results look. */
export interface OutputOptions {
  output?: Format;
  json?: boolean;
  /** `true` without names: lists them. */
  columns?: string | true;
  /** A dotted path: prints only the value of that field. */
  value?: string;
  header?: boolean;
  color?: boolean;
  mask?: boolean;
}
