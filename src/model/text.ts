// What a text must be to be stored: valid Unicode, and not too long.

/** A text property holds at most this many bytes of UTF-8 (contract section 2). */
export const MAX_TEXT_BYTES = 64 * 1024;

/** What is wrong with a text that is not well-formed, after its name. */
export const HALF_PAIR = 'is no valid text: it holds half of a surrogate pair';

const UTF8_BYTES_PER_UNIT = 3;
const encoder = new TextEncoder();

/**
 * False when a half of a surrogate pair is alone in it: such a text has no UTF-8, and would not
 * come back as it was given.
 */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** The same text with U+FFFD for each lone half of a surrogate pair. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/**
 * Whether a text has more bytes of UTF-8 than a property holds. Only long texts are encoded to find
 * out.
 */
export function isTooLong(text: string): boolean {
  return text.length * UTF8_BYTES_PER_UNIT > MAX_TEXT_BYTES && encoder.encode(text).length > MAX_TEXT_BYTES;
}
