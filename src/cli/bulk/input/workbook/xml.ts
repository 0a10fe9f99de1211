import { damaged } from './workbook-error.js';
import { XmlFault, type XmlHandler, XmlScanner } from './xml-scanner.js';

/** Hands the elements of a part to the handler. Throws WorkbookError where the part is no plain, whole XML. */
export async function readXml(
  part: string,
  blocks: AsyncIterable<Buffer>,
  handler: XmlHandler,
): Promise<void> {
  const scanner = new XmlScanner(handler);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const block of blocks) {
      scanner.write(decoder.decode(block, { stream: true }));
      if (handler.done) return;
    }
    scanner.write(decoder.decode());
    scanner.end();
  } catch (error) {
    if (error instanceof XmlFault) throw damaged(`${part} is not plain XML: ${error.message}`);
    if (error instanceof TypeError && 'code' in error) throw damaged(`${part} is not UTF-8`);
    throw error;
  }
}
