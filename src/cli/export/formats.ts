// Encodes rows as the bytes of a file, in each of the formats.

import { csvLines, type ParquetSink, type ResultColumn } from '../../query/copy/index.ts';
import { parquetSink } from '../../query/copy/parquet-remote.ts';
import { endingOf, formatOfName } from '../import/formats.ts';
import type { Row } from '../run/runner.ts';
import { bipartiteGraph } from './bipartite-graph.ts';
import { gexfBytes } from './gexf-bytes.ts';
import { graphmlBytes } from './graphml-bytes.ts';
import { hifBytes, type NodeRows } from './hif-bytes.ts';
import { checkTypes } from './rows.ts';

export const OUTPUT_FORMATS = ['csv', 'ndjson', 'parquet', 'hif', 'graphml', 'gexf'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Endings of the formats that only exports know. */
const GRAPH_ENDINGS: ReadonlyMap<string, OutputFormat> = new Map([
  ['graphml', 'graphml'],
  ['gexf', 'gexf'],
]);

/**
 * Returns the format for the ending of the name, ignoring `.gz`; undefined for an unknown ending.
 */
export function outputFormatOfName(path: string): OutputFormat | undefined {
  return GRAPH_ENDINGS.get(endingOf(path)) ?? formatOfName(path);
}

export interface Rows {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncIterable<readonly Row[]>;
  /** True for the rows of a table, false for those of an arbitrary statement. */
  readonly areEdges: boolean;
  /** The columns that are roles; none for the rows of a statement. */
  readonly roles: readonly string[];
  /** The nodes of a named table, by node table. */
  readonly nodes?: readonly NodeRows[] | undefined;
  /** The column with ids of edges for HIF (hif-bytes.ts). */
  readonly edgeNames?: string | undefined;
}

type Cell = Parameters<typeof csvLines>[0][number][number];

/** Encodes the rows; `separator` separates the members of an edge in CSV. */
export function bytesOf(format: OutputFormat, rows: Rows, separator: string): AsyncIterable<Uint8Array> {
  switch (format) {
    case 'csv':
      return csvBytes(rows, separator);
    case 'ndjson':
      return ndjsonBytes(rows);
    case 'parquet':
      return parquetBytes(rows);
    case 'hif':
      return hifBytes(rows);
    case 'graphml':
      return graphmlBytes(bipartiteGraph(rows, 'GraphML'));
    case 'gexf':
      return gexfBytes(bipartiteGraph(rows, 'GEXF'));
  }
}

async function* csvBytes({ columns, batches }: Rows, separator: string): AsyncGenerator<Uint8Array> {
  const names = columns.map(({ name }) => name);
  yield Buffer.from(csvLines([names]));
  for await (const batch of batches) {
    const cells = batch.map((row) =>
      names.map((name): Cell => {
        const value = (row[name] ?? null) as Cell;
        return Array.isArray(value) && separator !== ';' && value.every(Number.isSafeInteger)
          ? value.join(separator)
          : value;
      }),
    );
    if (cells.length > 0) yield Buffer.from(csvLines(cells));
  }
}

async function* ndjsonBytes({ batches }: Rows): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) yield Buffer.from(batch.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

async function* parquetBytes({ columns, batches }: Rows): AsyncGenerator<Uint8Array> {
  const sink: ParquetSink = parquetSink(columns);
  try {
    for await (const batch of batches) {
      checkTypes(batch, columns, 'Parquet');
      const piece = await sink.add(columns.map(({ name }) => batch.map((row) => (row[name] ?? null) as Cell)));
      if (piece.length > 0) yield piece;
    }
    yield await sink.end();
  } finally {
    sink.close();
  }
}
