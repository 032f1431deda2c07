// Converts named nodes to the rows of a table of nodes, and back.

import type { NamedNode } from './line-batches.ts';
import { NAME_COLUMN } from './targets/target.ts';

/** Returns the rows as NDJSON. */
export function nodeLines(nodes: readonly NamedNode[]): string {
  return nodes
    .map(({ id, name, event_ts }) => `${JSON.stringify({ event_ts, members: [id], [NAME_COLUMN]: name })}\n`)
    .join('');
}

/** Returns the number of each name. */
export async function numbersOf(rows: AsyncIterable<object>): Promise<Map<string, number>> {
  const numbers = new Map<string, number>();
  for await (const row of rows) {
    const { members, [NAME_COLUMN]: name } = row as { members: number[]; [NAME_COLUMN]: unknown };
    if (typeof name === 'string' && members.length === 1) numbers.set(name, members[0]!);
  }
  return numbers;
}
