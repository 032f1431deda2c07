// Converts the JSON text of a result to bytes, in chunks large enough to send.

import type { Shape } from './measure.ts';
import { resultText } from './result-text.ts';

/** Approximate chunk size in characters. */
const CHUNK = 64 * 1024;

/**
 * Yields chunks, and null after a step of work without output. Each chunk has a buffer of its own,
 * so it can be transferred to another thread.
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
