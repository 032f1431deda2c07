// Concatenates sets of rows in steps of a few ms.

import type { TextColumn } from '../../../core/index.ts';
import { WideMap } from '../../../engine/index.ts';
import { NO_ROWS, type PropertyColumn, type RowSet } from '../rows/row-set.ts';

/** Approximate number of bytes that are copied between two pauses. */
const COPIED_AT_ONCE = 2 ** 20;
/** Approximate number of short texts that are looked up between two pauses. */
const TEXTS_AT_ONCE = 8192;
/** Looking up this many characters of a long text takes as long as looking up a short text. */
const LETTERS_A_TEXT = 64;

type Building<T> = Generator<null, T, void>;

/** Concatenates sets with the same columns; yields null between steps. */
export function* concatenated(sets: readonly RowSet[]): Building<RowSet> {
  if (sets.length <= 1) return sets[0] ?? NO_ROWS;
  const times = yield* joinNumbers(sets.map((set) => set.times));
  const ids = yield* joinNumbers(sets.map((set) => set.ids));
  const offsets = yield* joinOffsets(sets);
  const members = yield* joinNumbers(sets.map((set) => set.members));
  const masks = joinMasks(sets.map((set) => set.masks));
  const columns = new Map<number, PropertyColumn>();
  for (const id of sets[0]!.columns.keys())
    columns.set(id, yield* joinColumns(sets.map((set) => set.columns.get(id)!)));
  return { rows: sets.reduce((sum, set) => sum + set.rows, 0), times, ids, offsets, members, masks, columns };
}

function* joinNumbers(parts: readonly Float64Array[]): Building<Float64Array> {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  let copied = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
    copied += part.byteLength;
    if (copied < COPIED_AT_ONCE) continue;
    copied = 0;
    yield null;
  }
  return joined;
}

function joinMasks(parts: readonly Uint16Array[]): Uint16Array {
  const joined = new Uint16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function* joinOffsets(sets: readonly RowSet[]): Building<Uint32Array> {
  const count = sets.reduce((sum, set) => sum + Math.max(0, set.offsets.length - 1), 0);
  const joined = new Uint32Array(count + 1);
  let at = 0;
  let base = 0;
  let rested = 0;
  for (const { offsets } of sets) {
    const rows = Math.max(0, offsets.length - 1);
    for (let i = 0; i < rows; i++) joined[at + i] = base + offsets[i]!;
    at += rows;
    base += offsets[rows] ?? 0;
    if (at - rested < COPIED_AT_ONCE / 4) continue;
    rested = at;
    yield null;
  }
  joined[count] = base;
  return joined;
}

function* joinColumns(columns: readonly PropertyColumn[]): Building<PropertyColumn> {
  const nulls = new Uint8Array(columns.reduce((sum, column) => sum + column.nulls.length, 0));
  let at = 0;
  for (const column of columns) {
    nulls.set(column.nulls, at);
    at += column.nulls.length;
  }
  yield null;
  if (columns.every((column) => column.kind === 'number')) {
    const values = yield* joinNumbers(columns.map((column) => column.values));
    return { kind: 'number', nulls, values };
  }
  return yield* joinTexts(columns as readonly TextColumn[], nulls);
}

function* joinTexts(columns: readonly TextColumn[], nulls: Uint8Array): Building<TextColumn> {
  const places = new WideMap<string, number>();
  const texts: string[] = [];
  let worked = 0;
  function* placesOf(ofColumn: readonly string[]): Building<Uint32Array> {
    const found = new Uint32Array(ofColumn.length);
    for (const [code, text] of ofColumn.entries()) {
      let place = places.get(text);
      if (place === undefined) {
        place = texts.push(text) - 1;
        places.set(text, place);
      }
      found[code] = place;
      worked += 1 + text.length / LETTERS_A_TEXT;
      if (worked < TEXTS_AT_ONCE) continue;
      worked = 0;
      yield null;
    }
    return found;
  }
  /** Parts of one block have the same texts, which are looked up once. */
  const known = new Map<readonly string[], Uint32Array>();
  const codes = new Uint32Array(nulls.length);
  let at = 0;
  for (const column of columns) {
    const placeOf = known.get(column.texts) ?? (yield* placesOf(column.texts));
    known.set(column.texts, placeOf);
    for (let i = 0, end = column.codes.length; i < end; i++) codes[at + i] = placeOf[column.codes[i]!] ?? 0;
    at += column.codes.length;
    worked += column.codes.length / 16;
    if (worked < TEXTS_AT_ONCE) continue;
    worked = 0;
    yield null;
  }
  return { kind: 'text', nulls, codes, texts };
}
