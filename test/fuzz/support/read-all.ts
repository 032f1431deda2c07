// Calls every read function of the core on records and segments that passed their check, and
// verifies what must always be true.

import { COLUMNS, planOf } from '../../core/support/model.ts';
import type { Random } from '../../core/support/random.ts';
import { placeColumns } from '../../core/support/segments.ts';
import type { EdgeOfMemory } from './edge-of-memory.ts';

const SAFE = Number.MAX_SAFE_INTEGER;
const STATUSES = new Set([-1, -2, -3, -4, -5, -6, -7, -8]);
const plan = planOf([...COLUMNS, { id: 9, name: 'missing', type: 'TEXT', indexed: false, byDefault: 'x' }]).bytes;
const TEXT_BYTES = 100_000;

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Returns the result, and throws unless it is a value or a known status. */
function answer(result: number): number {
  must(result >= 0 || STATUSES.has(result), `answered ${result}`);
  return result;
}

/**
 * Reads `count` checked records at `records`, and builds a segment from them if they allow that.
 */
export function readRecords(core: EdgeOfMemory, random: Random, records: number, bytes: number, count: number): void {
  const { x } = core;
  const members = core.out('members', 255 * 8);
  const addresses: number[] = [];
  for (let at = records; at < records + bytes; at += core.word(at)) {
    addresses.push(at);
    const n = x.hg_record_members(at, members);
    const ids = core.numbers(members, n);
    must(
      ids.every((id, i) => Number.isSafeInteger(id) && (i === 0 || id > ids[i - 1]!)),
      'members do not ascend',
    );
  }
  must(addresses.length === count, 'count of records');
  const list = core.putWords([...addresses, 0]);
  const text = core.out('text', TEXT_BYTES);
  const capacity = random.below(3) === 0 ? random.below(2000) : TEXT_BYTES;
  answer(x.hg_records_json(list, count, core.put(plan), random.below(3), text, capacity <= TEXT_BYTES ? capacity : 0));
  answer(x.hg_records_copy(list, count, text, Math.min(capacity, TEXT_BYTES)));
  readMemtable(core, random, records, count);
  core.checkGuards();
}

function readMemtable(core: EdgeOfMemory, random: Random, records: number, count: number): void {
  const { x } = core;
  const memtable = x.hg_memtable_new(1 + random.below(1000), 0) >>> 0;
  must(x.hg_memtable_reserve(memtable, 0, count) !== 0, 'reserve');
  must(x.hg_memtable_append(memtable, records, count, 1) === 0, 'append');
  must(x.hg_memtable_sort(memtable) === 0, 'sort');
  const rows = core.out('rows', count * 4);
  const n = x.hg_memtable_rows(memtable, 0, count, SAFE, rows, count);
  must(n === count, 'all rows are visible');
  const order = core.words(rows, n);
  answer(x.hg_memtable_row_buckets(memtable, rows, n));
  const key = core.out('key', 16);
  const nodes = core.out('nodes', 8 * 8);
  for (const row of order) {
    must(x.hg_memtable_key(memtable, row, key) === 0, 'key');
    const [time, id] = core.numbers(key, 2) as [number, number];
    must(x.hg_memtable_find(memtable, time, id) >= 0, 'every key is found');
    must(x.hg_memtable_seek(memtable, time, id) < count, 'every key is sought');
  }
  const address = core.putWords([order[0] ?? 0]);
  if (count === 0) return;
  x.hg_memtable_addresses(memtable, address, 1);
  must(x.hg_memtable_match(memtable, core.word(address), SAFE, rows, count) >= 1, 'a record matches itself');
  answer(x.hg_memtable_nodes(memtable, nodes, 8));
  answer(x.hg_memtable_lookup(memtable, nodes, 1 + random.below(2), -Infinity, -Infinity, Infinity, SAFE, rows, count));
  const sorted = core.putWords(order);
  x.hg_memtable_addresses(memtable, sorted, count);
  const size = answer(
    x.hg_segment_build(sorted, count, 1 + random.below(5000), 1, placeColumns(core, COLUMNS), COLUMNS.length, 0),
  );
  if (size > 0) {
    const status = x.hg_segment_check(core.pointer, size, 1);
    must(status === 0, `the builder's own file is refused: ${status} at ${core.offset}`);
  }
}

/** Calls every read on a segment that passed the deep check. */
export function readSegment(core: EdgeOfMemory, random: Random, base: number): void {
  const { x } = core;
  const rows = x.hg_segment_field(base, 2);
  for (let field = 0; field < 20; field++) x.hg_segment_field(base, field);
  for (const kind of [1, 6, 9, 16, 17]) x.hg_segment_section(base, kind, random.below(9));
  const segment = x.hg_segment_open(base) >>> 0;
  must(segment !== 0, 'open');
  readKeys(core, random, segment, rows);
  readNodes(core, random, segment, base, rows);
  readText(core, random, segment, rows);
  readOrders(core, random, segment, rows);
  core.checkGuards();
}

function readKeys(core: EdgeOfMemory, random: Random, segment: number, rows: number): void {
  const { x } = core;
  const key = core.out('key', 16);
  let previous: [number, number] = [-Infinity, -Infinity];
  for (let row = 0; row < rows; row++) {
    must(x.hg_segment_key(segment, row, key) === 0, 'key');
    const [time, id] = core.numbers(key, 2) as [number, number];
    must(Number.isSafeInteger(time) && Number.isSafeInteger(id), `key of row ${row} is not safe`);
    must(time > previous[0] || (time === previous[0] && id > previous[1]), 'keys ascend');
    must(x.hg_segment_find(segment, time, id) === row, `row ${row} is not found by its key`);
    previous = [time, id];
  }
  for (const bound of [-Infinity, Infinity, Number.NaN, 0, SAFE])
    must(x.hg_segment_seek(segment, bound, bound) >>> 0 <= rows, 'seek');
  const from = random.below(rows);
  answer(x.hg_segment_buckets(segment, from, rows));
  answer(x.hg_segment_buckets(segment, from, 0xffffffff));
  must(x.hg_segment_buckets(segment, 0, rows) >= 1, 'there is a bucket');
}

function readNodes(core: EdgeOfMemory, random: Random, segment: number, base: number, rows: number): void {
  const { x } = core;
  const count = x.hg_segment_field(base, 4);
  const nodes = core.out('nodes', count * 8);
  must(x.hg_segment_nodes(segment, 0, nodes, count) === count, 'nodes');
  const ids = core.numbers(nodes, count);
  const filter = base + (x.hg_segment_section(base, 9, 0) >>> 0);
  const filterBytes = core.rows;
  const list = core.out('rows', rows * 4 + 32);
  for (let i = 0; i < 20; i++) {
    const node = ids[random.below(count)]!;
    must(Number.isSafeInteger(node), 'node is not safe');
    must(x.hg_filter_test(filter, filterBytes, node) === 1, 'the filter denies a node');
    const wanted = core.putNumbers([node, ids[random.below(count)]!, ids[random.below(count)]!]);
    const n = x.hg_segment_lookup(segment, wanted, 1, 0, rows, list, rows);
    must(n >= 1 && n === x.hg_segment_count(segment, node, 0, rows), 'a node has rows');
    must(
      core.words(list, n).every((row) => row < rows),
      'rows in range',
    );
    answer(x.hg_segment_row_buckets(segment, list, n));
    answer(
      x.hg_segment_lookup(
        segment,
        wanted,
        1 + random.below(3),
        random.below(rows),
        random.below(rows + 1),
        list,
        1 + random.below(rows),
      ),
    );
  }
}

function readText(core: EdgeOfMemory, random: Random, segment: number, rows: number): void {
  const { x } = core;
  const list = core.putWords(Array.from({ length: rows }, (_, row) => row));
  const text = core.out('text', TEXT_BYTES);
  const planAt = core.put(plan);
  for (let done = 0; done < rows; done += core.rows) {
    const separator = random.below(3);
    const written = answer(
      x.hg_segment_json(segment, list + done * 4, rows - done, planAt, separator, text, TEXT_BYTES),
    );
    if (written < 0) break;
    must(written <= TEXT_BYTES && core.rows > 0, 'text');
  }
  answer(x.hg_segment_json(segment, list, rows, planAt, 2, text, random.below(1500)));
  const records = core.out('records', TEXT_BYTES);
  const written = answer(x.hg_segment_records(segment, list, rows, records, TEXT_BYTES));
  if (written > 0) {
    const status = x.hg_records_check(records, written, core.rows);
    must(status === 0, `an exported record is refused at ${core.offset}`);
    const matches = core.out('matches', rows * 4);
    must(x.hg_segment_match(segment, records, matches, rows) >= 1, 'a row matches its own record');
  }
}

function readOrders(core: EdgeOfMemory, random: Random, segment: number, rows: number): void {
  const { x } = core;
  const list = core.out('ordered rows', rows * 4);
  for (const { id } of COLUMNS) {
    for (const [low, high] of [
      [-Infinity, Infinity],
      [0, 10],
      [random.below(100) - 50, random.below(100)],
      [Number.NaN, Number.NaN],
    ] as const) {
      if (!Number.isNaN(low)) readEnds(core, segment, rows, id, low);
      const flags = random.below(4);
      const n = answer(x.hg_segment_psi(segment, id, low, high, flags, list, rows));
      must(n === x.hg_segment_psi_count(segment, id, low, high, flags), 'count of the order');
      const found = n > 0 ? core.words(list, n) : [];
      must(
        found.every((row, i) => row < rows && (i === 0 || row > found[i - 1]!)),
        'rows of the order ascend',
      );
      readRange(core, segment, rows, { id, low, high, flags }, n < 0 ? undefined : found);
    }
  }
}

/** Reads the rows whose value is above a number or null, as a search for intervals does. */
function readEnds(core: EdgeOfMemory, segment: number, rows: number, column: number, time: number): void {
  const list = core.out('rows that hold', rows * 4);
  const n = core.x.hg_segment_stab(segment, column, time, 0, rows, list) >>> 0;
  must(n <= rows, 'rows that hold');
  const found = core.words(list, n);
  must(
    found.every((row, i) => row < rows && (i === 0 || row > found[i - 1]!)),
    'rows that hold ascend',
  );
}

/** Checks that the filter finds the same rows as the order index. */
function readRange(
  core: EdgeOfMemory,
  segment: number,
  rows: number,
  range: { id: number; low: number; high: number; flags: number },
  ordered: readonly number[] | undefined,
): void {
  const { x } = core;
  const entry = new DataView(new ArrayBuffer(32));
  for (const [index, value] of [range.low, range.high, Number.NaN].entries()) entry.setFloat64(index * 8, value, true);
  entry.setUint32(24, range.id, true);
  entry.setUint32(28, range.flags, true);
  const ranges = core.put(new Uint8Array(entry.buffer));
  const list = core.putWords(Array.from({ length: rows }, (_, row) => row));
  const n = answer(x.hg_segment_filter(segment, list, rows, ranges, 1));
  must(n <= rows, 'rows of the filter');
  if (ordered !== undefined && !Number.isNaN(range.low))
    must(core.words(list, Math.max(0, n)).join() === ordered.join(), 'the filter finds what the order finds');
}
