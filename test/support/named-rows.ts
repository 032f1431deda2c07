// Reads the rows of named tables and node tables as answers show them.

import assert from 'node:assert/strict';
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

/**
 * Throws unless every member of an edge is a node, and no number and no key belongs to two nodes.
 */
export function checkNodes(db: Database): void {
  const keys = new Set<number>();
  for (const table of db.nodes.tables()) {
    const numbers = numbersIn(table);
    const names = nodeRows(table).map((row) => row[db.nodes.keyName(table)] as string | number);
    assert(numbers.length === names.length, `${table.name}: ${numbers.length} numbers, ${names.length} keys`);
    assert(new Set(names).size === names.length, `${table.name}: a key twice`);
    for (const [index, number] of numbers.entries()) {
      assert(!keys.has(number), `${table.name}: number ${number} twice`);
      keys.add(number);
      assert(db.nodes.find(table, names[index]!) === number, `${table.name}: ${names[index]} is not ${number}`);
      assert(table.nextId > number, `${table.name}: number ${number} will be given out again`);
    }
  }
  for (const table of db.tables())
    if (table.kinds !== undefined)
      for (const number of numbersIn(table)) assert(keys.has(number), `${table.name}: no node ${number}`);
}

function parsed<T>(texts: readonly string[]): T[] {
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
