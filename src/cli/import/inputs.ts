// Opens the inputs of an import, each in its format.

import { resolve } from 'node:path';
import { HedgerowError } from '../../errors.ts';
import { END_COLUMN } from '../../model/columns.ts';
import { UsageError, type World } from '../world.ts';
import type { CsvFlags } from './csv/csv-head.ts';
import { lookIntoCsv } from './csv/csv-input.ts';
import { endingOf, formatFlag, formatOfName, type InputFormat } from './formats.ts';
import { lookIntoHif } from './hif/hif-input.ts';
import { lookIntoNdjson } from './ndjson-input.ts';
import { lookIntoNodeLines } from './nodes/node-json.ts';
import { nodePlanner } from './nodes/node-rows.ts';
import type { ImportFlags } from './options.ts';
import type { LookedInto } from './planned-input.ts';
import { csvFlags, encodingOf, nodeFlags, rowFlags } from './rows/row-flags.ts';
import { edgePlanner, type RowPlanner } from './rows/row-input.ts';
import { openSource, peek, type Source } from './source.ts';

export interface Input {
  readonly source: Source;
  readonly format: InputFormat;
  readonly looked: LookedInto;
  readonly holds: 'edges' | 'nodes';
}

/**
 * Opens the inputs with edges, and before them those with nodes. Throws UsageError or the error of
 * an input; in both cases no input stays open.
 */
export async function openInputs(paths: readonly string[], flags: ImportFlags, world: World): Promise<Input[]> {
  const encoding = encodingOf(flags);
  const given = formatFlag(flags.format);
  const rows = edgePlanner(rowFlags(flags));
  const csv = csvFlags(flags);
  const edges = paths.map((path) => [path, 'edges'] as const);
  const nodes = flags.nodes === undefined ? [] : [[flags.nodes, 'nodes'] as const];
  const sources = [...nodes, ...edges].map(([path, holds]) => ({
    source: openSource(path === '-' ? path : resolve(world.cwd, path), world.stdin, encoding),
    holds,
  }));
  const inputs: Input[] = [];
  try {
    for (const { source: opened, holds } of sources) {
      // With edges beside them, nodes are in a file of their own form.
      const form = holds === 'nodes' && paths.length > 0 ? { ...csv, ...USUAL_CSV } : csv;
      const wanted = holds === 'nodes' && paths.length > 0 ? undefined : given;
      const { source, format } = await withFormat(opened, wanted ?? formatOfName(opened.path));
      const tab = endingOf(source.path) === 'tsv' ? '\t' : undefined;
      const cells = { ...form, delimiter: form.delimiter ?? tab };
      const planner = holds === 'nodes' ? nodePlanner(nodeFlags(flags)) : rows;
      const look = { source, format, flags, planner, cells };
      inputs.push({
        source,
        format,
        holds,
        looked: await (holds === 'nodes' ? lookIntoNodes(look) : lookIntoEdges(look)),
      });
    }
  } catch (error) {
    closeInputs(inputs);
    throw error;
  }
  // What HIF says about nodes is read like a file of its own.
  const inside = inputs.flatMap(({ source, looked, format }): Input[] =>
    looked.nodes === undefined
      ? []
      : [{ source: { ...source, label: `${source.label}.nodes` }, format, looked: looked.nodes, holds: 'nodes' }],
  );
  return [...inside, ...inputs];
}

const USUAL_CSV: CsvFlags = { delimiter: undefined, isHeadless: false, columns: undefined };

interface Look {
  readonly source: Source;
  readonly format: InputFormat;
  readonly flags: ImportFlags;
  readonly planner: RowPlanner;
  readonly cells: CsvFlags;
}

async function lookIntoEdges(look: Look): Promise<LookedInto> {
  const { source, format, flags } = look;
  if (format === 'hif') return lookIntoHif(exact(source), rowFlags(flags), flags.create === true);
  if (format !== 'ndjson') return lookIntoRows(look);
  if (flags.ts !== undefined)
    throw new UsageError(`--ts is for CSV, Parquet and HIF: each line of ${source.label} has its event_ts.`);
  if (flags.endColumn !== undefined && flags.endColumn.toLowerCase() !== END_COLUMN)
    throw new UsageError(
      `--end-column is ${END_COLUMN} for NDJSON: each line of ${source.label} has its ${END_COLUMN}.`,
    );
  const wantsColumns = flags.create === true || flags.dryRun === true;
  return lookIntoNdjson(exact(source), wantsColumns, flags.endColumn !== undefined);
}

async function lookIntoNodes(look: Look): Promise<LookedInto> {
  const { source, format, flags } = look;
  if (format === 'hif')
    throw new UsageError(`${source.label} is HIF, which holds nodes beside edges; import it without --nodes.`);
  return format === 'ndjson' ? lookIntoNodeLines(exact(source), nodeFlags(flags)) : lookIntoRows(look);
}

async function lookIntoRows({ source, format, flags, planner, cells }: Look): Promise<LookedInto> {
  if (format === 'csv') return lookIntoCsv(source, cells, planner);
  const encoding = encodingOf(flags);
  if (encoding !== undefined && encoding !== 'utf-8')
    throw new UsageError(`--encoding is for texts, and ${source.label} is read as Parquet.`);
  // The Parquet library is large, so it is loaded only when it is needed.
  return (await import('./parquet-input.ts')).lookIntoParquet(source, planner);
}

/**
 * Returns an input with the same chunks, whose reading fails at bytes that are invalid in its
 * encoding. CSV does not use this function: it rejects only the lines with such bytes.
 */
function exact(source: Source): Source {
  async function* checked() {
    for await (const chunk of source.chunks) {
      const encoding = source.decodedFrom();
      if (encoding !== undefined && chunk.includes('\ufffd'))
        throw new HedgerowError('invalid_input', `${source.label} holds bytes that are not valid ${encoding}.`);
      yield chunk;
    }
  }
  return { ...source, chunks: checked() };
}

/**
 * Guesses the format when neither the flag nor the name determines it: NDJSON when the text is
 * empty or begins with a bracket or brace, otherwise CSV.
 */
async function withFormat(source: Source, known: InputFormat | undefined) {
  if (known !== undefined) return { source, format: known };
  const { head, chunks } = await peek(source.chunks, 1);
  const text = head
    .toString('latin1', 0, 1024)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  const format: InputFormat = text === '' || text.startsWith('{') || text.startsWith('[') ? 'ndjson' : 'csv';
  return { source: { ...source, chunks }, format };
}

export function closeInputs(inputs: readonly Input[]): void {
  for (const { looked, source } of inputs) {
    looked.close();
    if (source.path !== '-') source.close();
  }
}
