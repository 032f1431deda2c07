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

/** Lines of JSON: what is read must be records that pass the check of records from elsewhere. */
export function lineTarget(): Target<Uint8Array> {
  const core = new EdgeOfMemory();
  const names = ['id', 'weight', 'kind', 'score', 'open'].map((name) => Buffer.from(name));
  const types = [255, 1, 3, 2, 4];
  const table = Buffer.alloc(4 + 16 * names.length);
  table.writeUInt32LE(names.length, 0);
  let end = table.length;
  for (const [index, name] of names.entries()) {
    for (const [field, value] of [end, name.length, index, types[index]!].entries())
      table.writeUInt32LE(value, 4 + 16 * index + 4 * field);
    end += name.length;
  }
  const keys = Buffer.concat([table, ...names]);
  return {
    name: 'lines',
    share: 100,
    seeds: [
      '{"event_ts":1700000000,"members":[3,1,2],"weight":0.5,"kind":"a b","score":-12,"open":true}\n{"event_ts":1,"members":[1]}\n',
      '{ "id" : 5 , "event_ts" : 1, "members" : [ 1 , 200 ] , "kind" : null , "open":false}\r\n',
      `{"event_ts":1,"members":[${Array.from({ length: 255 }, (_, i) => i % 70).join(',')}]}\n`,
    ].map((text) => Buffer.from(text)),
    guided: false,
    mutate: (random, source) => mutate(random, source, source.length),
    run(bytes) {
      const at = core.place(bytes);
      const out = core.out('records', 4096);
      const written = core.x.hg_records_parse(at, bytes.length, core.put(keys), 64, out, 4096);
      core.checkGuards();
      if (written <= 0) return false;
      const rows = core.x.hg_result_rows() >>> 0;
      if (core.x.hg_records_check(out, written, rows) !== 0) throw new Error('the records of lines are not valid');
      return true;
    },
    show: (bytes) => JSON.stringify(Buffer.from(bytes).toString()),
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
