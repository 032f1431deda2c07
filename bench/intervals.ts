// Edges with an end: what a read at a time costs beside a range that returns as many rows, and what
// ends cost an insert.
//
// Lengths are drawn from a log-uniform distribution of 10 seconds to 5 years, and one edge in a
// thousand has no end. A read at a time then finds edges of all ages.

import { openDatabase } from 'hedgerow';
import { type Random, randomFrom } from '../test/core/support/random.ts';
import type { Edge } from './dataset.ts';
import { sink } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

type Database = Awaited<ReturnType<typeof openDatabase>>;
type Table = ReturnType<Database['table']>;
type Request = Omit<Parameters<Table['scan']>[0], 'format'>;

const YEAR = 365 * 86_400;
const LONGEST = 5 * YEAR;
const SHORTEST = 10;
const OPEN_SHARE = 1000;
const BATCH = 10_000;

function endOf(random: Random, eventTs: number): number | null {
  if (random.below(OPEN_SHARE) === 0) return null;
  return eventTs + Math.floor(SHORTEST * (LONGEST / SHORTEST) ** random.unit());
}

export async function runIntervals({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const random = randomFrom(3);
  const edges = dataset.edges.map((edge) => ({ edge, end: endOf(random, edge.event_ts) }));
  dataset.release();
  const rounds = tiny ? 1 : 3;
  const database = await openDatabase({ dir: workspace.fresh('intervals') });
  try {
    const [ended, plain] = await insertRates(database, edges, rounds);
    const table = database.table('ended');
    await database.compact({ table: 'ended' });
    const times = Array.from({ length: tiny ? 20 : 200 }, () => edges[random.below(edges.length)]!.edge.event_ts);
    const asked = times.map((at) => ({ at }));
    const counts = asked.map((request) => rowsOf(table, request));
    // For each time, the window before it that has as many rows as hold then.
    const windows = asked.map(({ at }, place) => windowOf(edges, at, counts[place]!));
    const least = edges[0]!.edge.event_ts;
    const rates = { at: 0, range: 0, scanned: 0 };
    for (let round = 0; round < rounds; round++) {
      rates.at = Math.max(rates.at, rate(table, asked));
      rates.range = Math.max(rates.range, rate(table, windows));
    }
    const some = asked.slice(0, tiny ? 2 : 10);
    rates.scanned = rate(
      table,
      some.map(({ at }) => ({ startTs: least, endTs: at })),
    );
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    note(`intervals: ${mean.toFixed(0)} of ${edges.length} edges hold at a time on average`);
    return [
      benchRow({
        name: 'edges that hold at a time, beside a range of as many rows',
        unit: 'rows/s',
        ours: rates.at,
        peer: rates.range,
        target: { ratioAtLeast: 1 / 3 },
      }),
      benchRow({
        name: 'ranges of all edges that began before, which a filter would read',
        unit: 'rows/s',
        ours: rates.scanned,
      }),
      benchRow({
        name: 'insert of NDJSON lines with end_ts, beside lines with an integer column',
        unit: 'edges/s',
        ours: ended,
        peer: plain,
        target: { ratioAtLeast: 0.9 },
      }),
    ];
  } finally {
    await database.close();
  }
}

/** Returns the best rates of inserts into a table with intervals, and into one with a column. */
async function insertRates(
  database: Database,
  edges: readonly { edge: Edge; end: number | null }[],
  rounds: number,
): Promise<[ended: number, plain: number]> {
  const best: [number, number] = [0, 0];
  const columns = [{ name: 'until', type: 'INTEGER' as const }];
  const lines = (name: string): Buffer[] => {
    const pieces: Buffer[] = [];
    for (let from = 0; from < edges.length; from += BATCH) {
      const some = edges.slice(from, from + BATCH);
      pieces.push(Buffer.from(some.map(({ edge, end }) => `${JSON.stringify({ ...edge, [name]: end })}\n`).join('')));
    }
    return pieces;
  };
  for (let round = 0; round < rounds; round++) {
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const name = place === 0 ? 'ended' : 'plain';
      if (round > 0) await database.dropTable(name);
      const table = await database.createTable(place === 0 ? { name, intervals: true } : { name, columns });
      const pieces = lines(place === 0 ? 'end_ts' : 'until');
      // Time on the processor: other work on the machine disturbs it less.
      const begun = process.cpuUsage();
      for (const piece of pieces) {
        const bulk = table.bulk();
        const { rows, bytes } = bulk.addLines(piece);
        if (bytes !== piece.length) throw new Error(`intervals: ${rows} lines were read`);
        await bulk.commit();
      }
      best[place as 0 | 1] = Math.max(best[place as 0 | 1], edges.length / secondsSince(begun));
    }
  }
  return best;
}

function secondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return Math.max(1, user + system) / 1e6;
}

function rowsOf(table: Table, request: Request): number {
  const scan = table.scan({ ...request, format: 'json' });
  for (let slice = scan.borrowNext(); slice !== null; slice = scan.borrowNext()) sink(slice.length);
  return scan.rows;
}

/** Returns the rows a second over all requests. */
function rate(table: Table, requests: readonly Request[]): number {
  const begun = performance.now();
  let rows = 0;
  for (const request of requests) rows += rowsOf(table, request);
  return (rows * 1000) / (performance.now() - begun);
}

function windowOf(edges: readonly { edge: Edge }[], at: number, rows: number): Request {
  let behind = 0;
  for (let low = 0, high = edges.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (edges[middle]!.edge.event_ts <= at) low = middle + 1;
    else high = middle;
    behind = low;
  }
  const first = edges[Math.max(0, behind - rows)]!.edge.event_ts;
  return { startTs: first, endTs: at };
}
