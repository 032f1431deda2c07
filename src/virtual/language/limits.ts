// Limits of one query over a virtual graph: any text gives an answer in linear time and bounded memory.

/** Characters of a query. */
export const MAX_QUERY_LENGTH = 2 ** 18;
/** Characters of a text literal. */
export const MAX_LITERAL_LENGTH = 2 ** 16;
/** Digits of an integer literal as it is written. */
export const MAX_DIGITS = 39;
export const MAX_WIDE_INTEGER = 2n ** 127n - 1n;
/** Conditions that AND may join. */
export const MAX_CONDITIONS = 500;
/** Literals of all conditions together. */
export const MAX_LITERALS = 10_000;
