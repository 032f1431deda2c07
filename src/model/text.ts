// Checks whether a text can be stored: it must be valid Unicode and not too long.

/** Maximum number of bytes of UTF-8 that a text property can hold. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** What is wrong with a text that is not well-formed, as a phrase that follows its name. */
export const HALF_PAIR = 'is not valid text: it contains half of a surrogate pair';

const UTF8_BYTES_PER_UNIT = 3;
const encoder = new TextEncoder();

/**
 * Returns false when the text contains a lone half of a surrogate pair. Such a text cannot be
 * written in UTF-8, so it would be read back changed.
 */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** Returns the text with U+FFFD in place of each lone half of a surrogate pair. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/**
 * Returns whether a text has more bytes of UTF-8 than a property can hold. Only long texts are
 * encoded to find out.
 */
export function isTooLong(text: string): boolean {
  return text.length * UTF8_BYTES_PER_UNIT > MAX_TEXT_BYTES && encoder.encode(text).length > MAX_TEXT_BYTES;
}
