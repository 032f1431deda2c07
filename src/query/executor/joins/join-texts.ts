// Concatenates texts, `a + b + c` in one pass. The length of a result is limited like that of a
// stored text. If only one part varies by row and has at most as many texts as there are rows, each
// of its texts is joined at most once.

import { HedgerowError } from '../../../errors.ts';
import { MAX_TEXT_BYTES } from '../../../model/text.ts';
import type { BoundArithmetic, BoundExpression } from '../../binder/bound.ts';
import { shown } from '../../shown.ts';
import { constant, isNullAt, NULL_VECTOR, type TextVector, type Vector, valueAt } from '../values/vector.ts';

/** Returns the parts of a concatenation, from left to right. */
export function joinedParts(node: BoundArithmetic): BoundExpression[] {
  const parts: BoundExpression[] = [];
  const add = (part: BoundExpression): void => {
    if (part.kind !== 'arithmetic' || part.type !== 'text') parts.push(part);
    else {
      add(part.left);
      add(part.right);
    }
  };
  add(node);
  return parts;
}

/**
 * Returns the concatenation of the parts for each row; it is null if a part is null. Throws
 * `invalid_statement` if it would be longer than a stored text may be.
 */
export function joinTexts(node: BoundArithmetic, parts: readonly Vector[], count: number): Vector {
  const limit = new TextLimit(node);
  if (parts.some((part) => part.kind === 'constant' && part.value === null)) return NULL_VECTOR;
  const changing = parts.filter((part) => part.kind !== 'constant');
  if (changing.length === 0)
    return constant(limit.joined(parts.map((part) => (part as { readonly value: string }).value)));
  const only = changing.length === 1 ? changing[0] : undefined;
  if (only?.kind === 'text' && only.texts.length <= count) return joinDistinct(limit, parts, only, count);
  const texts: string[] = new Array(count);
  const codes = new Uint32Array(count);
  let nulls: Uint8Array | undefined;
  const pieces: string[] = new Array(parts.length);
  for (let row = 0; row < count; row++) {
    codes[row] = row;
    texts[row] = '';
    if (changing.some((part) => isNullAt(part, row))) {
      nulls ??= new Uint8Array(count);
      nulls[row] = 1;
      continue;
    }
    for (let place = 0; place < parts.length; place++) pieces[place] = valueAt(parts[place]!, row) as string;
    texts[row] = limit.joined(pieces);
  }
  return { kind: 'text', codes, texts, nulls };
}

/** Joins only texts that occur in rows, because the result for another text might be too long. */
function joinDistinct(limit: TextLimit, parts: readonly Vector[], only: TextVector, count: number): Vector {
  const { codes, texts, nulls } = only;
  const joined: string[] = new Array(texts.length).fill('');
  const known = new Uint8Array(texts.length);
  const pieces = parts.map((part) => (part.kind === 'constant' ? (part.value as string) : ''));
  const place = parts.indexOf(only);
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    if (known[code] !== 0 || (nulls !== undefined && nulls[row] === 1)) continue;
    known[code] = 1;
    pieces[place] = texts[code]!;
    joined[code] = limit.joined(pieces);
  }
  return { kind: 'text', codes, texts: joined, nulls };
}

/** Maximum UTF-8 bytes per UTF-16 unit. */
const UTF8_BYTES = 3;

class TextLimit {
  readonly #node: BoundArithmetic;

  constructor(node: BoundArithmetic) {
    this.#node = node;
  }

  joined(pieces: readonly string[]): string {
    let length = 0;
    for (let i = 0; i < pieces.length; i++) length += pieces[i]!.length;
    if (length * UTF8_BYTES > MAX_TEXT_BYTES) this.#check(pieces, length);
    let text = pieces[0]!;
    for (let i = 1; i < pieces.length; i++) text += pieces[i]!;
    return text;
  }

  #check(pieces: readonly string[], length: number): void {
    let bytes = length;
    if (length <= MAX_TEXT_BYTES) {
      bytes = 0;
      for (const piece of pieces) bytes += Buffer.byteLength(piece);
    }
    if (bytes <= MAX_TEXT_BYTES) return;
    throw new HedgerowError(
      'invalid_statement',
      `${shown(this.#node.text)} gives a text of more than ${MAX_TEXT_BYTES / 1024} KB for a row; join fewer or shorter texts.`,
    );
  }
}
