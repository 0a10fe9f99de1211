import { EngineError } from '../../../errors/engine-error.js';

export type Engine = typeof import('@photostructure/sqlite');

/** SQLite of Node.js 22.16 and newer, else the package with the same interface. Throws EngineError without either. */
export async function loadEngine(): Promise<Engine> {
  const builtIn = builtInEngine();
  if (builtIn !== undefined && isComplete(builtIn)) return builtIn;
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new EngineError(cause);
  }
}

/** Suppresses its experimental warning, which every command would print. */
function builtInEngine(): Engine | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as Engine | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node.js before 22.16 has an early version without some members. */
const isComplete = ({ DatabaseSync }: Engine) =>
  // In Bun these are members of the objects, not of the prototype.
  'isTransaction' in DatabaseSync.prototype || 'isTransaction' in new DatabaseSync(':memory:');
