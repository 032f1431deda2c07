// The JSON text of a result as bytes, in chunks that are worth sending.

import type { Shape } from './measure.ts';
import { resultText } from './result-text.ts';

/** Characters of a chunk, about. */
const CHUNK = 64 * 1024;

/** Null: nothing yet, after a step of work. Each chunk has memory of its own. */
export function* resultBytes(shape: Shape): Generator<Uint8Array<ArrayBuffer> | null, void, void> {
  let gathered = '';
  for (const piece of resultText(shape)) {
    gathered += piece;
    if (gathered.length >= CHUNK) {
      yield bytesOf(gathered);
      gathered = '';
    } else yield null;
  }
  if (gathered !== '') yield bytesOf(gathered);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text) as Uint8Array<ArrayBuffer>;
}

const ENCODER = new TextEncoder();
