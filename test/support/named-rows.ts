// Reads the rows of named tables and node tables as answers show them.

import { type Database, markedPlanOf, type ScanBounds, type Table } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';

export interface NamedRow {
  id: number;
  event_ts: number;
  members: MemberInput[];
  [column: string]: unknown;
}

/** Returns the rows of a named table, with keys as members. */
export function namedRows(database: Database, table: Table, bounds: ScanBounds = {}, asObjects = false): NamedRow[] {
  const scan = table.scan({ format: 'ndjson', rows: markedPlanOf(table.columns, table.definition), ...bounds });
  const texts: string[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next())
    texts.push(Buffer.from(database.nodes.translate(slice, asObjects ? 'objects' : 'keys')).toString());
  return parsed(texts);
}

/** Returns the rows of a node table in the order of their numbers. */
export function nodeRows(table: Table): Record<string, unknown>[] {
  const scan = table.scan({ format: 'ndjson' });
  const texts: string[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) texts.push(Buffer.from(slice).toString());
  return parsed(texts);
}

/** Returns the numbers of the members of all edges, or of all nodes of a node table. */
export function numbersIn(table: Table): number[] {
  const scan = table.scan({ format: 'ndjson', rows: markedPlanOf(table.columns, table.definition) });
  const numbers: number[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) {
    const bytes = Buffer.from(slice);
    for (let at = bytes.indexOf(1); at >= 0; at = bytes.indexOf(1, at + 5)) numbers.push(bytes.readUInt32LE(at + 1));
  }
  return numbers;
}

function parsed<T>(texts: readonly string[]): T[] {
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
