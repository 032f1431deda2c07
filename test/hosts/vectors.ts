// The host vectors: calls into the core in order, with the results that a naive model expects.
// vectors.json is generated from this file (HEDGEROW_WRITE_GOLDEN=1) and run step by step in every
// host. So this file is also the longest example of embedding the core.

import { encodeProperties } from '../../src/core/index.ts';
import { KIND_CODES, kindOfType } from '../../src/model/column-types.ts';
import { compareEdges, concat, type Edge, edgeOf, naiveRecord, planOf, rowText, SAFE } from '../core/support/model.ts';
import { recordsOf } from '../core/support/segments.ts';
import { FIXTURE_BUCKET_SECONDS, FIXTURE_COLUMNS, FIXTURE_EDGES } from '../fixtures/format-v1/edges.ts';

/** A number, or a place: the name of a region or of a kept result, optionally with `+offset`. */
export type Argument = number | string;

export type Step =
  | { step: 'say'; what: string }
  /** Allocates a region with hg_memory_alloc. */
  | { step: 'region'; name: string; bytes: number }
  /** Writes bytes, u32 words (places become addresses) or f64 numbers. */
  | { step: 'bytes'; at: string; hex: string }
  | { step: 'words'; at: string; values: Argument[] }
  | { step: 'numbers'; at: string; values: number[] }
  /**
   * Calls an export. `is` is the expected result, negative for a status. `keep` is a name under
   * which later steps use the result.
   */
  | { step: 'call'; name: string; args: Argument[]; is?: Argument; keep?: string }
  /** Compares memory with bytes. */
  | { step: 'holds'; at: string; hex: string };

/**
 * The segment that this build makes from the records of the fixture. The format allows other files
 * for the same rows, so these numbers may change.
 */
const SEGMENT = { bytes: 5688, crc32c: 0x91ad83c3 };

const LOWEST = -SAFE;

class Script {
  readonly steps: Step[] = [];

  say(what: string): void {
    this.steps.push({ step: 'say', what });
  }

  region(name: string, bytes: number): void {
    this.steps.push({ step: 'region', name, bytes });
  }

  bytes(at: string, bytes: Uint8Array): void {
    this.steps.push({ step: 'bytes', at, hex: Buffer.from(bytes).toString('hex') });
  }

  words(at: string, values: Argument[]): void {
    this.steps.push({ step: 'words', at, values });
  }

  numbers(at: string, values: number[]): void {
    this.steps.push({ step: 'numbers', at, values });
  }

  call(name: string, args: Argument[], is?: Argument): void {
    this.steps.push(is === undefined ? { step: 'call', name, args } : { step: 'call', name, args, is });
  }

  keep(name: string, call: string, args: Argument[]): void {
    this.steps.push({ step: 'call', name: call, args, keep: name });
  }

  holds(at: string, bytes: Uint8Array): void {
    this.steps.push({ step: 'holds', at, hex: Buffer.from(bytes).toString('hex') });
  }

  holdsWords(at: string, words: number[]): void {
    this.holds(at, new Uint8Array(Uint32Array.from(words).buffer));
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const rows = FIXTURE_EDGES.map((_, row) => row);
const rowsWith = (...nodes: number[]) =>
  rows.filter((row) => nodes.every((node) => FIXTURE_EDGES[row]!.members.includes(node)));

function checksum(script: Script): void {
  script.say('CRC-32C of "123456789", whole and in two pieces');
  script.region('text', 16);
  script.bytes('text', utf8('123456789'));
  script.call('hg_crc32c', ['text', 9, 0], 0xe3069283);
  script.keep('first', 'hg_crc32c', ['text', 4, 0]);
  script.call('hg_crc32c', ['text+4', 5, 'first'], 0xe3069283);
}

function encode(script: Script): void {
  const edges = [edgeOf(100, 7, [3, 5, 300], { 0: 0.5 }), edgeOf(-1, 8, [SAFE, 0, -SAFE])];
  const block = encodeProperties([{ column: 0, type: 'REAL', value: 0.5 }]);
  const records = edges.map((edge) => naiveRecord(edge));
  const size = records[0]!.length + records[1]!.length;
  script.say('two edges to records; members in any order, one twice; the first has a property');
  for (const [name, bytes] of [
    ['times', 16],
    ['ids', 16],
    ['counts', 8],
    ['members', 64],
    ['ends', 8],
    ['properties', 64],
    ['out', 512],
  ] as const) {
    script.region(name, bytes);
  }
  script.numbers('times', [100, -1]);
  script.numbers('ids', [7, 8]);
  script.words('counts', [4, 3]);
  script.numbers('members', [300, 3, 5, 3, SAFE, -SAFE, 0]);
  script.words('ends', [block.length, block.length]);
  script.bytes('properties', block);
  script.call(
    'hg_records_encode',
    [2, 'times', 'ids', 'counts', 'members', 'ends', 'properties', 64, 'out', 512],
    size,
  );
  script.holds('out', concat(records));
  script.call('hg_records_check', ['out', size, 2], 0);
  script.call('hg_record_members', ['out', 'members'], 3);
  script.holds('members', new Uint8Array(Float64Array.from([3, 5, 300]).buffer));

  script.say(
    'input that cannot be encoded gives a status and the row: a fraction as member, too many, none, and no space',
  );
  script.numbers('members', [1, 2, 3, 4, 0.5, 6, 7]);
  script.call('hg_records_encode', [2, 'times', 'ids', 'counts', 'members', 0, 0, 64, 'out', 512], -7);
  script.call('hg_result_offset', [], 1);
  script.call('hg_records_encode', [2, 'times', 'ids', 'counts', 'members', 0, 0, 3, 'out', 512], -5);
  script.call('hg_result_offset', [], 0);
  script.words('counts', [0, 3]);
  script.call('hg_records_encode', [2, 'times', 'ids', 'counts', 'members', 0, 0, 3, 'out', 512], -6);
  script.words('counts', [4, 2]);
  script.call('hg_records_encode', [1, 'times', 'ids', 'counts', 'members', 0, 0, 64, 'out', 40], -2);
  script.call('hg_result_needed', [], 24 + 1 + 4 * 8 + 8);

  script.say('one changed byte makes the records corrupt, at the offset of its record');
  script.bytes('out', Uint8Array.of(...records[0]!.slice(0, 5), 1));
  script.call('hg_records_check', ['out', size, 2], -4);
  script.call('hg_result_offset', [], 0);
}

/**
 * Writes the records of the fixture into memory, followed by a list of their addresses in the given
 * order.
 */
function placeRecords(script: Script, name: string, edges: readonly Edge[]): void {
  const records = edges.map((edge) => naiveRecord(edge, FIXTURE_COLUMNS));
  script.region(name, concat(records).length);
  script.bytes(name, concat(records));
  script.region(`${name}_list`, edges.length * 4);
  let at = 0;
  const places = records.map((record) => {
    at += record.length;
    return `${name}+${at - record.length}`;
  });
  script.words(`${name}_list`, places);
}

function build(script: Script): void {
  script.say('a segment from records in key order; columns as {u16 id, u8 type, u8 indexed, u32 default}');
  placeRecords(script, 'records', FIXTURE_EDGES);
  const specs: Argument[] = [];
  for (const { id, type, indexed, byDefault } of FIXTURE_COLUMNS) {
    const entry = encodeProperties([{ column: id, type, value: byDefault }]).slice(2);
    if (byDefault !== null) {
      script.region(`default_${id}`, entry.length);
      script.bytes(`default_${id}`, entry);
    }
    specs.push(
      id | (KIND_CODES[kindOfType(type)] << 16) | ((indexed ? 1 : 0) << 24),
      byDefault === null ? 0 : `default_${id}`,
    );
  }
  script.region('columns', specs.length * 4);
  script.words('columns', specs);
  const args = ['records_list', rows.length, FIXTURE_BUCKET_SECONDS, 9, 'columns', FIXTURE_COLUMNS.length, 0];
  script.call('hg_segment_build', args, SEGMENT.bytes);
  script.keep('file', 'hg_result_pointer', []);
  script.call('hg_crc32c', ['file', SEGMENT.bytes, 0], SEGMENT.crc32c);
  script.call('hg_segment_check', ['file', SEGMENT.bytes, 1], 0);
  script.call('hg_segment_check', ['file', SEGMENT.bytes - 8, 1], -4);
  script.keep('segment', 'hg_segment_open', ['file']);
  script.call('hg_segment_field', ['file', 2], rows.length);
  script.call('hg_segment_field', ['file', 7], FIXTURE_EDGES[0]!.time);
  script.call('hg_segment_field', ['file', 11], -SAFE);
}

function read(script: Script): void {
  script.say('seek and find by (event_ts, id); buckets of a range of rows');
  script.call('hg_segment_seek', ['segment', LOWEST, LOWEST], 0);
  script.call('hg_segment_seek', ['segment', 0, 2], 3);
  script.call('hg_segment_seek', ['segment', 3600, LOWEST], 6);
  script.call('hg_segment_seek', ['segment', SAFE, SAFE], rows.length);
  script.call('hg_segment_find', ['segment', 3600, 8], 7);
  script.call('hg_segment_find', ['segment', 3600, 7], -1);
  script.call('hg_segment_buckets', ['segment', 0, rows.length], 5);
  script.call('hg_segment_buckets', ['segment', 2, 6], 1);

  script.say('rows with one node, with two, with a node that is in no row; and their number');
  script.region('nodes', 16);
  script.region('rows', 64 + 32);
  for (const nodes of [[3], [2, 3], [-5], [12_345]]) {
    script.numbers('nodes', nodes);
    script.call(
      'hg_segment_lookup',
      ['segment', 'nodes', nodes.length, 0, rows.length, 'rows', 16],
      rowsWith(...nodes).length,
    );
    script.holdsWords('rows', rowsWith(...nodes));
  }
  script.call('hg_segment_count', ['segment', 3, 0, rows.length], rowsWith(3).length);
  script.say('the numbers of rows of several nodes are added to counts');
  script.numbers('nodes', [2, 3]);
  script.words('rows', [0, 10]);
  script.call('hg_segment_counts', ['segment', 'nodes', 2, 0, rows.length, 'rows'], 2);
  script.holdsWords('rows', [rowsWith(2).length, 10 + rowsWith(3).length]);
  script.say('a lookup stops when the list is full, and reports where to continue');
  script.numbers('nodes', [3]);
  script.call('hg_segment_lookup', ['segment', 'nodes', 1, 0, rows.length, 'rows', 2], 2);
  script.call('hg_result_rows', [], rowsWith(3)[2]!);

  script.say('rows with 0.5 <= weight <= 2.5 and with weight > 0.5; rows of the member set {2, 3} at 3600');
  script.call('hg_segment_psi', ['segment', 0, 0.5, 2.5, 0, 'rows', 16], 3);
  script.holdsWords('rows', [0, 3, 10]);
  script.call('hg_segment_psi_count', ['segment', 0, 0.5, 1e308, 1], 2);
  script.call('hg_segment_psi', ['segment', 0, 0.5, 2.5, 0, 'rows', 2], -2);
  script.call('hg_result_needed', [], 3);
  script.say('the same rows, found by testing each row');
  script.region('range', 32);
  script.bytes('range', rangeEntry(0, 0.5, 2.5, 0));
  script.call('hg_rows_range', [0, 16, 'rows']);
  script.call('hg_segment_filter', ['segment', 'rows', rows.length, 'range', 1], 3);
  script.holdsWords('rows', [0, 3, 10]);
  script.region('tombstone', 64);
  script.bytes('tombstone', naiveRecord(edgeOf(3600, 0, [3, 2])));
  script.call('hg_segment_match', ['segment', 'tombstone', 'rows', 16], 1);
  script.holdsWords('rows', [7]);
}

/** Returns a range of hg_segment_filter. Rows without the column count as null. */
function rangeEntry(column: number, low: number, high: number, flags: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(32));
  for (const [index, value] of [low, high, Number.NaN].entries()) view.setFloat64(index * 8, value, true);
  view.setUint32(24, column, true);
  view.setUint32(28, flags, true);
  return new Uint8Array(view.buffer);
}

function lists(script: Script): void {
  script.say('row lists: intersection, union, difference, and removal of the rows that were dead at LSN 20');
  script.region('a', 24);
  script.region('b', 24);
  script.region('both', 48 + 32);
  script.words('a', [1, 3, 5, 7, 9]);
  script.words('b', [3, 4, 9]);
  script.call('hg_rows_intersect', ['a', 5, 'b', 3, 'both'], 2);
  script.holdsWords('both', [3, 9]);
  script.call('hg_rows_union', ['a', 5, 'b', 3, 'both'], 6);
  script.holdsWords('both', [1, 3, 4, 5, 7, 9]);
  script.call('hg_rows_difference', ['a', 5, 'b', 3, 'both'], 3);
  script.holdsWords('both', [1, 5, 7]);
  script.region('deaths', 24);
  script.numbers('deaths', [10, 15, 21]);
  script.call('hg_rows_reconcile', ['a', 5, 'b', 'deaths', 3, 20], 4);
  script.holdsWords('a', [1, 5, 7, 9]);
}

function text(script: Script): void {
  const plan = planOf(FIXTURE_COLUMNS).bytes;
  const expected = utf8(FIXTURE_EDGES.map((edge) => `${rowText(edge, FIXTURE_COLUMNS)}\n`).join(''));
  script.say('all rows as lines of JSON');
  script.region('plan', plan.length);
  script.bytes('plan', plan);
  script.region('all', rows.length * 4);
  script.call('hg_rows_range', [0, rows.length, 'all']);
  script.region('json', 16_384);
  script.call('hg_segment_json', ['segment', 'all', rows.length, 'plan', 2, 'json', 16_384], expected.length);
  script.holds('json', expected);
  script.say(
    'without space for a row: a status and the size that the row needs; with space for some rows: stops after them',
  );
  script.call('hg_segment_json', ['segment', 'all', rows.length, 'plan', 2, 'json', 100], -2);
  script.call(
    'hg_segment_json',
    ['segment', 'all', rows.length, 'plan', 0, 'json', 700],
    utf8(
      FIXTURE_EDGES.slice(0, 2)
        .map((edge) => rowText(edge, FIXTURE_COLUMNS))
        .join(','),
    ).length,
  );
  script.call('hg_result_rows', [], 2);
}

function memtable(script: Script): void {
  const edges = [edgeOf(50, 1, [1, 2]), edgeOf(-50, 2, [2, 3], { 0: 0.25 }), edgeOf(50, 3, [2]), edgeOf(0, 4, [1, 2])];
  const records = concat(recordsOf(edges, FIXTURE_COLUMNS));
  const order = [...edges.keys()].sort((a, b) => compareEdges(edges[a]!, edges[b]!));
  script.say('a memtable with LSNs above 1000: rows in key order, a death at LSN 1006');
  script.keep('table', 'hg_memtable_new', [60, 1000]);
  script.keep('room', 'hg_memtable_reserve', ['table', records.length, edges.length]);
  script.bytes('room', records);
  script.call('hg_memtable_append', ['table', 'room', edges.length, 1001], 0);
  script.call('hg_memtable_append', ['table', 'room', edges.length, 1000], -1);
  script.call('hg_memtable_sort', ['table'], 0);
  script.call('hg_memtable_field', ['table', 2], 2);
  script.call('hg_memtable_seek', ['table', 50, LOWEST], 2);
  script.call('hg_memtable_rows', ['table', 0, edges.length, 2000, 'rows', 16], edges.length);
  script.holdsWords('rows', order);
  script.call('hg_memtable_rows', ['table', 0, edges.length, 1002, 'rows', 16], 2);
  script.holdsWords('rows', [1, 0]);
  script.call('hg_memtable_filter', ['table', 'rows', 2, 'range', 1], 0);
  script.bytes('range', rangeEntry(0, 0, 0.25, 0));
  script.call('hg_memtable_rows', ['table', 0, edges.length, 2000, 'rows', 16], edges.length);
  script.call('hg_memtable_filter', ['table', 'rows', edges.length, 'range', 1], 1);
  script.holdsWords('rows', [1]);
  script.call('hg_memtable_kill', ['table', 0, 1006], 1);
  script.call('hg_memtable_kill', ['table', 0, 1007], 0);
  script.numbers('nodes', [2, 1]);
  script.call('hg_memtable_lookup', ['table', 'nodes', 2, LOWEST, LOWEST, SAFE, 1005, 'rows', 16], 2);
  script.holdsWords('rows', [3, 0]);
  script.call('hg_memtable_lookup', ['table', 'nodes', 2, LOWEST, LOWEST, SAFE, 1006, 'rows', 16], 1);
  script.holdsWords('rows', [3]);
  const expected = utf8(rowText(edges[3]!, FIXTURE_COLUMNS));
  script.call('hg_memtable_addresses', ['table', 'rows', 1]);
  script.call('hg_records_json', ['rows', 1, 'plan', 0, 'json', 16_384], expected.length);
  script.holds('json', expected);
}

function textBlock(script: Script): void {
  script.say('a text block of the documents "b a b", nothing and "ab": built, checked, and searched for "b" or "a*"');
  script.region('starts', 16);
  script.words('starts', [0, 3, 3, 4]);
  script.region('stream', 16);
  script.words('stream', [2, 0, 2, 1]);
  script.region('termStarts', 16);
  script.words('termStarts', [0, 1, 3, 4]);
  script.region('terms', 4);
  script.bytes('terms', utf8('aabb'));
  script.call('hg_text_build', [3, 'starts', 'stream', 3, 'termStarts', 'terms', 9], 103);
  script.keep('block', 'hg_result_pointer', []);
  script.region('state', 64);
  script.bytes('state', new Uint8Array(64));
  script.call('hg_text_check', ['block', 103, 'state', 1000], 0);
  script.call('hg_text_find', ['block', 'terms+3', 1], 2);
  script.call('hg_text_prefix', ['block', 'terms', 1], 0);
  script.call('hg_result_rows', [], 2);
  script.region('parts', 32);
  script.words('parts', [0, 0, 2, 1, 1, 0, 0, 2]);
  script.call('hg_text_query', ['block', 'parts', 2, 'parts', 0], 0);
  script.keep('query', 'hg_result_pointer', []);
  script.call('hg_text_prepare', ['query', 1000], 0);
  script.call('hg_text_count', ['query', 1, 0], 2);
  script.region('weights', 16);
  script.numbers('weights', [1, 0.5]);
  script.call('hg_text_weigh', ['query', 'weights', 2]);
  script.keep('frequent', 'hg_text_columns', []);
  script.call('hg_text_top', ['query', 0, 5, 'frequent'], 0);
  script.call('hg_text_top_step', ['query', 0, 1000], 0);
  script.region('best', 20);
  script.region('scores', 40);
  script.call('hg_text_top_take', ['query', 'best', 'scores'], 2);
  script.holdsWords('best', [0, 2]);
  const value = (weight: number, tf: number, dl: number) =>
    (weight * (tf * 2.2)) / (tf + 1.2 * (1 - 0.75 + (0.75 * dl) / 2));
  const scores = Float64Array.of(value(1, 2, 3) + value(0.5, 1, 3), value(0.5, 1, 1));
  script.holds('scores', new Uint8Array(scores.buffer));
  script.call('hg_text_query_free', ['query']);
  script.call('hg_text_columns_free', ['frequent']);
}

/** Returns all steps, for an instance that has not been used yet. */
export function makeVectors(): Step[] {
  const script = new Script();
  script.call('hg_abi_version', [], 1);
  script.call('hg_format_version', [], 3);
  checksum(script);
  encode(script);
  build(script);
  read(script);
  lists(script);
  text(script);
  memtable(script);
  textBlock(script);
  return script.steps;
}

/** Returns one step per line, for readable diffs. */
export function vectorsText(): string {
  return `[\n${makeVectors()
    .map((step) => `  ${JSON.stringify(step)}`)
    .join(',\n')}\n]\n`;
}
