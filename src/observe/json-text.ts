// JSON encoding of short strings, for lines that are assembled by hand because they are written
// very often.

/**
 * Characters that JSON must escape, and everything that is not printable ASCII, which is left to
 * JSON.stringify.
 */
const UNUSUAL = /["\\]|[^ -~]/;

/** The same as JSON.stringify, but faster if nothing needs an escape. */
export function jsonText(text: string): string {
  return UNUSUAL.test(text) ? JSON.stringify(text) : `"${text}"`;
}
