// Binds EXISTS. Its patterns are numbered after all patterns that occur before them in the
// statement, so a pattern has one number wherever an expression reads it. An EXISTS sees the
// patterns outside of it, but not those of another EXISTS beside it.
//
// Example: in `MATCH (a:T) WHERE EXISTS ((b:T) WHERE b.n = a.n) OR EXISTS ((c:T) WHERE c.k = 1)`,
// a, b and c are numbered 0, 1 and 2. The first EXISTS can name a and b, and the second one a and
// c.

import { MAX_ALL_PATTERNS } from '../limits.ts';
import type { ExistsNode } from '../parser/ast.ts';
import type { BoundExists, BoundExpression, BoundPattern } from './bound.ts';
import { bindCondition } from './expressions.ts';
import { bindPatterns, type Catalog } from './patterns.ts';
import type { Scope } from './scope.ts';

/** Collects the patterns of every EXISTS of a statement. */
export class InnerPatterns {
  readonly catalog: Catalog;
  /** The patterns in the order of their numbers, which follow those of the outer patterns. */
  readonly patterns: BoundPattern[] = [];
  readonly #outer: readonly BoundPattern[];

  constructor(outer: readonly BoundPattern[], catalog: Catalog) {
    this.#outer = outer;
    this.catalog = catalog;
  }

  /** Returns all patterns of the statement so far, by number. */
  all(): BoundPattern[] {
    return [...this.#outer, ...this.patterns];
  }
}

/** Throws `invalid_statement` where EXISTS is not allowed, and for a repeated alias. */
export function bindExists(node: ExistsNode, scope: Scope): BoundExists {
  const { inner, text, parameters } = scope;
  if (inner === undefined)
    throw scope.error(node, 'EXISTS is a condition of WHERE and cannot be used here; move it into WHERE.');
  const before = inner.all();
  const outer = scope.numbers().map((number) => before[number]!);
  if (before.length + node.patterns.length > MAX_ALL_PATTERNS)
    throw scope.error(
      node,
      `a statement has at most ${MAX_ALL_PATTERNS} patterns, including those in EXISTS; split the statement.`,
    );
  const patterns = bindPatterns(node.patterns, text, inner.catalog, parameters, outer);
  inner.patterns.push(...patterns);
  const first = before.length;
  const own = patterns.map((_, place) => first + place);
  const within = scope.within([...before, ...patterns], first, own);
  const where = node.where === undefined ? [] : conjuncts(bindCondition(node.where, within, 'WHERE'));
  return { kind: 'exists', first, patterns, where, type: 'boolean', text: scope.textOf(node) };
}

/** Splits a condition into the conditions that must all hold. */
export function conjuncts(condition: BoundExpression): BoundExpression[] {
  const all: BoundExpression[] = [];
  addConjuncts(condition, all);
  return all;
}

function addConjuncts(condition: BoundExpression, into: BoundExpression[]): void {
  if (condition.kind === 'and' && condition.holds === undefined)
    for (const item of condition.items) addConjuncts(item, into);
  else into.push(condition);
}
