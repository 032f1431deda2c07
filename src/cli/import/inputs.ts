// Opens the inputs of an import, each in its format.

import { resolve } from 'node:path';
import { HedgerowError } from '../../errors.ts';
import { END_COLUMN } from '../../model/columns.ts';
import { UsageError, type World } from '../world.ts';
import { lookIntoCsv } from './csv/csv-input.ts';
import { endingOf, formatFlag, formatOfName, type InputFormat } from './formats.ts';
import { lookIntoHif } from './hif/hif-input.ts';
import { lookIntoNdjson } from './ndjson-input.ts';
import type { ImportFlags } from './options.ts';
import type { LookedInto } from './planned-input.ts';
import { csvFlags, encodingOf, rowFlags } from './rows/row-flags.ts';
import { openSource, peek, type Source } from './source.ts';

export interface Input {
  readonly source: Source;
  readonly format: InputFormat;
  readonly looked: LookedInto;
}

/** Throws UsageError or the error of an input; in both cases no input stays open. */
export async function openInputs(paths: readonly string[], flags: ImportFlags, world: World): Promise<Input[]> {
  const rows = rowFlags(flags);
  const csv = csvFlags(flags);
  const encoding = encodingOf(flags);
  const given = formatFlag(flags.format);
  const sources = paths.map((path) =>
    openSource(path === '-' ? path : resolve(world.cwd, path), world.stdin, encoding),
  );
  const inputs: Input[] = [];
  try {
    for (const opened of sources) {
      const { source, format } = await withFormat(opened, given ?? formatOfName(opened.path));
      const tab = endingOf(source.path) === 'tsv' ? '\t' : undefined;
      inputs.push({ source, format, looked: await lookInto(source, format) });
      async function lookInto(one: Source, as: InputFormat): Promise<LookedInto> {
        switch (as) {
          case 'csv':
            return lookIntoCsv(one, { ...csv, delimiter: csv.delimiter ?? tab }, rows);
          case 'parquet':
            if (encoding !== undefined && encoding !== 'utf-8')
              throw new UsageError(`--encoding is for texts, and ${one.label} is read as Parquet.`);
            // The Parquet library is large, so it is loaded only when it is needed.
            return (await import('./parquet-input.ts')).lookIntoParquet(one, rows);
          case 'hif':
            return lookIntoHif(exact(one), rows, flags.create === true);
          case 'ndjson':
            if (flags.ts !== undefined)
              throw new UsageError(`--ts is for CSV, Parquet and HIF: each line of ${one.label} has its event_ts.`);
            if (flags.endColumn !== undefined && flags.endColumn.toLowerCase() !== END_COLUMN)
              throw new UsageError(
                `--end-column is ${END_COLUMN} for NDJSON: each line of ${one.label} has its ${END_COLUMN}.`,
              );
            return lookIntoNdjson(
              exact(one),
              flags.create === true || flags.dryRun === true,
              flags.endColumn !== undefined,
            );
        }
      }
    }
  } catch (error) {
    closeInputs(inputs);
    throw error;
  }
  return inputs;
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
