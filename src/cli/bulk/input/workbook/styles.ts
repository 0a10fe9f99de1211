import { type CellFormat, cellFormatOf } from './cell-format.js';
import type { XmlHandler } from './xml.js';
import { readXml } from './xml.js';

/** The format of each cell style, by the style's number; null if cells are shown as stored. */
export type Styles = readonly (CellFormat | null)[];

export async function readStyles(part: string, blocks: AsyncIterable<Buffer>): Promise<Styles> {
  const custom = new Map<number, string>();
  const ids: number[] = [];
  const keep = (id: number, code: string) => {
    if (!custom.has(id)) custom.set(id, code);
  };
  const handler: XmlHandler = {
    open(name, attribute, parent) {
      // The formats of conditional formatting have ids too, which mean nothing to cells.
      if (name === 'numFmt' && parent === 'numFmts')
        keep(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
      else if (name === 'xf' && parent === 'cellXfs') ids.push(Number(attribute('numFmtId') ?? 0));
    },
  };
  await readXml(part, blocks, handler);
  const formats = new Map(ids.map((id) => [id, cellFormatOf(id, custom)]));
  return ids.map((id) => formats.get(id) ?? null);
}
