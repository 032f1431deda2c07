// The JSON text of a result as bytes, in chunks worth sending.

import type { Shape } from './measure.ts';
import { resultText } from './result-text.ts';

/** Approximate chunk size in characters. */
const CHUNK = 64 * 1024;

/**
 * Yields chunks, or null after a step of work without output. Each chunk owns its memory, so it can
 * be transferred.
 */
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
