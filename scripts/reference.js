// Writes docs/commands.md from the help of the commands: npm run docs
import { runTypeScript } from './typescript.js';

process.exit(await runTypeScript('scripts/reference/main.ts', ['--docs']));
