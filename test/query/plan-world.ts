// Opens the tables for plan tests, and writes as text what a plan requests from indexes.

import { afterAll, beforeAll } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { bindMatch } from '../../src/query/binder/match.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import type { AccessPath, MatchPlan } from '../../src/query/planner/plan.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { planBound } from './execute.ts';

let database: Database;
export let contact: Table;

/**
 * Makes the tables. Contact has 200 rows, one every 5 seconds from -100 on, with buckets of 10
 * seconds; it is compacted and has an index on `n`. Small has 6 rows. Trip has 40 rows with buckets
 * of 60 seconds.
 */
beforeAll(async () => {
  database = await openSim(simDisk(), { core: 'release', segmentRows: 64 });
  const columns = [
    { name: 'n', type: 'INTEGER' as const },
    { name: 'place', type: 'TEXT' as const },
  ];
  contact = await database.createTable({ name: 'Contact', columns });
  const trip = await database.createTable({ name: 'Trip', bucketSeconds: 60, columns });
  const small = await database.createTable({ name: 'Small', columns });
  await fill(contact, 200, (i) => ({
    event_ts: 5 * i - 100,
    members: [i % 10, 100 + i],
    properties: { n: i, place: `p${i % 3}` },
  }));
  await fill(trip, 40, (i) => ({ event_ts: 20 * i, members: [i % 10, 200 + i], properties: { n: i } }));
  await fill(small, 6, (i) => ({ event_ts: i, members: [i], properties: { n: i } }));
  await database.compact();
  await database.createIndex('Contact', 'n');
});

afterAll(() => database.close());

async function fill(table: Table, rows: number, edge: (i: number) => Parameters<Table['insert']>[0]): Promise<void> {
  const bulk = table.bulk();
  for (let i = 0; i < rows; i++) bulk.add(edge(i));
  await bulk.commit();
}

export function planOf(text: string, parameters: ParameterValues = {}): MatchPlan {
  return planBound(bindMatch(parseStatement(text) as MatchNode, text, database, parameters), parameters);
}

/** Returns `start..end`, the nodes and the ranges of an access path. */
export function shown({ startTs, endTs, at, nodes, ranges }: AccessPath): string {
  const parts: string[] = [];
  if (at !== undefined) parts.push(`at ${at}`);
  if (startTs !== undefined || endTs !== undefined) parts.push(`${startTs ?? ''}..${endTs ?? ''}`);
  if (nodes.length > 0) parts.push(`nodes ${[...nodes].join(' ')}`);
  for (const { column, low, high, lowInclusive, highInclusive } of ranges)
    parts.push(
      `${column} ${lowInclusive === false ? '(' : '['}${low ?? ''}, ${high ?? ''}${highInclusive === false ? ')' : ']'}`,
    );
  return parts.join(' ') || 'everything';
}
