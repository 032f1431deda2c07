// Limits of one statement; each constant is a maximum. The limits ensure that every statement text
// is parsed and bound in linear time and bounded memory.

/** Characters of a statement. For longer inserts there are the bulk route and COPY. */
export const MAX_STATEMENT_LENGTH = 2 ** 20;
/** Characters of a text literal; a stored text holds at most 64 KB. */
export const MAX_LITERAL_LENGTH = 2 ** 17;
/** Nesting depth of parentheses, NOT, minus signs, lists and calls. */
export const MAX_NESTING = 100;
/** Conditions joined by AND or OR on one level. */
export const MAX_CHAIN = 2000;
/** Arithmetic operators in a row on one level. */
export const MAX_ARITHMETIC_CHAIN = 200;
/**
 * Height of an expression's tree. It is limited so that recursive walks do not overflow the call
 * stack.
 */
export const MAX_HEIGHT = 500;
/**
 * Operands of expressions, counting parentheses, calls and minus signs; plain items of lists and
 * rows do not count.
 */
export const MAX_OPERANDS = 50_000;
/** Patterns of one MATCH, and of one EXISTS. */
export const MAX_PATTERNS = 16;
/**
 * Patterns of one statement, including those of every EXISTS. The planner represents a set of
 * patterns as the bits of a 32-bit integer.
 */
export const MAX_ALL_PATTERNS = 30;
/** Items of one RETURN; the columns of `RETURN *` do not count. */
export const MAX_ITEMS = 2000;
/** Terms of one ORDER BY. */
export const MAX_ORDERS = 100;
/** Arguments of a function; no function takes more than three. */
export const MAX_ARGUMENTS = 16;
/** Items of one list, literal or parameter. */
export const MAX_LIST_ITEMS = 100_000;
/** A list of plain values of one type is stored as values if it has at least this many items. */
export const LONG_LIST = 64;
/** Items of all list parameters of a statement together. */
export const MAX_ALL_ITEMS = 400_000;
/**
 * Items that are read as times, in one literal list with texts or in all list parameters together.
 * Reading this many takes about 10 ms, in one step that cannot be divided.
 */
export const MAX_TIME_TEXTS = 50_000;
/** Parameters of a statement. */
export const MAX_PARAMETERS = 65_535;
