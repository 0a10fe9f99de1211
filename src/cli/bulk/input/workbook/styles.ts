import { type DateFormat, dateFormatOf } from './date-format.js';
import { readXml } from './xml.js';
import type { XmlHandler } from './xml-scanner.js';

/** The date format of each cell style, by the style's number; null where it shows no date. */
export type Styles = readonly (DateFormat | null)[];

export async function readStyles(part: string, blocks: AsyncIterable<Buffer>): Promise<Styles> {
  const custom = new Map<number, string>();
  const ids: number[] = [];
  let inCellFormats = false;
  const handler: XmlHandler = {
    open(name, attribute) {
      if (name === 'cellXfs') inCellFormats = true;
      else if (name === 'numFmt') custom.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
      else if (name === 'xf' && inCellFormats) ids.push(Number(attribute('numFmtId') ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCellFormats = false;
    },
  };
  await readXml(part, blocks, handler);
  const formats = new Map(ids.map((id) => [id, dateFormatOf(id, custom)]));
  return ids.map((id) => formats.get(id) ?? null);
}
