// A list that is parsed or planned in a process of its own. It loads nothing else: compiling counts.
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { file, planAll, printMeasured, work } from './plan-list.js';

/** What the plan is measured against: csv-parse alone, arrays and 'data' events. */
async function parseOnly(): Promise<number> {
  let rows = 0;
  const parser = createReadStream(file).pipe(parse());
  parser.on('data', () => {
    rows += 1;
  });
  await new Promise((resolve, reject) => parser.on('end', resolve).on('error', reject));
  return rows - 1;
}

printMeasured(work === 'parse' ? await parseOnly() : ((await planAll())?.meta.recipients ?? 0));
