// `hedgerow export`: writes the edges of a table, or the rows of a statement, to a file or to
// stdout.

import { resolve } from 'node:path';
import { kindOfType } from '../../model/column-types.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import { nameColumnIn } from '../hif-names.ts';
import { endingOf } from '../import/formats.ts';
import { memorySparer } from '../import/progress/spare-memory.ts';
import type { Times } from '../query/formats.ts';
import { type RunnerFlags, timesOf } from '../query/options.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled, type Row } from '../run/runner.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { bytesOf, OUTPUT_FORMATS, type OutputFormat, outputFormatOfName, type Rows } from './formats.ts';
import type { NodeRows } from './hif-bytes.ts';
import { writeOutput } from './output-file.ts';
import {
  columnsOfRows,
  columnsOfTable,
  type NodeTableShape,
  openRows,
  type RowSource,
  type TableShape,
} from './rows.ts';

export interface ExportFlags extends RunnerFlags {
  table?: string | undefined;
  start?: string | undefined;
  end?: string | undefined;
  statement?: string | undefined;
  format?: string | undefined;
  out?: string | undefined;
  separator?: string | undefined;
  times?: string | undefined;
}

/**
 * Number of rows, from the first row on, from which the types of a statement's columns are
 * inferred.
 */
const SAMPLE_ROWS = 1000;

/** Resolves with the exit code: 0 on success, 1 when the export fails, 2 for a wrong call. */
export async function exportCommand(flags: ExportFlags, world: World): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  try {
    const format = outputFormat(flags);
    const path = flags.out === undefined || flags.out === '-' ? undefined : resolve(world.cwd, flags.out);
    if (path === undefined && format === 'parquet' && world.stdout.isTTY === true)
      throw new UsageError('Parquet is not for terminals; name a file with --out.');
    const written = timesOf(flags.times);
    if (written === 'iso' && format !== 'csv' && format !== 'ndjson')
      throw new UsageError(`--times iso is for csv and ndjson: in ${format} the times of edges are numbers.`);
    const times = [timeFlag('--start', flags.start, Math.ceil), timeFlag('--end', flags.end, Math.floor)] as const;
    checkFlags(flags);
    const source = await openRows(flags, world);
    let statement = flags.statement ?? '';
    try {
      const table = flags.statement === undefined ? tableOf(source.tables, flags.table) : undefined;
      checkNodes(table, format, times);
      if (table !== undefined) statement = tableStatement(table.name, ...times);
      const tally = { rows: 0 };
      const rows = await rowsOf(source, statement, table, tally, controller.signal, written);
      const isNamed = format === 'hif' && table !== undefined;
      const edgeNames = isNamed ? await edgeNamesOf(source, table, times, controller.signal) : undefined;
      await writeOutput(bytesOf(format, { ...rows, edgeNames }, flags.separator ?? ';'), path, world.stdout);
      world.stderr.write(`hedgerow: ${tally.rows} rows${path === undefined ? '' : ` in ${flags.out}`}\n`);
      return 0;
    } catch (error) {
      world.stderr.write(`hedgerow: ${errorText(error, statement)}`);
      return 1;
    } finally {
      await source.runner.close();
    }
  } catch (error) {
    return reportFailure(world, error);
  } finally {
    forget();
  }
}

/** Throws UsageError for what only tables of edges have. */
function checkNodes(table: TableShape | undefined, format: OutputFormat, times: readonly (number | undefined)[]): void {
  if (table?.key === undefined) return;
  if (format !== 'csv' && format !== 'ndjson' && format !== 'parquet')
    throw new UsageError(`${table.name} is a node table, and ${format} holds edges; take csv, ndjson or parquet.`);
  if (times.some((time) => time !== undefined))
    throw new UsageError(`${table.name} is a node table, whose nodes have no time; leave out --start and --end.`);
}

function checkFlags({ statement, table, start, end, separator }: ExportFlags): void {
  if (statement !== undefined && (table !== undefined || start !== undefined || end !== undefined))
    throw new UsageError('--statement selects the rows itself, so it excludes --table, --start and --end.');
  if (statement !== undefined && !/^\s*MATCH\b/i.test(statement))
    throw new UsageError('--statement takes a MATCH, which only reads.');
  if (table !== undefined && !IDENTIFIER.test(table))
    throw new UsageError(`--table is ${JSON.stringify(table)}, but it takes letters, digits and _, at most 64.`);
  if (separator === '' || separator === '"' || /\d|-/.test(separator ?? ''))
    throw new UsageError('--separator must be able to separate two integers: not empty, not ", without digits and -.');
}

/**
 * Returns the format that `--format` names. Without that flag, returns the format for the file's
 * ending, or NDJSON for stdout. Throws UsageError.
 */
function outputFormat({ format, out }: ExportFlags): OutputFormat {
  if (format === undefined) {
    const found = out === undefined || out === '-' ? 'ndjson' : outputFormatOfName(out);
    if (found !== undefined) return found;
    throw new UsageError(
      `The ending ${JSON.stringify(endingOf(out!))} belongs to no known format; name the format with --format.`,
    );
  }
  const known = OUTPUT_FORMATS.find((name) => name === format);
  if (known !== undefined) return known;
  throw new UsageError(`--format is ${JSON.stringify(format)}, but it takes one of ${OUTPUT_FORMATS.join(', ')}.`);
}

const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;

/**
 * Returns epoch seconds from a number or a time in ISO 8601. A time without a zone is UTC, as in an
 * import. Throws UsageError.
 */
function timeFlag(name: string, given: string | undefined, whole: (seconds: number) => number): number | undefined {
  if (given === undefined) return undefined;
  const text = WITHOUT_ZONE.test(given) ? `${given}Z` : given;
  const seconds = /^-?\d{1,16}$/.test(given) ? Number(given) : whole(Date.parse(text) / 1000);
  if (Number.isSafeInteger(seconds)) return seconds;
  throw new UsageError(
    `${name} is ${JSON.stringify(given)}, but it takes seconds since 1970, or a time such as 2024-05-01T12:00:00Z.`,
  );
}

/**
 * Finds a table, or the primary table when no name is given. When it does not exist, throws an
 * Error that lists the tables.
 */
export function tableOf(tables: readonly TableShape[], name: string | undefined): TableShape {
  const found = tables.find((table) =>
    name === undefined ? table.primary : table.name.toLowerCase() === name.toLowerCase(),
  );
  if (found !== undefined) return found;
  throw new Error(`There is no table ${name}; there is ${tables.map((table) => table.name).join(', ')}.`);
}

export function tableStatement(name: string, start?: number | undefined, end?: number | undefined): string {
  // A table may have the name of a keyword.
  return `MATCH (e:\`${name}\`)${boundsText(start, end)} RETURN *`;
}

function boundsText(start: number | undefined, end: number | undefined): string {
  const bounds = [
    ...(start === undefined ? [] : [`e.event_ts >= ${start}`]),
    ...(end === undefined ? [] : [`e.event_ts <= ${end}`]),
  ];
  return bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`;
}

/**
 * Returns the column with the ids that the edges had in a HIF document (hif-names.ts): it must be
 * different and not null in all edges of the export. Undefined if there is none.
 */
async function edgeNamesOf(
  { runner }: RowSource,
  { name, columns }: TableShape,
  times: readonly [number | undefined, number | undefined],
  signal: AbortSignal,
): Promise<string | undefined> {
  const ids = columns.filter(({ type }) => type === 'TEXT' || type === 'INTEGER').map((column) => column.name);
  const column = nameColumnIn(ids);
  if (column === undefined) return undefined;
  const counts = `COUNT(*) AS n, COUNT(e.\`${column}\`) AS named, COUNT(DISTINCT e.\`${column}\`) AS different`;
  const { batches } = await runner.run(`MATCH (e:\`${name}\`)${boundsText(...times)} RETURN ${counts}`, {}, signal);
  for await (const rows of batches)
    for (const { n, named, different } of rows) if (n === named && n === different && n !== 0) return column;
  return undefined;
}

/**
 * Returns the rows of a statement as they arrive, and counts them in `tally`. With `table`, the
 * columns are those of that table; otherwise they are inferred from the first rows.
 */
export async function rowsOf(
  { runner, tables }: RowSource,
  statement: string,
  table: TableShape | undefined,
  tally: { rows: number },
  signal: AbortSignal,
  times?: Times,
): Promise<Rows> {
  const batches = runner.rows(statement, {}, signal, times)[Symbol.asyncIterator]();
  const first: (readonly Row[])[] = [];
  let ended = false;
  for (let count = 0; count < SAMPLE_ROWS && table === undefined && !ended; ) {
    const next = await batches.next();
    ended = next.done === true;
    if (next.done === true) break;
    first.push(next.value);
    count += next.value.length;
  }
  const isEmpty = ended && first.every((batch) => batch.length === 0);
  const names = isEmpty ? await namesOf(runner, statement, signal) : undefined;
  const columns = table === undefined ? columnsOfRows(first.flat(), tables, names) : columnsOfTable(table);
  const spare = memorySparer();
  async function* all(): AsyncGenerator<readonly Row[], void, undefined> {
    for (const batch of first) {
      tally.rows += batch.length;
      yield batch;
    }
    if (ended) return;
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      tally.rows += next.value.length;
      spare();
      yield next.value;
    }
  }
  // The nodes of a table are read only by formats that list them.
  const nodesOf = (name: string) => runner.rows(`MATCH (n:\`${name}\`) RETURN *`, {}, signal);
  const nodes = table?.kinds?.map((kind) => nodeRowsOf(kind, () => nodesOf(kind.name))) ?? [];
  return { columns, batches: all(), areEdges: table !== undefined, roles: table?.roles ?? [], nodes };
}

function nodeRowsOf({ name, key, columns }: NodeTableShape, rows: NodeRows['rows']): NodeRows {
  return { name, key: key.name, columns: columns.map((one) => ({ name: one.name, type: kindOfType(one.type) })), rows };
}

/** Runs a statement for its column names, which cannot be inferred when there are no rows. */
async function namesOf(
  runner: RowSource['runner'],
  statement: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { columns, batches } = await runner.run(statement, {}, signal);
  // Reading to the end frees what the statement holds.
  for await (const _rows of batches);
  return columns;
}
