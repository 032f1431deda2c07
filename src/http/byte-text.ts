// Writes short texts and integers as bytes, for answers assembled without strings.

const ZERO = 48;
const MINUS = 45;

/** Writes a text of single-byte characters; returns the offset after it. */
export function writeAscii(into: Uint8Array, offset: number, text: string): number {
  const { length } = text;
  for (let i = 0; i < length; i++) into[offset + i] = text.charCodeAt(i);
  return offset + length;
}

/** Writes a safe integer in decimal; returns the offset after it. */
export function writeInteger(into: Uint8Array, offset: number, value: number): number {
  let start = offset;
  let rest = value;
  if (rest < 0) {
    into[start++] = MINUS;
    rest = -rest;
  }
  let end = start;
  do {
    const tenth = Math.floor(rest / 10);
    into[end++] = ZERO + (rest - tenth * 10);
    rest = tenth;
  } while (rest > 0);
  // The digits were written in reverse.
  for (let low = start, high = end - 1; low < high; low++, high--) {
    const digit = into[low]!;
    into[low] = into[high]!;
    into[high] = digit;
  }
  return end;
}

/** Writes a finite number as in JSON; returns the offset after it. */
export function writeNumber(into: Uint8Array, offset: number, value: number): number {
  return Number.isSafeInteger(value) ? writeInteger(into, offset, value) : writeAscii(into, offset, String(value));
}

/** Returns the bytes of a text of single-byte characters, for texts that are written often. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}
