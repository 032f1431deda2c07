// Converts the JSON text of a result to bytes, in chunks large enough to send.

import type { Shape } from './measure.ts';
import { marksOf, resultText } from './result-text.ts';

/** Approximate chunk size in characters. */
const CHUNK = 64 * 1024;

/**
 * Yields chunks, and null after a step of work without output. Each chunk has a buffer of its own,
 * so it can be transferred to another thread.
 */
export function* resultBytes(shape: Shape, isNamed: boolean): Generator<Uint8Array<ArrayBuffer> | null, void, void> {
  const bytesOf = marksOf(shape, isNamed) === null ? utf8 : latin1;
  let gathered = '';
  for (const piece of resultText(shape, isNamed)) {
    gathered += piece;
    if (gathered.length >= CHUNK) {
      yield bytesOf(gathered);
      gathered = '';
    } else yield null;
  }
  if (gathered !== '') yield bytesOf(gathered);
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text) as Uint8Array<ArrayBuffer>;
}

function latin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  Buffer.from(bytes.buffer).write(text, 'latin1');
  return bytes;
}

const ENCODER = new TextEncoder();
