// Limits of one statement: any text gives an answer in linear time and bounded memory.

/** Characters of a statement. Longer inserts go through the bulk route or COPY. */
export const MAX_STATEMENT_LENGTH = 2 ** 20;
/** Characters of a text literal; a stored text holds at most 64 KB. */
export const MAX_LITERAL_LENGTH = 2 ** 17;
/** How deep parentheses, NOT, lists and calls may stand in one another. */
export const MAX_NESTING = 100;
/** Conditions that AND or OR may join on one level. */
export const MAX_CHAIN = 2000;
/** Arithmetic operators that may follow one another on one level. */
export const MAX_ARITHMETIC_CHAIN = 200;
/** Height of an expression's tree: what walks it recursively must stay well inside the stack. */
export const MAX_HEIGHT = 500;
/** Operands of expressions, parentheses, calls and minus signs among them; plain items of lists and rows are not counted. */
export const MAX_OPERANDS = 50_000;
/** Patterns of one MATCH. */
export const MAX_PATTERNS = 16;
/** Items of one RETURN that are written out. */
export const MAX_ITEMS = 2000;
/** Terms of one ORDER BY. */
export const MAX_ORDERS = 100;
/** Arguments of a function; none takes more than three. */
export const MAX_ARGUMENTS = 16;
/** Items of one list, written or given as a parameter. */
export const MAX_LIST_ITEMS = 100_000;
/** Items of all list parameters of a statement together. */
export const MAX_ALL_ITEMS = 400_000;
/** Texts of lists that are read as times, in a statement: some ten ms, which cannot be divided. */
export const MAX_TIME_TEXTS = 50_000;
/** Parameters of a statement. */
export const MAX_PARAMETERS = 65_535;
