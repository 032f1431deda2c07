// Reads the rows of a Parquet file.

import type { EdgeInput, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { EdgeBuilder } from './edge-builder.ts';
import type { ParquetSource } from './parquet-port.ts';
import type { RowBatch } from './rows.ts';
import { type Target, targetsOf } from './targets.ts';

/** A column that is read from the file. */
interface Source {
  readonly name: string;
  readonly target: Target;
}

/**
 * Yields the rows as batches of edges. Throws `invalid_input` or `unknown_column` if the file is
 * not Parquet or has the wrong columns.
 */
export async function* parquetRows(source: ParquetSource, table: Table): AsyncGenerator<RowBatch, void, undefined> {
  try {
    const names = await source.names();
    const targets = targetsOf(names, table);
    const sources = names.flatMap((name, index): Source[] =>
      targets[index]!.kind === 'id' ? [] : [{ name, target: targets[index]! }],
    );
    const columns = sources.map(({ name }) => name);
    for (let batch = await source.next(columns); batch !== undefined; batch = await source.next(columns)) {
      const { start, count, columns: values } = batch;
      yield {
        count,
        at: (index) => start + index + 1,
        edge: (index) => edgeOf(values, index, sources, table.isOfNodes),
      };
    }
  } finally {
    source.close();
  }
}

function edgeOf(
  columns: readonly ArrayLike<unknown>[],
  index: number,
  sources: readonly Source[],
  isNode: boolean,
): EdgeInput {
  const builder = new EdgeBuilder(isNode);
  for (const [place, { target }] of sources.entries()) builder.set(target, plainValue(columns[place]![index]));
  return builder.edge();
}

/**
 * Converts 64-bit integers to numbers, also within lists. Throws `invalid_input` if an integer is
 * too large for a number.
 */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    throw new HedgerowError('invalid_input', `The integer ${value} is beyond 2^53-1.`);
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, plainValue);
  return value ?? null;
}
