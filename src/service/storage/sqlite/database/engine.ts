import { EngineError } from '../../../errors/engine-error.js';

export type Engine = typeof import('@photostructure/sqlite');

/** SQLite of Node.js from 22.16 on, else the package with the same interface. Throws EngineError without either. */
export async function loadEngine(): Promise<Engine> {
  const builtIn = builtInEngine();
  if (builtIn !== undefined && isComplete(builtIn)) return builtIn;
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new EngineError(cause);
  }
}

/** Without its warning that it is experimental, which would stand in the output of every command. */
function builtInEngine(): Engine | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as Engine | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node.js before 22.16 has an early form, which lacks members. */
const isComplete = ({ DatabaseSync }: Engine) =>
  // Objects of Bun have it, not their prototype.
  'isTransaction' in DatabaseSync.prototype || 'isTransaction' in new DatabaseSync(':memory:');
