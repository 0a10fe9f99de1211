/** A mobile operator's short message centre, as configured. Times are in milliseconds. */
export interface SmppRoute {
  name: string;
  host: string;
  port: number;
  tls: boolean;
  systemId: string;
  password: string;
  systemType: string;
  /** The numbers for which a bind receives. */
  addressRange: string;
  serviceType: string;
  bind: 'transceiver' | 'transmitter+receiver';
  /** Connections, of all instances together. */
  binds: number;
  source: string;
  sourceTon: number;
  sourceNpi: number;
  destTon: number;
  destNpi: number;
  numberForm: 'international' | 'national';
  /** That of data_coding 0 at this operator; `ucs2`: none that can be relied on. */
  alphabet: 'gsm' | 'latin1' | 'ascii' | 'ucs2';
  segments: 'udh' | 'sar' | 'payload';
  validityMs: number;
  validityFormat: 'relative' | 'absolute';
  /** The form in which receipts write the ids of submissions. */
  receiptId: 'same' | 'hex_to_dec' | 'dec_to_hex';
  /** Statuses of submissions that refuse the message, and that may pass, whatever the specification says. */
  permanent: readonly number[];
  temporary: readonly number[];
  /** Unanswered submissions on one bind. */
  window: number;
  /** Segments a second, of all instances together. */
  perSecond: number;
  /** Silence on a connection after which its operator is asked whether it is alive. */
  enquireMs: number;
  /** Whether it takes optional parameters: without them receipts repeat no reference. */
  hasTlvs: boolean;
  /** First two digits of the numbers for which this is the first route. */
  prefixes: readonly string[];
  /** Routes to try after it, by name. */
  fallback: readonly string[];
  /** Id or name of the project that gets incoming messages; null for the first. */
  inboxProject: string | null;
  /** Whether it allows links. */
  links: boolean;
}
