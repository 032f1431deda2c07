import { expect, test } from 'vitest';
import { type BatchLimits, lineBatches, lineText } from '../../src/cli/import/line-batches.ts';
import { Random } from '../support/random.ts';

const LIMITS: BatchLimits = { rows: 7, bytes: 200, lineBytes: 400 };

async function* inPieces(bytes: Buffer, size: () => number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + size());
    at += piece.length;
    yield piece;
  }
}

async function cut(bytes: Buffer, size: () => number, limits = LIMITS) {
  const lines: { number: number; text: string; tooLong: boolean }[] = [];
  const rows: number[] = [];
  for await (const batch of lineBatches(inPieces(bytes, size), limits)) {
    rows.push(batch.ends.length);
    for (let i = 0; i < batch.ends.length; i++) {
      lines.push({ number: batch.firstLine + i, text: lineText(batch, i), tooLong: batch.tooLong });
    }
  }
  return { lines, rows };
}

test('lines are complete, numbered and in order, however the bytes are split', async () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = new Random(seed);
    const texts = Array.from({ length: random.below(60) }, () => 'é'.repeat(random.below(40)));
    const body = texts.map((text) => `${text}\n`).join('');
    const withEnd = random.chance(0.5) || texts.at(-1) === '' ? body : body.slice(0, -1);
    const { lines, rows } = await cut(Buffer.from(withEnd), () => 1 + random.below(90));
    expect(
      lines.map((line) => line.text),
      `seed ${seed}`,
    ).toEqual(texts);
    expect(lines.map((line) => line.number)).toEqual(texts.map((_, index) => index + 1));
    expect(Math.max(0, ...rows)).toBeLessThanOrEqual(LIMITS.rows);
  }
});

test('a line over the limit is truncated and marked, and the lines after it keep their numbers', async () => {
  const text = `first\n${'x'.repeat(5000)}\nthird\n${'y'.repeat(3000)}`;
  const { lines } = await cut(Buffer.from(text), () => 100);
  expect(lines.map(({ number, tooLong }) => [number, tooLong])).toEqual([
    [1, false],
    [2, true],
    [3, false],
    [4, true],
  ]);
  expect(lines[1]!.text).toBe('x'.repeat(200));
  expect(lines[2]!.text).toBe('third');
});

test('a byte order mark at the start is not part of the first line', async () => {
  const { lines } = await cut(Buffer.from('\uFEFFone\ntwo\n'), () => 64);
  expect(lines.map((line) => line.text)).toEqual(['one', 'two']);
});
