import { quoted } from '../../bulk/input/input-error.js';
import { masked } from '../../output/mask.js';

/** An error with the cells it quotes masked. */
export function maskCells(error: string, cells: readonly string[]): string {
  return cells
    .filter((cell) => cell !== '')
    .reduce((text, cell) => text.replaceAll(quoted(cell), () => quoted(masked(cell))), error);
}
