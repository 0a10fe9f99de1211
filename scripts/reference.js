// Writes docs/commands.md from the help of the commands, and the skill from docs/agents.md: npm run docs
import { runTypeScript } from './typescript.js';

process.exit(await runTypeScript('scripts/reference/main.ts', ['--docs']));
