// Prints how large the house is, and what stands out in it: npm run house
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

// A pipe into `head` ends before the rest is written.
process.stdout.on('error', () => process.exit());

const longest = 300;
const sumOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
const print = (text) => process.stdout.write(`${text}\n`);

for (const top of ['src', 'test']) {
  const files = execFileSync('git', ['ls-files', top], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(?:tsx?|c?js|sql)$/.test(path) && !path.includes('/fixtures/') && existsSync(path))
    .map((path) => ({ path, lines: readFileSync(path, 'utf8').split('\n').length - 1 }));
  const folders = new Map();
  for (const { path } of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  const largest = [...folders].sort(([, a], [, b]) => b - a).slice(0, 3);
  const long = files.filter(({ lines }) => lines > longest).sort((a, b) => b.lines - a.lines);
  print(
    `${top}: ${sumOf(files.map(({ lines }) => lines))} lines, ${files.length} files, ${folders.size} folders`,
  );
  print(`  most files in a folder: ${largest.map(([folder, count]) => `${count} ${folder}`).join(', ')}`);
  print(`  files over ${longest} lines: ${long.length}`);
  for (const { path, lines } of long) print(`    ${lines} ${path}`);
}

for (const mode of ['test', 'all'].filter((mode) => existsSync(`test-results-${mode}.json`))) {
  const { startTime, testResults } = JSON.parse(readFileSync(`test-results-${mode}.json`, 'utf8'));
  const end = Math.max(...testResults.map(({ endTime }) => endTime));
  const worked = sumOf(testResults.map(({ startTime, endTime }) => endTime - startTime));
  const seconds = (milliseconds) => `${Math.round(milliseconds / 1_000)} s`;
  print(`${mode}: ${seconds(end - startTime)}, ${seconds(worked)} of workers, ${testResults.length} files`);
}
