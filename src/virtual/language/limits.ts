// Limits of one query over a virtual graph. They make sure that any text is processed in linear
// time and bounded memory.

/** Maximum length of a query in characters. */
export const MAX_QUERY_LENGTH = 2 ** 18;
/** Maximum length of a text literal in characters. */
export const MAX_LITERAL_LENGTH = 2 ** 16;
/** Maximum number of digits in an integer literal as written. */
export const MAX_DIGITS = 39;
export const MAX_WIDE_INTEGER = 2n ** 127n - 1n;
/** Maximum number of conditions joined by AND. */
export const MAX_CONDITIONS = 500;
/** Maximum number of literals in all conditions together. */
export const MAX_LITERALS = 10_000;
