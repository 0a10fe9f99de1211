/** SMPP 3.4, 5.1.2.1. */
export const commandIds = {
  generic_nack: 0x80000000,
  bind_receiver: 0x00000001,
  bind_receiver_resp: 0x80000001,
  bind_transmitter: 0x00000002,
  bind_transmitter_resp: 0x80000002,
  submit_sm: 0x00000004,
  submit_sm_resp: 0x80000004,
  deliver_sm: 0x00000005,
  deliver_sm_resp: 0x80000005,
  unbind: 0x00000006,
  unbind_resp: 0x80000006,
  bind_transceiver: 0x00000009,
  bind_transceiver_resp: 0x80000009,
  enquire_link: 0x00000015,
  enquire_link_resp: 0x80000015,
  data_sm: 0x00000103,
  data_sm_resp: 0x80000103,
} as const;
export type Command = keyof typeof commandIds;

/** 5.1.3, as far as they differ here. */
export const statuses = {
  ok: 0x00,
  invalidCommandId: 0x03,
  notBound: 0x04,
  systemError: 0x08,
  invalidRecipient: 0x0b,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  queueFull: 0x14,
  invalidRecipientType: 0x50,
  invalidRecipientPlan: 0x51,
  throttled: 0x58,
  tryAgain: 0x64,
  rejected: 0x66,
  unknownError: 0xff,
} as const;

/** As the specification writes them: `0x0b`. */
export const writtenStatus = (status: number): string => `0x${status.toString(16).padStart(2, '0')}`;

/** 5.3.2, as far as they are used. */
export const tags = {
  receiptedMessageId: 0x001e,
  userMessageReference: 0x0204,
  segmentReference: 0x020c,
  segmentTotal: 0x020e,
  segmentNumber: 0x020f,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

/** The mandatory parameters of all commands. */
export interface Fields {
  system_id: string;
  password: string;
  system_type: string;
  interface_version: number;
  addr_ton: number;
  addr_npi: number;
  address_range: string;
  service_type: string;
  source_addr_ton: number;
  source_addr_npi: number;
  source_addr: string;
  dest_addr_ton: number;
  dest_addr_npi: number;
  destination_addr: string;
  esm_class: number;
  protocol_id: number;
  priority_flag: number;
  schedule_delivery_time: string;
  validity_period: string;
  registered_delivery: number;
  replace_if_present_flag: number;
  data_coding: number;
  sm_default_msg_id: number;
  short_message: Buffer;
  message_id: string;
}

type Kind<Value> = Value extends string ? 'string' : Value extends number ? 'byte' : 'octets';
const kinds: { [Name in keyof Fields]: Kind<Fields[Name]> } = {
  system_id: 'string',
  password: 'string',
  system_type: 'string',
  interface_version: 'byte',
  addr_ton: 'byte',
  addr_npi: 'byte',
  address_range: 'string',
  service_type: 'string',
  source_addr_ton: 'byte',
  source_addr_npi: 'byte',
  source_addr: 'string',
  dest_addr_ton: 'byte',
  dest_addr_npi: 'byte',
  destination_addr: 'string',
  esm_class: 'byte',
  protocol_id: 'byte',
  priority_flag: 'byte',
  schedule_delivery_time: 'string',
  validity_period: 'string',
  registered_delivery: 'byte',
  replace_if_present_flag: 'byte',
  data_coding: 'byte',
  sm_default_msg_id: 'byte',
  short_message: 'octets',
  message_id: 'string',
};

const bind: (keyof Fields)[] = [
  'system_id',
  'password',
  'system_type',
  'interface_version',
  'addr_ton',
  'addr_npi',
  'address_range',
];
const message: (keyof Fields)[] = [
  'service_type',
  'source_addr_ton',
  'source_addr_npi',
  'source_addr',
  'dest_addr_ton',
  'dest_addr_npi',
  'destination_addr',
  'esm_class',
  'protocol_id',
  'priority_flag',
  'schedule_delivery_time',
  'validity_period',
  'registered_delivery',
  'replace_if_present_flag',
  'data_coding',
  'sm_default_msg_id',
  'short_message',
];

/** 4.7.1: the text is in message_payload. */
const notInData: readonly (keyof Fields)[] = [
  'protocol_id',
  'priority_flag',
  'schedule_delivery_time',
  'validity_period',
  'replace_if_present_flag',
  'sm_default_msg_id',
  'short_message',
];
const data = message.filter((name) => !notInData.includes(name));

const names: { [Name in Command]: (keyof Fields)[] } = {
  generic_nack: [],
  bind_receiver: bind,
  bind_receiver_resp: ['system_id'],
  bind_transmitter: bind,
  bind_transmitter_resp: ['system_id'],
  submit_sm: message,
  submit_sm_resp: ['message_id'],
  deliver_sm: message,
  deliver_sm_resp: ['message_id'],
  unbind: [],
  unbind_resp: [],
  bind_transceiver: bind,
  bind_transceiver_resp: ['system_id'],
  enquire_link: [],
  enquire_link_resp: [],
  data_sm: data,
  data_sm_resp: ['message_id'],
};

/** The mandatory parameters of each command, in their order. */
export const layouts = Object.fromEntries(
  Object.entries(names).map(([command, all]) => [command, all.map((name) => ({ name, kind: kinds[name] }))]),
) as Record<Command, { name: keyof Fields; kind: 'string' | 'byte' | 'octets' }[]>;

const commandsById = new Map(Object.entries(commandIds).map(([name, id]) => [id as number, name as Command]));
export const commandOf = (id: number): Command | undefined => commandsById.get(id);

/** Commands in which an operator delivers a receipt or a message. */
export const isDelivery = (command: Command | null): boolean =>
  command === 'deliver_sm' || command === 'data_sm';

export const isResponse = (command: Command): boolean => commandIds[command] >= 0x80000000;
