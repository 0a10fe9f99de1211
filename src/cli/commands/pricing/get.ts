import { measureText, type Pricing, priceOfSms } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readText, textSource } from '../../input/text.js';
import { field, type View } from '../../output/view.js';
import { cleanText } from '../../text/clean.js';
import { whyCyrillic } from '../../text/gsm.js';

const view: View<Pricing> = {
  columns: [
    { name: 'sms_credits_per_part', kind: 'number', value: ({ sms }) => sms.credits_per_part },
    { name: 'rate_multiplier', kind: 'number', value: ({ sms }) => sms.rate_multiplier },
    {
      name: 'latin_characters_per_part',
      kind: 'number',
      value: ({ sms }) => sms.latin_characters_per_part,
    },
    {
      name: 'cyrillic_characters_per_part',
      kind: 'number',
      value: ({ sms }) => sms.cyrillic_characters_per_part,
    },
    { name: 'max_parts', kind: 'number', value: ({ sms }) => sms.max_parts },
    { name: 'email_credits_per_message', kind: 'number', value: ({ email }) => email.credits_per_message },
  ],
  record: (pricing) => pricing,
};

interface PricedText {
  kind: string;
  size: number;
  parts: number;
  max_parts: number;
  /** Null if the text is too long. */
  credits: number | null;
}

const textView: View<PricedText> = {
  columns: [field('kind'), field('size'), field('parts'), field('max_parts'), field('credits')],
  record: (text) => text,
};

interface Options {
  text?: string;
  textFile?: string;
}

export const pricing: CommandBody<'io' | 'network'> = (command, { io, network }) => {
  command
    .description('Show the price list, or the price of one SMS.')
    .option('--text <text>', 'price this text as an SMS; - reads standard input')
    .option('--text-file <file>', 'price the text of a file');
  addHelp(command, {
    effects: ['reads'],
    view: ({ text, textFile }) =>
      (text === undefined && textFile === undefined ? view : textView) as View<never>,
    examples: [
      ['urtuu pricing', 'the price list'],
      ["urtuu pricing --text 'Таны захиалга бэлэн боллоо.'", 'kind, parts and credits of a text'],
    ],
    exits: [4, 5, 8, 12],
    json: [
      [
        '',
        '{"sms": {"credits_per_part": 10, "rate_multiplier": 1, "latin_characters_per_part": 150, "cyrillic_characters_per_part": 60, "max_parts": 5}, "email": {"credits_per_message": 2}}',
      ],
      ['with --text', '{"kind": "cyrillic", "size": 27, "parts": 1, "max_parts": 5, "credits": 10}'],
    ],
  });
  command.action(async (options: Options) => {
    const written = await readText(io.files, textSource(options));
    const text = written === undefined ? written : cleanText(written);
    const prices = await (await network.client()).pricing.get();
    if (text === undefined) return io.print(view, prices);
    const why = whyCyrillic(text);
    if (why !== null) io.note(`Not GSM: ${why}`);
    await io.print(textView, priced(text, prices));
  });
};

function priced(text: string, { sms }: Pricing): PricedText {
  const { kind, units, parts } = measureText(text);
  const credits = parts > sms.max_parts ? null : priceOfSms(parts, sms.credits_per_part, sms.rate_multiplier);
  return { kind, size: units, parts, max_parts: sms.max_parts, credits };
}
