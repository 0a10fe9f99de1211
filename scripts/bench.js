// Measures what `npm run build` has built, each group into its section of test/bench/RESULTS.md:
// npm run bench [-- start bulk ...]
import { runTypeScript } from './typescript.js';

process.exit(await runTypeScript('test/bench/main.ts', process.argv.slice(2)));
