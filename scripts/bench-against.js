// The cpu of every row of the benchmark, against another built tree: npm run bench:against -- <tree> [group...]
import { runTypeScript } from './typescript.js';

process.exit(await runTypeScript('test/bench/against.ts', process.argv.slice(2)));
