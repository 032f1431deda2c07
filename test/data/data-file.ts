// Reads a real file from `../shared/data` into plain arrays. The files may be absent.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const SHARED = process.env.HEDGEROW_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url));
const DATA = join(SHARED, 'data');

/**
 * The mails or contacts of a file in file order, which is also time order. Edge i in the file gets
 * the id i + 1.
 */
export interface FileEdges {
  readonly times: readonly number[];
  readonly members: readonly (readonly number[])[];
}

function pathOf(name: string): string {
  return join(DATA, `${name}.ndjson.gz`);
}

/** Returns whether the file exists, and prints a note if it does not. */
export function hasDataFile(name: string): boolean {
  const has = existsSync(pathOf(name));
  if (!has) console.log(`skipped: ${pathOf(name)} is absent (HEDGEROW_SHARED sets the path of the shared folder)`);
  return has;
}

export function readDataFile(name: string): FileEdges {
  const edges = gunzipSync(readFileSync(pathOf(name)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event_ts: number; members: number[] });
  return { times: edges.map((edge) => edge.event_ts), members: edges.map((edge) => edge.members) };
}
