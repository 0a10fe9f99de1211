import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectAdministration } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { writePrivateFile } from '../../platform/write-private-file.js';

export interface FirstKey {
  /** The key to print; null if there is none, or it is in a file. */
  shown: { id: string; secret: string } | null;
  /** Its file, if it is in one. */
  file?: string;
  /** Lines for people. */
  notes: string[];
}

/**
 * Creates the first key of a service. It is printed on a terminal and for programs that request it. Elsewhere, where
 * a log would keep it, it goes to a private file in the folder, which is created first.
 */
export async function firstKey(
  { options, io }: Pick<Context, 'options' | 'io'>,
  administration: Pick<ProjectAdministration, 'createFirstKey' | 'listKeys'>,
  folder: () => string,
): Promise<FirstKey> {
  if ((await administration.listKeys()).length > 0) return { shown: null, notes: [] };
  if (isShown(io, options)) {
    const key = await administration.createFirstKey();
    return {
      shown: key,
      notes: key === null ? [] : ['Save the key now: it is not shown again.'],
    };
  }
  let file: string;
  try {
    file = freeName(folder());
    await writePrivateFile(file, '');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { shown: null, notes: [`No API key was made: ${error.message}. Make one: \`urtuu keys create\``] };
  }
  const key = await administration.createFirstKey();
  if (key === null) {
    rmSync(file, { force: true });
    return { shown: null, notes: [] };
  }
  await writePrivateFile(file, `${key.secret}\n`);
  return { shown: null, file, notes: [`Wrote the first API key to ${file}. Move it to where you use it.`] };
}

function isShown({ printer }: Context['io'], { value, columns }: Context['options']): boolean {
  const chosen = value ?? columns;
  if (chosen === undefined) return printer.isTerminal || printer.isMachine;
  return String(chosen).split(',').includes('api_key');
}

/** Never replaces the key of another service. */
function freeName(folder: string): string {
  for (let count = 1; ; count += 1) {
    const file = join(folder, count === 1 ? 'api-key' : `api-key-${count}`);
    if (!existsSync(file)) return file;
  }
}
