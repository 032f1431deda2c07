// Parses one line into one edge, and checks it by the rules of the server's NDJSON body. Only edges
// in the most common form (plain-edge.ts) are not checked here, but by the target.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../../errors.ts';
import { requireObject } from '../../../http/json-body.ts';
import {
  type CheckedEdge,
  checkEdge,
  type EdgeInput,
  type EdgeTable,
  readEdge,
  tableNameOf,
} from '../../../model/edge.ts';
import { isBlank, parseLine } from '../../../routes/bulk-insert.ts';
import { type LineBatch, startOf } from '../line-batches.ts';
import { PlainEdgeReader } from './plain-edge.ts';

const PLACE: readonly string[] = ['body'];

/**
 * Returns the table with that name. Null when the table is unknown here; its lines are then not
 * checked. Throws `table_not_found`.
 */
export type TableOf<T> = (name: string) => T | null;

export interface ReadLine<T> {
  edge: EdgeInput | CheckedEdge;
  table: T;
}

const UNCHECKED: EdgeInput = { event_ts: 0, members: [] };

/** Reads lines for one table. `tableOf` finds the tables of lines that name another table. */
export class EdgeLineReader<T extends EdgeTable> {
  readonly #plain = new PlainEdgeReader();
  readonly #table: T;
  readonly #tableOf: TableOf<T>;
  readonly #line: ReadLine<T>;
  /** Whether the members of the most common form, integers, may be members of the table. */
  readonly #hasPlain: boolean;

  constructor(table: T, tableOf: TableOf<T>) {
    const { kinds } = table;
    this.#hasPlain = kinds === undefined || (kinds.length === 1 && kinds[0]!.isInteger);
    this.#table = table;
    this.#tableOf = tableOf;
    this.#line = { edge: this.#plain.edge, table };
  }

  /**
   * Returns the edge of a line; null for a blank line. The result is valid until the next call.
   * Throws a HedgerowError that describes the fault.
   */
  read(batch: LineBatch, index: number): ReadLine<T> | null {
    const line = this.#line;
    const fault = batch.faults?.get(index);
    if (fault !== undefined) throw new HedgerowError('invalid_input', fault);
    const made = batch.items?.[index];
    if (made !== undefined) {
      line.edge = checkEdge(made as EdgeInput, this.#table);
      line.table = this.#table;
      return line;
    }
    const { bytes } = batch;
    const from = startOf(batch, index);
    const to = batch.ends[index]!;
    if (batch.tooLong) throw new HedgerowError('body_too_large', 'The line is too long to be kept in memory.');
    if (this.#hasPlain && this.#plain.read(bytes, from, to)) {
      line.edge = this.#plain.edge;
      line.table = this.#table;
      return line;
    }
    const piece = bytes.subarray(from, to);
    if (!isUtf8(piece)) throw new HedgerowError('invalid_json', 'The line is not valid UTF-8.');
    const text = piece.toString('utf8');
    if (isBlank(text)) return null;
    const source = requireObject(parseLine(text), [...PLACE]);
    const name = tableNameOf(source, PLACE);
    const table = name === undefined ? this.#table : this.#tableOf(name);
    line.table = table ?? this.#table;
    line.edge = table === null ? UNCHECKED : readEdge(source, table, PLACE);
    return line;
  }
}

/**
 * Returns the message about a line that cannot be imported. Rethrows errors that are not the fault
 * of the line.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof HedgerowError && error.status < 500) return error.message;
  throw error;
}
