// Determines the format of an input from the flag `--format`, or from the ending of the file's
// name.

import { UsageError } from '../world.ts';

export const INPUT_FORMATS = ['csv', 'ndjson', 'parquet', 'hif'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

const ENDINGS: Readonly<Record<string, InputFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
  hif: 'hif',
  json: 'hif',
};

/** Parses `--format`. Throws UsageError. */
export function formatFlag(given: string | undefined): InputFormat | undefined {
  if (given === undefined) return undefined;
  const format = INPUT_FORMATS.find((name) => name === given);
  if (format !== undefined) return format;
  throw new UsageError(`--format is ${JSON.stringify(given)}, but it takes one of ${INPUT_FORMATS.join(', ')}.`);
}

/**
 * Returns the format for the ending of the name, ignoring `.gz`; undefined for an unknown ending.
 */
export function formatOfName(path: string): InputFormat | undefined {
  return ENDINGS[endingOf(path)];
}

export function endingOf(path: string): string {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  return name.slice(name.lastIndexOf('.') + 1);
}
