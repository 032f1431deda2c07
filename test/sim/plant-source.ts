// Puts a planted fault into the text of its source file.

import type { Plant, PlantedEdit } from './plants.ts';

/** Returns all edits that make up a fault. */
export function editsOf({ file, search, replace, also = [] }: Plant): readonly PlantedEdit[] {
  return [{ file, search, replace }, ...also];
}

/**
 * Returns the source with the fault. Throws unless the text to replace occurs exactly once, because
 * otherwise the fault would silently not be planted.
 */
export function patched(source: string, name: string, { file, search, replace }: PlantedEdit): string {
  const count = source.split(search).length - 1;
  if (count !== 1)
    throw new Error(
      `The planted fault "${name}" replaces a text that src/${file} has ${count} times, not once. Adapt its entry in test/sim/plants.ts.`,
    );
  return source.replace(search, () => replace);
}
