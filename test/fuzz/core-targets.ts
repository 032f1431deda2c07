// Fuzz targets in the debug build of the core: records, and segments with correct checksums. The
// input is placed as close to the end of memory as the ABI allows, so that a read well beyond it
// traps.

import { COLUMNS, concat } from '../core/support/model.ts';
import { recordsOf } from '../core/support/segments.ts';
import type { Target } from './fuzz-loop.ts';
import { EdgeOfMemory } from './support/edge-of-memory.ts';
import { mutate } from './support/mutate.ts';
import { readRecords, readSegment } from './support/read-all.ts';
import { repair, seedSegments, seedTables } from './support/seeds.ts';

const HEADER_BYTES = 128 + 24 * 20;
const RECORD_HEADER_BYTES = 80;

interface Records {
  bytes: Uint8Array;
  count: number;
}

export function recordTarget(): Target<Records> {
  const core = new EdgeOfMemory();
  return {
    name: 'records',
    share: 100,
    seeds: seedTables().map((edges) => {
      const records = recordsOf(edges, COLUMNS).slice(0, 12);
      return { bytes: concat(records), count: records.length };
    }),
    guided: false,
    mutate: (random, { bytes, count }) => ({ bytes: mutate(random, bytes, RECORD_HEADER_BYTES), count }),
    run({ bytes, count }, random) {
      const at = core.place(bytes);
      const ok = core.x.hg_records_check(at, bytes.length, count) === 0;
      if (ok) readRecords(core, random, at, bytes.length, count);
      return ok;
    },
    show: ({ bytes, count }) => `${count} records ${Buffer.from(bytes).toString('hex')}`,
  };
}

export function segmentTarget(): Target<Uint8Array> {
  const core = new EdgeOfMemory();
  return {
    name: 'segment',
    share: 150,
    seeds: seedSegments(),
    guided: false,
    mutate: (random, source) => mutate(random, source, HEADER_BYTES),
    run(bytes, random) {
      const at = core.place(bytes);
      // One input in eight keeps its wrong checksums.
      if (random.below(8) > 0) repair(core, at, bytes.length);
      core.x.hg_segment_check(at, bytes.length, 0);
      const ok = core.x.hg_segment_check(at, bytes.length, 1) === 0;
      if (ok) readSegment(core, random, at);
      return ok;
    },
    show: (bytes) => Buffer.from(bytes).toString('hex'),
  };
}
