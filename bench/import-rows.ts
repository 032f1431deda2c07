// Generates rows for the import bench, as CSV or NDJSON: three nodes, a number and a text each,
// from a seed. Also computes a checksum that shows whether all rows are present exactly once.

import { closeSync, openSync, writeSync } from 'node:fs';
import { openDatabase } from 'hedgerow';
import { randomFrom } from '../test/core/support/random.ts';

const KINDS = ['mail', 'call', 'meeting', 'transfer', 'visit', 'paper', 'chat', 'tag'];
const NODES = 200_000;
const FLUSH = 2 ** 20;

export interface Rows {
  readonly rows: number;
  readonly bytes: number;
  /** Checksum over all rows, independent of their order. */
  readonly sum: Sum;
}

export interface Sum {
  readonly rows: number;
  readonly mix: number;
}

type Form = 'csv' | 'ndjson';

/** Writes rows until the file has at least `bytes` bytes. Only the last row may extend further. */
export function writeRows(path: string, form: Form, bytes: number, seed: number): Rows {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random.unit() * limit);
  const file = openSync(path, 'w');
  let text = form === 'csv' ? 'ts,a,b,c,amount,kind\n' : '';
  let [written, rows, mix] = [0, 0, 0];
  for (let ts = 1_700_000_000; written + text.length < bytes; rows++) {
    if (below(3) === 0) ts++;
    const [a, b, c] = [below(NODES), NODES + below(NODES), 2 * NODES + below(NODES)];
    const amount = below(100_000) / 100;
    const kind = KINDS[below(KINDS.length)]!;
    mix = (mix + mixOf(ts, [a, b, c], amount, kind)) | 0;
    text +=
      form === 'csv'
        ? `${ts},${a},${b},${c},${amount},${kind}\n`
        : `{"event_ts":${ts},"members":[${a},${b},${c}],"amount":${amount},"kind":"${kind}"}\n`;
    if (text.length < FLUSH) continue;
    written += writeSync(file, text);
    text = '';
  }
  written += writeSync(file, text);
  closeSync(file);
  return { rows, bytes: written, sum: { rows, mix } };
}

/** Returns the checksum of a whole table. */
export async function sumOf(dir: string, table: string): Promise<Sum> {
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  try {
    let [rows, mix, rest] = [0, 0, ''];
    const scan = database.table(table).scan({ format: 'ndjson' });
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      const lines = (rest + Buffer.from(slice).toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const { event_ts, members, amount, kind } = JSON.parse(line);
        mix = (mix + mixOf(event_ts, members, amount, kind)) | 0;
      }
      rows += lines.length;
    }
    return { rows, mix };
  } finally {
    await database.close();
  }
}

function mixOf(ts: number, members: readonly number[], amount: number, kind: string): number {
  let hash = Math.imul(ts, 0x9e3779b1) ^ Math.imul(Math.round(amount * 100), 0x85ebca6b) ^ kind.charCodeAt(0);
  for (const member of members) hash = Math.imul(hash ^ (hash >>> 15) ^ member, 0xc2b2ae35);
  return hash;
}
