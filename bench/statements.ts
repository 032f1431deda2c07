// Races statements against DuckDB and SQLite: lookups, joins and aggregates, from text to rows.
// Also measures planning times and statements over HTTP.

import { DUCKDB_MISSING } from '../test/support/duckdb.ts';
import { alternate, sink } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { runStatementHttp } from './statement-http.ts';
import { lookupKinds, type StatementKind, scanKinds } from './statement-kinds.ts';
import { planningRows } from './statement-planning.ts';
import {
  loadHedgerow,
  openDuckSide,
  openHedgerow,
  openSqliteSide,
  type Rows,
  type StatementSide,
} from './statement-sides.ts';

export async function runStatements(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  const share = tiny ? 0.02 : 1;
  const lookups = lookupKinds(dataset.edges, share);
  const dir = workspace.fresh('statements');
  await loadHedgerow(dir, dataset.edges);
  const duckdb = await openDuckSide(dataset.edges);
  const sqlite = openSqliteSide(dataset.edges);
  if (duckdb === undefined) note(`statements: no rows beside DuckDB, ${DUCKDB_MISSING}`);
  dataset.release();
  const rows: BenchRow[] = [];
  if (duckdb !== undefined) rows.push(await firstSum(dir, duckdb, tiny ? 1 : 5));
  const ours = await openHedgerow(dir);
  try {
    for (const kind of lookups) rows.push(...(await race(kind, ours, [duckdb, sqlite], tiny ? 1 : 3)));
    for (const kind of scanKinds(share)) rows.push(...(await race(kind, ours, [duckdb], tiny ? 1 : 5)));
    rows.push(...(await planningRows(ours, tiny)));
  } finally {
    await ours.close();
    await duckdb?.close();
    await sqlite.close();
    workspace.remove(dir);
  }
  rows.push(...(await runStatementHttp(options)));
  return rows;
}

/**
 * Times the first sum of a whole column, because the sum is cached after its first use. The
 * database is freshly opened and its segments have been read; DuckDB is warm.
 */
async function firstSum(dir: string, duckdb: StatementSide, rounds: number): Promise<BenchRow> {
  const timedSum = async (side: StatementSide, text: string) => {
    const start = performance.now();
    const [[sum]] = (await side.rows(text, {})) as [[number]];
    sink(sum);
    return performance.now() - start;
  };
  const ours = async () => {
    const side = await openHedgerow(dir);
    await side.rows('MATCH (e:Post) RETURN sum(e.score)', {});
    const ms = await timedSum(side, 'MATCH (e:Post) RETURN sum(e.weight)');
    await side.close();
    return ms;
  };
  const peer = () => timedSum(duckdb, 'select sum(weight) from e');
  const [oursMs, peerMs] = await alternate(rounds, [ours, peer], true);
  return benchRow({
    name: 'whole table, SUM(weight) for the first time, beside DuckDB',
    unit: 'statements/s',
    ours: 1000 / oursMs!,
    peer: 1000 / peerMs!,
  });
}

interface Racer {
  readonly side: StatementSide;
  readonly text: string;
}

/**
 * Compares whole answers for a few queries, then races all sides and meanwhile compares the row
 * counts for all queries. The target is relative to the faster peer.
 */
async function race(
  kind: StatementKind,
  ours: StatementSide,
  sides: readonly (StatementSide | undefined)[],
  rounds: number,
): Promise<BenchRow[]> {
  const racers: Racer[] = [{ side: ours, text: kind.text }];
  const pilot = kind.queries.slice(0, Math.max(2, Math.ceil(kind.queries.length / 20)));
  for (const side of sides) {
    if (side === undefined) continue;
    const text = await fastest(side, kind[side.name === 'DuckDB' ? 'duckdb' : 'sqlite'], pilot);
    racers.push({ side, text });
  }
  await compareAnswers(kind, racers);
  const taken = await raceQueries(kind, racers, rounds);
  const rates = taken.map((ms) => (kind.queries.length / ms) * 1000);
  // If a peer is missing, it is unknown which peer is the fastest, so there is no target.
  const bestPeer = sides.includes(undefined) ? undefined : Math.max(...rates.slice(1));
  return racers.slice(1).map(({ side }, index) => {
    const peer = rates[index + 1]!;
    return benchRow({
      name: `${kind.name}, beside ${side.name}`,
      unit: 'statements/s',
      ours: rates[0]!,
      peer,
      ...(peer === bestPeer ? { target: kind.target } : {}),
    });
  });
}

/** Runs each form twice and returns the fastest. */
async function fastest(
  side: StatementSide,
  forms: readonly string[],
  queries: StatementKind['queries'],
): Promise<string> {
  if (forms.length === 1) return forms[0]!;
  let best = { form: forms[0]!, ms: Infinity };
  for (const form of [...forms, ...forms]) {
    const start = performance.now();
    for (const query of queries) sink((await side.rows(form, query)).length);
    const ms = performance.now() - start;
    if (ms < best.ms) best = { form, ms };
  }
  return best.form;
}

/** Throws unless all sides return the same rows, in any order, for the first five queries. */
async function compareAnswers({ name, queries }: StatementKind, racers: readonly Racer[]): Promise<void> {
  for (const query of queries.slice(0, 5)) {
    const [ours, ...others] = await Promise.all(
      racers.map(async ({ side, text }) => linesOf(await side.rows(text, query))),
    );
    for (const [index, other] of others.entries())
      if (other !== ours)
        throw new Error(
          `${name} ${JSON.stringify(query)}: ${racers[index + 1]!.side.name} answers differently\n${ours!.slice(0, 500)}\n${other.slice(0, 500)}`,
        );
  }
}

function linesOf(rows: Rows): string {
  const plain = (value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  return rows
    .map((row) => JSON.stringify(row.map(plain)))
    .sort()
    .join('\n');
}

const SLICES = 10;

/**
 * Returns the milliseconds of every side for all queries, as sums of medians of the rounds. The
 * sides alternate after every tenth of the queries. Throws if row counts differ.
 */
async function raceQueries(
  { name, queries }: StatementKind,
  racers: readonly Racer[],
  rounds: number,
): Promise<number[]> {
  const counts: number[] = [];
  for (const query of queries) counts.push((await racers[0]!.side.rows(racers[0]!.text, query)).length);
  const size = Math.ceil(queries.length / SLICES);
  const sums = racers.map(() => 0);
  for (let from = 0; from < queries.length; from += size) {
    const sides = racers.map(({ side, text }) => async () => {
      const start = performance.now();
      for (let i = from; i < Math.min(queries.length, from + size); i++) {
        const { length } = await side.rows(text, queries[i]!);
        if (length !== counts[i])
          throw new Error(
            `${name}: ${side.name} gives ${length} rows, not ${counts[i]}, to ${JSON.stringify(queries[i])}`,
          );
        sink(length);
      }
      return performance.now() - start;
    });
    for (const [index, ms] of (await alternate(rounds, sides)).entries()) sums[index]! += ms;
  }
  return sums;
}
