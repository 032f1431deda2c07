// Rows parsed from a stream, however it is split into chunks.

import { expect, test } from 'vitest';
import { ndjsonValues } from '../../src/client/ndjson.ts';

async function rowsOf(text: string, size: number): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(text);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const rows: unknown[] = [];
  for await (const row of ndjsonValues(chunks())) rows.push(row);
  return rows;
}

test.each([1, 2, 3, 7, 1000])('rows are parsed from chunks of %i bytes', async (size) => {
  const rows = [{ a: 'é😀' }, [1], 'x\\n', null, { long: 'y'.repeat(50) }];
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('\n');
  expect(await rowsOf(text, size)).toEqual(rows);
  await expect(rowsOf(text.slice(0, -1), size)).rejects.toThrow('in the middle of a row');
});

test('a row of many chunks is searched once, so the work is linear in its length', async () => {
  const row = 'z'.repeat(1_000_000);
  const { split } = String.prototype;
  let searched = 0;
  String.prototype.split = function (this: string, ...given: Parameters<typeof split>) {
    searched += this.length;
    return split.apply(this, given);
  } as typeof split;
  try {
    expect(await rowsOf(`"${row}"\n`, 8192)).toEqual([row]);
  } finally {
    String.prototype.split = split;
  }
  expect(searched).toBe(row.length + 3);
});
