// Finds the rows of a memtable in which the words of a search are found, by its text blocks, and
// tells which rows they do not cover.

import type { CoreMemtable } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { ScanSource, ScanView } from '../scan/scan-view.ts';
import type { MarkedRows, SearchCondition } from '../types.ts';
import { matchingRows } from './block-search.ts';
import type { TextPieces } from './text-pieces.ts';
import { tagOf, textWorkOf } from './text-tag.ts';

/**
 * Returns the text blocks of a memtable, after building those that are missing. Yields null after
 * steps of a few milliseconds. Returns undefined if the search is not one of the table's index, or
 * for the rows of a transaction.
 */
export function* piecesOf(
  source: ScanSource,
  { overlay }: ScanView,
  memtable: CoreMemtable,
  search: Pick<SearchCondition, 'columns' | 'language'>,
): Generator<null, TextPieces | undefined, void> {
  const { text } = source.definition;
  if (text === undefined || tagOf(text) !== tagOf(search) || memtable === overlay?.memtable) return undefined;
  const pieces = source.context.texts.of(memtable, textWorkOf(source.columns, text));
  while (pieces.step()) yield null;
  return pieces;
}

/**
 * Returns the rows in which the words are found, alive or not, in the order of their numbers, and
 * the rows that must be read to know. Rows that come later than the call are neither. Yields null
 * after steps of a few milliseconds.
 */
export function* markedRows(
  source: ScanSource,
  view: ScanView,
  memtable: CoreMemtable,
  search: SearchCondition,
): Generator<null, MarkedRows, void> {
  const { rows } = memtable;
  const pieces = yield* piecesOf(source, view, memtable, search);
  const found: Uint32Array[] = [];
  const unknown: { from: number; to: number }[] = [];
  for (let from = 0; from < rows; ) {
    const piece = pieces?.at(from);
    const to = Math.min(rows, piece?.to ?? rows);
    const inPiece = piece && ifMemory(() => matchingRows(piece, search.parts, source.nowUs));
    if (inPiece === undefined) unknown.push({ from, to });
    else {
      const { from: first } = piece!;
      found.push(inPiece.map((row) => row + first).filter((row) => row >= from && row < to));
    }
    from = to;
    yield null;
  }
  return { found: joined(found), unknown };
}

/** Returns the size in bytes of the records in memory, of a version, that no text block covers. */
export function bytesWithoutBlock({ context }: ScanSource, { memtables }: ScanView['version']): number {
  return memtables.reduce(
    (sum, { memtable }) => sum + memtable.recordBytes - context.texts.coveredOf(memtable).bytes,
    0,
  );
}

/**
 * Returns what a block tells; undefined if there is no memory for the question, so that its rows
 * are read instead.
 */
export function ifMemory<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof HedgerowError && error.code === 'overloaded') return undefined;
    throw error;
  }
}

/** Returns lists one after another. */
export function joined(lists: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}
