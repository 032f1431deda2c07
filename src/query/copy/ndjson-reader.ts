// Reads the rows of an NDJSON file: each line is one JSON object with column names as keys.

import type { EdgeInput, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { EdgeBuilder } from './edge-builder.ts';
import type { RowBatch } from './rows.ts';
import { type Target, targetOf } from './targets.ts';
import type { LineBlock } from './whole-lines.ts';

const NEWLINE = 10;

export async function* ndjsonRows(
  blocks: AsyncIterable<LineBlock>,
  table: Table,
): AsyncGenerator<RowBatch, void, undefined> {
  const names = new ColumnNames(table);
  for await (const { bytes, firstLine } of blocks) {
    const ends = endsOf(bytes);
    yield {
      count: ends.length,
      at: (index) => firstLine + index,
      edge: (index) => edgeOf(bytes.toString('utf8', index === 0 ? 0 : ends[index - 1]! + 1, ends[index]!), names),
    };
  }
}

/** Returns the end of each line, before its line break. */
function endsOf(bytes: Buffer): number[] {
  const ends: number[] = [];
  let start = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
    ends.push(at);
    start = at + 1;
  }
  if (start < bytes.length) ends.push(bytes.length);
  return ends;
}

/** Caches the targets of column names, which are usually the same in every line. */
class ColumnNames {
  readonly table: Table;
  readonly #known = new Map<string, Target>();

  constructor(table: Table) {
    this.table = table;
  }

  target(name: string): Target {
    let target = this.#known.get(name);
    if (target === undefined) {
      target = targetOf(name, this.table);
      this.#known.set(name, target);
    }
    return target;
  }
}

function edgeOf(line: string, names: ColumnNames): EdgeInput | undefined {
  if (line.trim() === '') return undefined;
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    throw new HedgerowError('invalid_json', `Not valid JSON: ${(error as Error).message}.`);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new HedgerowError('invalid_json', 'The line must be a JSON object.');
  const builder = new EdgeBuilder(names.table.isOfNodes);
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(row)) {
    const target = names.target(name);
    const key = 'name' in target ? `${target.kind} ${target.name}` : target.kind;
    if (seen.has(key))
      throw new HedgerowError(
        'invalid_input',
        `Column ${JSON.stringify(name)} occurs twice (names are compared without case).`,
      );
    seen.add(key);
    builder.set(target, value);
  }
  return builder.edge();
}
