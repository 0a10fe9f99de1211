// The proofs, against what was built: npm run torture -- [group...] [--seed N] [--only <part of a name>] [--quick]
import { runTypeScript } from './typescript.js';

process.exit(await runTypeScript('test/torture/main.ts', process.argv.slice(2)));
