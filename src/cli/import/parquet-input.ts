// Reads Parquet as an input of an import: one edge or node per row.

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HedgerowError } from '../../errors.ts';
import { parquetSource } from '../../query/copy/parquet-remote.ts';
import { nodeFs } from '../../storage/index.ts';
import type { ForeignTable } from '../../tabular/foreign-table.ts';
import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { Members } from './node-keys.ts';
import type { LookedInto } from './planned-input.ts';
import { jsonText } from './rows/cell-types.ts';
import { RowBatches } from './rows/row-batches.ts';
import type { RowPlanner } from './rows/row-input.ts';
import { peek, type Source } from './source.ts';

const MARK = Buffer.from('PAR1');

/** Throws `invalid_input` for a file that is not Parquet. */
export async function lookIntoParquet(source: Source, planner: RowPlanner): Promise<LookedInto> {
  const { path, remove } = await wholeFile(source);
  try {
    const sample = await sampleOf(path);
    return {
      plan: (known, roles = []) => {
        const { itemsOf, ...planned } = planner.plan(sample, known, roles);
        const batches = (limits: BatchLimits, from: Position, members: Members | undefined) => {
          const shown = (cells: readonly unknown[]) =>
            jsonText(Object.fromEntries(sample.names.map((name, place) => [name, cells[place]])));
          const form = { itemOf: itemsOf(members), kept: (cells: readonly unknown[]) => cells, shown };
          return parquetBatches(path, sample.names, new RowBatches(limits, from, form, members), from);
        };
        return { ...planned, batches };
      },
      close: remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Returns a path at which the whole file is stored. Parquet is read from its end, so input that is
 * compressed or comes through a pipe is first written to a temporary file.
 */
async function wholeFile(source: Source): Promise<{ path: string; remove: () => void }> {
  const { head, chunks } = await peek(source.chunks, MARK.length);
  if (!head.subarray(0, MARK.length).equals(MARK))
    throw new HedgerowError('invalid_input', `${source.label} is not Parquet: it does not begin with PAR1.`);
  if (source.totalBytes !== undefined && !source.packed()) {
    source.close();
    return { path: source.path, remove() {} };
  }
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-import-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  try {
    const path = join(dir, 'input.parquet');
    await pipeline(chunks, createWriteStream(path));
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function sampleOf(path: string): Promise<ForeignTable> {
  const handle = nodeFs.open(path, 'read');
  const parquet = parquetSource(handle);
  try {
    const names = await parquet.names();
    const first = await parquet.next(names);
    const rows = Array.from({ length: first?.count ?? 0 }, (_, row) =>
      names.map((_name, at) => first!.columns[at]![row]),
    );
    return { names, rows, isText: () => true };
  } finally {
    parquet.close();
    handle.close();
  }
}

async function* parquetBatches(
  path: string,
  names: readonly string[],
  rows: RowBatches<readonly unknown[], readonly unknown[]>,
  from: Position,
): AsyncGenerator<LineBatch> {
  const handle = nodeFs.open(path, 'read');
  const parquet = parquetSource(handle);
  try {
    await parquet.names();
    for (let next = await parquet.next(names); next !== undefined; next = await parquet.next(names)) {
      const { start, count, columns } = next;
      for (let row = Math.max(0, from.offset - start); row < count; row++) {
        const cells = columns.map((values) => values[row]);
        const at = start + row + 1;
        const batch = rows.add(cells, at, at, at + 1);
        if (batch !== undefined) yield batch;
      }
    }
    const rest = rows.take();
    if (rest !== undefined) yield rest;
  } finally {
    parquet.close();
    handle.close();
  }
}
