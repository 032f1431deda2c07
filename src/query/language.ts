// The parts of the statement language that need neither executor nor engine, for the command line:
// names, limits and parsing.

export { AGGREGATES, isAggregate } from './binder/aggregates.ts';
export { FUNCTION_NAMES } from './binder/functions.ts';
export { MAX_STATEMENT_LENGTH } from './limits.ts';
export type { Expression, ItemNode, Statement } from './parser/ast.ts';
export { type Prepared, prepareText } from './prepare.ts';
