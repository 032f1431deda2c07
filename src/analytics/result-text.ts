// Writes results as JSON text, in chunks. NaN becomes null. An infinite number throws, because it
// would be a bug in the measure.

import type { Shape } from './measure.ts';

/** Approximate chunk size in characters. */
const CHUNK = 64 * 1024;

/** Yields the JSON text of a result, piece by piece. */
export function* resultText(shape: Shape): Generator<string, void, void> {
  switch (shape.kind) {
    case 'value':
      yield JSON.stringify(shape.value, finite);
      return;
    case 'map':
      yield* joined('{', '}', shape.keys.length, (at) => `"${shape.keys[at]!}":${numberText(shape.values[at]!)}`);
      return;
    case 'objects':
      yield* joined(
        '{',
        '}',
        shape.keys.length,
        (at) => `"${shape.keys[at]!}":${JSON.stringify(shape.values[at], finite)}`,
      );
      return;
    case 'ids':
      yield* joined('[', ']', shape.ids.length, (at) => String(shape.ids[at]!));
      return;
    case 'groups':
      yield* joined('[', ']', shape.groups.length, (at) => `[${shape.groups[at]!.join(',')}]`);
      return;
    case 'triples':
      yield* tripleText(shape.next);
  }
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

function* tripleText(next: () => Float64Array | null): Generator<string, void, void> {
  let text = '[';
  let separator = '';
  for (let triples = next(); triples !== null; triples = next()) {
    for (let at = 0; at < triples.length; at += 3) {
      text += `${separator}[${triples[at]!},${triples[at + 1]!},${numberText(triples[at + 2]!)}]`;
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
