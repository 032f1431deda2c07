// Writes results as JSON text, in chunks. NaN becomes null. An infinite number throws, because it
// would be a bug in the measure.
//
// Nodes of a named table are written as marks, a character 0x01 and four more with the bytes of the
// number, which the main thread replaces by keys. The text of such a result is in Latin-1.

import type { Shape } from './measure.ts';

/** Approximate chunk size in characters. */
const CHUNK = 64 * 1024;

/** What stands in place of the marks in the text of a result: JSON texts, or keys as JSON. */
export type Marks = 'texts' | 'keys';

/** Returns what the marks in the text of a result become; null if it has none. */
export function marksOf(shape: Shape, isNamed: boolean): Marks | null {
  if (!isNamed || shape.kind === 'value') return null;
  if (shape.kind === 'communities') return 'keys';
  if (!shape.ofNodes) return null;
  return shape.kind === 'map' || shape.kind === 'objects' ? 'texts' : 'keys';
}

/** Yields the JSON text of a result, piece by piece. */
export function* resultText(shape: Shape, isNamed = false): Generator<string, void, void> {
  const isMarked = marksOf(shape, isNamed) !== null;
  const idText = isMarked ? markOf : String;
  const nameText = isMarked ? markOf : (id: number) => `"${id}"`;
  switch (shape.kind) {
    case 'value':
      yield JSON.stringify(shape.value, finite);
      return;
    case 'map':
      yield* joined(
        '{',
        '}',
        shape.keys.length,
        (at) => `${nameText(shape.keys[at]!)}:${numberText(shape.values[at]!)}`,
      );
      return;
    case 'objects':
      yield* joined(
        '{',
        '}',
        shape.keys.length,
        (at) => `${nameText(shape.keys[at]!)}:${JSON.stringify(shape.values[at], finite)}`,
      );
      return;
    case 'ids':
      yield* joined('[', ']', shape.ids.length, (at) => idText(shape.ids[at]!));
      return;
    case 'groups':
      yield* groupText(shape.groups, idText);
      return;
    case 'communities':
      yield `{"value":${shape.value === null ? 'null' : numberText(shape.value)},"communities":`;
      yield* groupText(shape.groups, idText);
      yield '}';
      return;
    case 'triples':
      yield* tripleText(shape.next, idText);
  }
}

function markOf(number: number): string {
  return String.fromCharCode(1, number & 0xff, (number >>> 8) & 0xff, (number >>> 16) & 0xff, number >>> 24);
}

function* groupText(
  groups: readonly ArrayLike<number>[],
  idText: (id: number) => string,
): Generator<string, void, void> {
  let text = '[';
  for (const [place, group] of groups.entries()) {
    text += place === 0 ? '[' : ',[';
    for (let at = 0; at < group.length; at++) {
      text += at === 0 ? idText(group[at]!) : `,${idText(group[at]!)}`;
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
    }
    text += ']';
  }
  yield `${text}]`;
}

function* joined(
  open: string,
  close: string,
  count: number,
  entry: (at: number) => string,
): Generator<string, void, void> {
  let text = open;
  for (let at = 0; at < count; at++) {
    text += at === 0 ? entry(at) : `,${entry(at)}`;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  yield text + close;
}

function* tripleText(next: () => Float64Array | null, idText: (id: number) => string): Generator<string, void, void> {
  let text = '[';
  let separator = '';
  for (let triples = next(); triples !== null; triples = next()) {
    for (let at = 0; at < triples.length; at += 3) {
      text += `${separator}[${idText(triples[at]!)},${idText(triples[at + 1]!)},${numberText(triples[at + 2]!)}]`;
      separator = ',';
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
    }
    // Yields even if `next` found nothing, so that each call of `next` is a separate step.
    yield text;
    text = '';
  }
  yield `${text}]`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'null';
  return String(finite('', value));
}

/** Returns null for NaN and 0 for -0. Throws on infinities. */
function finite(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) return null;
  if (!Number.isFinite(value)) throw new Error('a measure gave an infinite number');
  return value === 0 ? 0 : value;
}
