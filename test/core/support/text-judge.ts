// Judges what queries over text blocks answer, beside a naive model.

import { expect } from 'vitest';
import {
  type Core,
  finish,
  openTextBlock,
  placeTextBlock,
  RowBitmap,
  type TextBlock,
} from '../../../src/core/index.ts';
import type { Random } from './random.ts';
import { type Document, frequencyOf, inputOf, type Part, queryOf, ranked, scoreOf, usedBytes } from './text-model.ts';

export function blockOf(core: Core, documents: readonly Document[], keepsColumns = false): TextBlock {
  return openTextBlock(core, placeTextBlock(core, inputOf(documents)), 'block', { keepsColumns });
}

/** Compares everything that a query answers with the model. */
export function expectQuery(
  core: Core,
  block: TextBlock,
  documents: readonly Document[],
  parts: readonly Part[],
  random: Random,
  ks: readonly number[],
) {
  const before = usedBytes(core);
  const share = [0, 1, 3, 50][random.below(4)]!;
  const isOn = Uint8Array.from(documents, () => (share === 0 || random.below(share) === 0 ? 1 : 0));
  const isAllowed = (row: number) => isOn[row] === 1;
  const allowed = share === 0 ? undefined : new RowBitmap(core, documents.length);
  const rowsOn = [...isOn.keys()].filter(isAllowed);
  allowed?.setRows(Uint32Array.from(rowsOn));
  const query = queryOf(block, parts);
  finish(query.prepare());
  const frequencies = parts.map((part) => documents.map((document) => frequencyOf(document, part)));
  expect(parts.map((_, i) => query.count(i, allowed))).toEqual(
    frequencies.map((list) => list.filter((n, row) => n > 0 && isAllowed(row)).length),
  );
  const weights = Float64Array.from(parts, () => random.below(4) * random.unit() * 3);
  const average = 1 + random.unit() * 12;
  const sorted = ranked(documents, parts, weights, average, isAllowed);
  const out = new RowBitmap(core, documents.length);
  finish(query.match(out, allowed));
  const rows = out.list();
  expect([...rows]).toEqual(sorted.map(({ row }) => row).sort((a, b) => a - b));
  query.weigh(weights, average);
  expect([...query.scores(rows)]).toEqual([...rows].map((row) => scoreOf(documents[row]!, parts, weights, average)));
  for (const k of ks) {
    const best = finish(query.top(k, () => Number.NEGATIVE_INFINITY, allowed));
    expect([...best.rows]).toEqual(sorted.slice(0, k).map(({ row }) => row));
    expect([...best.scores]).toEqual(sorted.slice(0, k).map(({ score }) => score));
    const threshold = sorted[random.below(k)]?.score ?? 0;
    const reached = finish(query.top(k, () => threshold, allowed));
    const wanted = sorted.slice(0, k).filter(({ score }) => score >= threshold);
    expect([...reached.rows]).toEqual(wanted.map(({ row }) => row));
  }
  query.free();
  out.free();
  allowed?.free();
  if (!block.keepsColumns) expect(usedBytes(core)).toBe(before);
}
