// A program that uses the built client; `package.test.ts` compiles it. The values must have the
// types stated here, and every line after `@ts-expect-error` must be an error.

import {
  type ChangedHyperedge,
  HedgerowApiError,
  type HedgerowClient,
  type Hyperedge,
  type Node,
  type Table,
} from '../../dist/client/index.js';

type Same<A, B> = [A, B] extends [B, A] ? true : never;
const same = <A, B>(_isSame: Same<A, B>): void => {};

export async function program(client: HedgerowClient): Promise<void> {
  same<Table['columns'][number]['type'], 'INTEGER' | 'REAL' | 'TEXT' | 'BOOLEAN'>(true);
  // @ts-expect-error: the comparison itself can fail
  same<Table['row_count'], string>(true);

  const rows: Hyperedge[] = [];
  for await (const row of client.hyperedges.rangeRows({ start_ts: 0, end_ts: 9, limit: 3 })) rows.push(row);
  same<(typeof rows)[number]['members'], (number | string | { kind: string; key: string | number })[]>(true);
  same<(typeof rows)[number]['formation'], string | null>(true);

  const page = await client.hyperedges.node(7, { limit: 2 }, { signal: AbortSignal.timeout(5), minLsn: 4 });
  same<typeof page.next_cursor, string | null>(true);
  same<typeof page.query_plan.speedup_factor, number>(true);

  const inserted = await client.hyperedges.insert({ event_ts: 1, members: [1], own_column: 'x' });
  same<typeof inserted.table, string>(true);
  const made = await client.keys.create({ role: 'readonly', expires_days: 0.5 });
  same<typeof made.plaintext_key, string>(true);
  const dropped = await client.indexes.drop('ships', 'speed');
  same<typeof dropped.dropped, true>(true);

  for await (const edge of client.virtual.queryRows('trips', 'MATCH (t:Trip) RETURN t', { limit: 5 }))
    same<typeof edge.event_ts, number>(true);
  // @ts-expect-error: no such type of backend
  await client.virtual.propose({ backend: { type: 'oracle', path: 'trips' } });

  for await (const change of client.changes({ table: 'ships', fromLsn: 4, follow: false })) {
    if (change.op === 'insert') same<typeof change.row, ChangedHyperedge>(true);
    else if (change.op === 'delete') same<typeof change.before, ChangedHyperedge | undefined>(true);
    else if (change.op === 'node_inserted') same<typeof change.row, Node>(true);
    else if (change.op === 'buckets_dropped') same<typeof change.before_ts, number>(true);
    // @ts-expect-error: other changes have no edge
    else same<typeof change.row, ChangedHyperedge>(true);
    same<typeof change.lsn, number>(true);
  }

  const node = await client.nodes.put('People', 'Ada', { born: 1815 });
  same<(typeof node)[string], number | string | boolean | null>(true);

  // @ts-expect-error: a window has two ends
  await client.hyperedges.range({ start_ts: 0 });
  // @ts-expect-error: no such type of column
  await client.tables.create({ name: 'a', columns: [{ name: 'b', type: 'VARCHAR' }] });
  // @ts-expect-error: no such role
  await client.keys.create({ role: 'root' });

  const error: unknown = await client.wal.status().catch((thrown: unknown) => thrown);
  if (error instanceof HedgerowApiError) same<typeof error.retryAfter, number | undefined>(true);
}
