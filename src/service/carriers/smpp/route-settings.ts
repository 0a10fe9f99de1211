/** A mobile operator's short message centre, as configured. Times are in milliseconds. */
export interface SmppRoute {
  name: string;
  host: string;
  port: number;
  tls: boolean;
  systemId: string;
  password: string;
  systemType: string;
  bind: 'transceiver' | 'transmitter+receiver';
  /** Connections, over all instances. */
  binds: number;
  source: string;
  sourceTon: number;
  sourceNpi: number;
  destTon: number;
  destNpi: number;
  numberForm: 'international' | 'national';
  segments: 'udh' | 'sar' | 'payload';
  validityMs: number;
  validityFormat: 'relative' | 'absolute';
  /** How receipts write the ids of submissions. */
  receiptId: 'same' | 'hex_to_dec' | 'dec_to_hex';
  /** Submissions of one bind without an answer. */
  window: number;
  /** Segments a second, over all instances. */
  perSecond: number;
  /** First two digits of the numbers that take this route first. */
  prefixes: readonly string[];
  /** Routes to try after it, by name. */
  fallback: readonly string[];
  /** Id or name of the project that gets incoming messages; null for the first. */
  inboxProject: string | null;
  /** Whether it carries links. */
  links: boolean;
}
