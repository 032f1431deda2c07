// Makes valid tables and segments to be mutated, and repairs checksums so that mutated input passes
// the checksum check.

import { Instance } from '../../core/support/instance.ts';
import { COLUMNS, edgeOf, randomTable } from '../../core/support/model.ts';
import { type Random, randomFrom } from '../../core/support/random.ts';
import { buildSegment } from '../../core/support/segments.ts';

/**
 * Corrects the length in the header of a segment file and recomputes every checksum. Skips sections
 * that the section directory places outside of the file, and does nothing if the directory itself
 * does not fit.
 */
export function repair(core: Instance, at: number, length: number): void {
  if (length < 128) return;
  const view = new DataView(core.core.memory.bytes.buffer, at, length);
  const sections = view.getUint32(20, true);
  if (128 + sections * 24 > length) return;
  view.setUint32(16, length, true);
  for (let entry = 128; entry < 128 + sections * 24; entry += 24) {
    const offset = view.getUint32(entry + 8, true);
    const bytes = view.getUint32(entry + 12, true);
    if (offset + bytes <= length) view.setUint32(entry + 16, core.x.hg_crc32c(at + offset, bytes, 0), true);
  }
  const head = core.x.hg_crc32c(at, 12, 0);
  view.setUint32(12, core.x.hg_crc32c(at + 16, 112 + sections * 24, head), true);
}

export function seedTables(): ReturnType<typeof randomTable>[] {
  const shape = {
    time: (random: Random) => random.below(500) - 100,
    node: (random: Random) => random.below(40),
    members: (random: Random) => 1 + random.below(5),
  };
  return [
    [edgeOf(0, 0, [1])],
    randomTable(randomFrom(1), { ...shape, rows: 70, id: (_, row) => row, columns: COLUMNS, sparsity: 2 }),
    randomTable(randomFrom(2), {
      ...shape,
      rows: 9,
      id: (_, row) => row * row * 70_000,
      columns: COLUMNS,
      sparsity: 1,
    }),
    randomTable(randomFrom(3), {
      ...shape,
      rows: 140,
      id: (_, row) => -row,
      columns: COLUMNS.slice(0, 1),
      sparsity: 4,
      time: (random) => random.below(3),
    }),
    randomTable(randomFrom(4), {
      ...shape,
      rows: 5,
      id: (_, row) => row,
      columns: [],
      sparsity: 1,
      node: (random) => (random.below(9) - 4) * 2 ** 50,
      members: () => 60,
    }),
  ];
}

export function seedSegments(): Uint8Array[] {
  const core = new Instance('debug');
  return seedTables().map((edges) => {
    const built = buildSegment(core, edges, COLUMNS, 60);
    return core.bytes(built.file, built.bytes);
  });
}
