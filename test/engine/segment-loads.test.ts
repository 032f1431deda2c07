// Tests that segments which are not in memory are loaded in steps: how much a slice of a scan does,
// and what happens if the load meets a corrupt file, is given up, or gets no memory.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Core, type CoreModule, loadCore, SegmentLoad } from '../../src/core/index.ts';
import { READ_BYTES } from '../../src/core/segment-load.ts';
import type { Database, EngineOptions, Scan, Table } from '../../src/engine/index.ts';
import type { ScanBounds } from '../../src/engine/types.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { drain, openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const ROWS = 40_000;
const SEGMENT_ROWS = 20_000;
/** Microseconds by which each reading of the clock advances it. */
const TICK_US = 1000;
/** Steps of loads in a slice of 3 ms, and the first step of the next load. */
const MOST_STEPS = 4;

const { step, finish } = SegmentLoad.prototype;
const core = loadCore('release');
const { instantiate } = core;
let steps = 0;
let wholeLoads = 0;

function count(): void {
  SegmentLoad.prototype.step = function (this: SegmentLoad) {
    steps++;
    return step.call(this);
  };
  SegmentLoad.prototype.finish = function (this: SegmentLoad) {
    wholeLoads++;
    return finish.call(this);
  };
}

afterEach(() => {
  SegmentLoad.prototype.step = step;
  SegmentLoad.prototype.finish = finish;
  (core as { instantiate: CoreModule['instantiate'] }).instantiate = instantiate;
});

let disk: SimFs;
let expected: string;

/** The database that is open. */
let opened: Database | undefined;

/** Opens the disk with no segment in memory, after closing the database that was open. */
async function cold(more: Partial<EngineOptions> = {}): Promise<Database> {
  await opened?.close();
  opened = undefined;
  let us = 0;
  const nowUs = () => (us += TICK_US);
  steps = 0;
  wholeLoads = 0;
  opened = await openSim(disk, { core: 'release', segmentRows: SEGMENT_ROWS, logFileBytes: 2 ** 24, nowUs, ...more });
  return opened;
}

beforeAll(async () => {
  disk = simDisk();
  const database = await cold();
  const table = await database.createTable({ name: 't', columns: [{ name: 'room', type: 'TEXT' }] });
  await database.createIndex('t', 'weight');
  const bulk = table.bulk();
  for (let row = 0; row < ROWS; row++)
    bulk.add({
      event_ts: row,
      members: [row % 100, 1000 + (row % 3000), 100_000 + row],
      properties: {
        weight: row % 8 === 0 ? null : row % 1000,
        room: `room ${row % 9000} of a house with a rather long name`,
      },
    });
  await bulk.commit();
  await database.compact({});
  expected = drain(table.scan({ format: 'ndjson' }));
  expect(table.version.segments).toHaveLength(2);
  expect(table.version.segments[0]!.facts.bytes).toBeGreaterThan(MOST_STEPS * READ_BYTES);
});

const tableOf = (database: Database): Table => database.table('t');

interface Slices {
  text: string;
  empty: number;
  /** Maximum number of steps of loads in one slice. */
  mostSteps: number;
}

function readSlices(scan: Scan): Slices {
  const read: Slices = { text: '', empty: 0, mostSteps: 0 };
  for (let before = steps, slice = scan.next(); slice !== null; before = steps, slice = scan.next()) {
    read.text += Buffer.from(slice).toString();
    if (slice.length === 0) read.empty++;
    read.mostSteps = Math.max(read.mostSteps, steps - before);
  }
  return read;
}

async function caught(run: () => unknown): Promise<HedgerowError> {
  try {
    await run();
  } catch (error) {
    return error as HedgerowError;
  }
  throw new Error('no error');
}

describe('a scan of segments that are not in memory', () => {
  const requests: Record<string, ScanBounds & { limit?: number }> = {
    'all rows': {},
    'a node': { nodes: [7] },
    'a node and a limit at the end of a segment': { nodes: [7], limit: SEGMENT_ROWS / 100 },
    'a limit at the end of a segment': { limit: SEGMENT_ROWS },
    'an indexed column': { where: [{ column: 'weight', low: 3, high: 4 }] },
    'a column with a limit': { where: [{ column: 'weight', low: 999, high: 999 }], limit: 20 },
    'a window': { startTs: 19_990, endTs: 20_010 },
  };

  test.each(Object.entries(requests))('loads them in steps: %s', async (_, request) => {
    const warm = await cold();
    drain(tableOf(warm).scan({ format: 'ndjson' }));
    const wanted = tableOf(warm).scan({ format: 'ndjson', ...request });
    const text = drain(wanted);
    const database = await cold();
    count();
    const scan = tableOf(database).scan({ format: 'ndjson', ...request });
    const read = readSlices(scan);
    expect(read.text).toBe(text);
    expect(scan.hasMore).toBe(wanted.hasMore);
    expect(read.mostSteps).toBeLessThanOrEqual(MOST_STEPS);
    expect(read.empty).toBeGreaterThan(5);
    expect(wholeLoads).toBe(0);
  });

  test('reads a bounded number of bytes in a slice', async () => {
    const database = await cold();
    const scan = tableOf(database).scan({ format: 'ndjson' });
    const { open } = disk;
    let bytes = 0;
    disk.open = (path, mode) => {
      const handle = open.call(disk, path, mode);
      const { read } = handle;
      handle.read = (target, position) => {
        const n = read.call(handle, target, position);
        bytes += n;
        return n;
      };
      return handle;
    };
    try {
      let most = 0;
      for (let before = bytes, slice = scan.next(); slice !== null; before = bytes, slice = scan.next())
        most = Math.max(most, bytes - before);
      expect(bytes).toBe(tableOf(database).version.segments.reduce((sum, { facts }) => sum + facts.bytes, 0));
      expect(most).toBeLessThanOrEqual(MOST_STEPS * READ_BYTES);
    } finally {
      disk.open = open;
    }
  });

  test('merges them with rows in memory', async () => {
    const database = await cold();
    const table = tableOf(database);
    const transaction = database.begin();
    for (const time of [-1, 0, 10_000, 19_999, 20_000, ROWS])
      transaction.insert(table, { event_ts: time, members: [7] });
    count();
    const overlaid = JSON.parse(`[${readSlices(transaction.scan(table, { format: 'json' })).text}]`);
    expect(overlaid).toHaveLength(ROWS + 6);
    const keys = overlaid.map((row: { event_ts: number; id: number }) => row.event_ts * 2 ** 20 + row.id);
    expect(keys).toEqual([...keys].sort((a: number, b: number) => a - b));
    expect(wholeLoads).toBe(0);
    transaction.rollback();
  });

  test('is continued by another scan of the same segment', async () => {
    const database = await cold();
    const table = tableOf(database);
    count();
    const first = table.scan({ format: 'ndjson', endTs: 10 });
    const second = table.scan({ format: 'ndjson', endTs: 10 });
    let turns = 0;
    for (let text = ''; text === ''; turns++) text = Buffer.concat([first.next()!, second.next()!]).toString();
    const alone = steps;
    expect(turns).toBeLessThan(alone / MOST_STEPS);
    drain(first);
    drain(second);
    expect(steps).toBe(alone);
  });

  test('is finished at once by whoever needs the segment in the same turn', async () => {
    const database = await cold();
    const table = tableOf(database);
    count();
    const scan = table.scan({ format: 'ndjson' });
    expect(scan.next()).toHaveLength(0);
    expect(table.timeBounds({ startTs: 3, endTs: 5 })).toEqual({ least: 3, greatest: 5 });
    expect(wholeLoads).toBe(1);
    expect(readSlices(scan).text).toBe(expected);
  });

  test('is loaded in steps by an aggregate over columns', async () => {
    const database = await cold();
    const segments = tableOf(database).segmentScan({});
    count();
    const part = segments.next()!;
    let turns = 0;
    for (let before = 0; !part.load(); before = steps, turns++) expect(steps - before).toBeLessThanOrEqual(MOST_STEPS);
    expect(turns).toBeGreaterThan(3);
    part.open().free();
    expect(wholeLoads).toBe(0);
    segments.close();
  });
});

describe('a load in steps', () => {
  test('refuses a file that is damaged in any section with the same error as a load at once', async () => {
    const database = await cold();
    const { path } = tableOf(database).version.segments[0]!;
    const places = [0, 8, 16, 100];
    disk.edit(path, (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let index = 0; index < view.getUint32(20, true); index++) {
        const at = 128 + index * 24;
        const [offset, length] = [view.getUint32(at + 8, true), view.getUint32(at + 12, true)];
        if (length > 0) places.push(at + 16, offset, offset + (length >> 1), offset + length - 1);
      }
    });
    expect(places.length).toBeGreaterThan(40);
    for (const place of places) {
      const flip = () =>
        disk.edit(path, (bytes) => {
          bytes[place]! ^= 0x10;
        });
      flip();
      const errors: HedgerowError[] = [];
      for (const at of ['once', 'steps'] as const) {
        const again = await cold();
        const table = tableOf(again);
        const segment = table.version.segments[0];
        // A damaged head is found when the table is opened.
        errors.push(
          await caught(() =>
            at === 'once' && segment !== undefined ? table.resident(segment) : drain(table.scan({ format: 'ndjson' })),
          ),
        );
        expect(again.health().resident_bytes ?? 0).toBeGreaterThanOrEqual(0);
        expect(Object.keys(again.health().corrupt_tables)).toEqual(['t']);
      }
      flip();
      const [once, inSteps] = errors;
      expect(inSteps!.code, `byte ${place}`).toBe('table_corrupt');
      expect([inSteps!.message, inSteps!.fields], `byte ${place}`).toEqual([once!.message, once!.fields]);
    }
    const whole = await cold();
    expect(drain(tableOf(whole).scan({ format: 'ndjson' }))).toBe(expected);
  });

  test('is given up when its memory is needed, and then done at once, so that all readers get on', async () => {
    const database = await cold({ memoryBudgetBytes: 1 });
    const table = tableOf(database);
    const { residency } = table.context;
    count();
    const scans = [
      table.scan({ format: 'ndjson', endTs: SEGMENT_ROWS - 1 }),
      table.scan({ format: 'ndjson', startTs: SEGMENT_ROWS }),
    ];
    const texts = ['', ''];
    for (let turn = 0, open = 2; open > 0; turn++) {
      expect(turn).toBeLessThan(1000);
      open = 0;
      for (const [index, scan] of scans.entries()) {
        const slice = scan.next();
        if (slice === null) continue;
        texts[index] += Buffer.from(slice).toString();
        open++;
      }
      expect(residency.count).toBeLessThanOrEqual(1);
    }
    expect(texts.join('')).toBe(expected);
    expect(wholeLoads).toBeGreaterThan(0);
  });

  test('counts towards the memory budget from its beginning', async () => {
    const database = await cold();
    const table = tableOf(database);
    const { residency } = table.context;
    const [segment] = table.version.segments;
    expect(residency.bytes).toBe(0);
    const scan = table.scan({ format: 'ndjson' });
    scan.next();
    expect(residency.count).toBe(0);
    expect(residency.has(segment!)).toBe(false);
    expect(residency.bytes).toBeGreaterThan(segment!.facts.bytes);
    scan.close();
    residency.drop(segment!);
    expect(residency.bytes).toBe(0);
  });

  /** Makes the check of every instance answer from call number `nth` on that memory is short. */
  function refuseChecks(nth: number, refusals: number): void {
    let calls = 0;
    (core as { instantiate: CoreModule['instantiate'] }).instantiate = (insist) => {
      const made = instantiate.call(core, insist);
      const exports = {
        ...made.exports,
        hg_segment_check_step: (...values: [number, number, number, number, number]) => {
          calls++;
          return calls >= nth && calls < nth + refusals ? -3 : made.exports.hg_segment_check_step(...values);
        },
      };
      return { ...made, exports } as Core;
    };
  }

  test('is refused if it gets no memory in its middle, and nothing can be evicted', async () => {
    for (const nth of [1, 2, 5]) {
      refuseChecks(nth, Infinity);
      const database = await cold();
      const table = tableOf(database);
      expect(await caught(() => drain(table.scan({ format: 'ndjson' })))).toMatchObject({ code: 'overloaded' });
      expect(table.context.residency.bytes).toBe(0);
      expect(database.health().corrupt_tables).toEqual({});
      (core as { instantiate: CoreModule['instantiate'] }).instantiate = instantiate;
      expect(drain(table.scan({ format: 'ndjson' }))).toBe(expected);
    }
  });

  test('begins again after others are evicted if it gets no memory in its middle', async () => {
    const database = await cold();
    const table = tableOf(database);
    const [first, second] = table.version.segments;
    table.resident(second!);
    refuseChecks(3, 1);
    expect(drain(table.scan({ format: 'ndjson', endTs: SEGMENT_ROWS - 1 }))).toBe(
      `${expected.split('\n').slice(0, SEGMENT_ROWS).join('\n')}\n`,
    );
    const { residency } = table.context;
    expect([residency.has(first!), residency.has(second!)]).toEqual([true, false]);
  });

  // The last test, because it changes the table.
  test('ends with its segment when a compaction replaces it, and goes on for a reader of the old rows', async () => {
    const database = await cold();
    const table = tableOf(database);
    const { residency } = table.context;
    for (const isPinned of [false, true]) {
      const scan = table.scan({ format: 'ndjson', endTs: 5 });
      scan.next();
      const [segment] = table.version.segments;
      expect([residency.has(segment!), residency.bytes > 0]).toEqual([false, true]);
      if (!isPinned) scan.close();
      const before = expected.split('\n').slice(0, 6);
      await table.insert({ event_ts: 1, members: [5] });
      await database.compact({});
      expect(table.version.segments).not.toContain(segment);
      if (isPinned) {
        const lines = readSlices(scan).text.trimEnd().split('\n');
        expect(lines.filter((line) => !line.includes('"members":[5]'))).toEqual(before);
        expect(lines).toHaveLength(before.length + 1);
      }
      expect(residency.has(segment!)).toBe(false);
      expect(residency.bytes).toBe(0);
    }
  });
});
