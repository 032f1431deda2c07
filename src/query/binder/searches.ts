// Binds search(alias, 'words') and score(alias), which read the columns of a table's text index.

import { analyzerOf, parseSearch } from '../../text/index.ts';
import type { CallNode, Expression } from '../parser/ast.ts';
import { errorPlaced } from '../syntax-error.ts';
import type { BoundExpression, BoundField, BoundSearch } from './bound.ts';
import { bindExpression } from './expressions.ts';
import type { Scope } from './scope.ts';

const SEARCH_FORM = "search(alias, 'words')";

/** Binds a search. It is noted in the scope, so that score(alias) finds it. */
export function bindSearch(call: CallNode, scope: Scope): BoundExpression {
  const pattern = aliasOf(call.args[0]!, scope, SEARCH_FORM);
  const { table } = scope.patterns[pattern]!;
  if (table.isOfNodes)
    throw scope.error(call.args[0]!, `${table.name} is a node table; search finds edges, by their texts.`);
  const index = table.definition.text;
  if (index === undefined)
    throw scope.error(
      call,
      `table ${table.name} has no text index, which search reads; make one with CREATE TEXT INDEX ON ${table.name} (column).`,
    );
  const given = call.args[1]!;
  const query = bindExpression(given, scope);
  if (query.kind !== 'constant' && query.kind !== 'parameter')
    throw scope.error(given, `search takes a written text or a parameter: ${SEARCH_FORM}.`);
  if (query.type !== 'text') throw scope.error(given, `search takes a text, not ${query.type}: ${SEARCH_FORM}.`);
  if (query.kind === 'constant') checkQuery(query.value as string, index.language, given, scope);
  const fields = index.columns.map((id): BoundField => {
    const { name, type } = table.columns.withId(id)!;
    return { kind: 'field', pattern, field: { kind: 'property', id, name, type }, type: 'text', text: name };
  });
  const { language } = index;
  const bound: BoundSearch = {
    kind: 'search',
    start: given.start,
    pattern,
    query,
    fields,
    language,
    type: 'boolean',
    text: scope.textOf(call),
  };
  scope.searches.push(bound);
  return bound;
}

/** Throws `invalid_statement` at the place of a written query that is none. */
function checkQuery(query: string, language: BoundSearch['language'], given: Expression, scope: Scope): void {
  try {
    parseSearch(query, analyzerOf(language));
  } catch (error) {
    throw errorPlaced(scope.text, given.start, error);
  }
}

/** Binds a score: BM25 of the only search of the alias in WHERE. */
export function bindScore(call: CallNode, scope: Scope): BoundExpression {
  const form = 'score(alias)';
  const pattern = aliasOf(call.args[0]!, scope, form);
  const [search, other] = scope.searches.filter((each) => each.pattern === pattern);
  const { alias } = scope.patterns[pattern]!;
  if (search === undefined)
    throw scope.error(call, `score(${alias}) needs a search in WHERE: write search(${alias}, 'words') there.`);
  if (other !== undefined)
    throw scope.error(call, `score(${alias}) needs one search of ${alias} in WHERE; write all words in one.`);
  const { query, fields, language } = search;
  return { kind: 'score', pattern, query, fields, language, type: 'real', text: scope.textOf(call) };
}

function aliasOf(argument: Expression, scope: Scope, form: string): number {
  if (argument.kind !== 'name') throw scope.error(argument, `an alias is missing here: ${form}.`);
  return scope.pattern(argument);
}
