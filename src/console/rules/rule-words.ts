// Formats rules and facts in readable form: `close(?A, ?B) if member(?E, ?A), ...`.

interface Atom {
  readonly pred: string;
  readonly args: readonly unknown[];
}

/** Formats a stored rule, or one that is still being written and may contain anything. */
export function ruleText(rule: unknown): string {
  return ruleParts(rule).join(' ');
}

/** Returns the head, then each condition; an empty list for a value that is not a rule. */
export function ruleParts(rule: unknown): readonly string[] {
  const { if: body, then: head } = (rule ?? {}) as { if?: unknown; then?: unknown };
  if (!isAtom(head) || !Array.isArray(body)) return [];
  const conditions = body.map(conditionText);
  if (conditions.includes('')) return [];
  return [`${atomText(head)} if`, ...conditions.map((text, at) => (at < conditions.length - 1 ? `${text},` : text))];
}

export function conditionText(condition: unknown): string {
  if (isAtom(condition)) return atomText(condition);
  const { not, compare } = (condition ?? {}) as { not?: unknown; compare?: unknown };
  if (isAtom(not)) return `not ${atomText(not)}`;
  return Array.isArray(compare) && compare.length === 3 ? compare.map(termText).join(' ') : '';
}

export function atomText({ pred, args }: Atom): string {
  return `${pred}(${args.map(termText).join(', ')})`;
}

function termText(term: unknown): string {
  return typeof term === 'string' ? term : JSON.stringify(term);
}

function isAtom(value: unknown): value is Atom {
  if (typeof value !== 'object' || value === null) return false;
  const { pred, args } = value as { pred?: unknown; args?: unknown };
  return typeof pred === 'string' && Array.isArray(args);
}

/** Predicates that edges and nodes provide without a rule, with their numbers of arguments. */
export const BASE_PREDICATES: ReadonlyMap<string, number> = new Map([
  ['hyperedge', 1],
  ['at', 2],
  ['until', 2],
  ['member', 2],
  ['role', 3],
  ['weight', 2],
  ['mean_dist', 2],
  ['formation', 2],
  ['size', 2],
  ['bucket', 2],
  ['property', 3],
  ['supersedes', 2],
  ['node', 2],
  ['attribute', 3],
]);

interface Head {
  readonly id: string;
  readonly head: string;
  readonly enabled: boolean;
}

/**
 * Returns a sentence for each predicate without facts in the conditions of a rule: those provided
 * neither by edges, nor by the rule itself, nor by another enabled rule.
 */
export function unknownPredicates(rule: unknown, others: readonly Head[]): string[] {
  const { id, if: body, then: head } = (rule ?? {}) as { id?: unknown; if?: unknown; then?: unknown };
  if (!Array.isArray(body)) return [];
  const used = new Set(body.flatMap((condition) => predicateOf(condition) ?? []));
  const heads = others.filter((other) => other.id !== id);
  const given = new Set([
    ...BASE_PREDICATES.keys(),
    ...heads.filter(({ enabled }) => enabled).map((other) => other.head),
  ]);
  if (isAtom(head)) given.add(head.pred);
  return [...used].filter((name) => !given.has(name)).map((name) => unknownText(name, given, heads));
}

function predicateOf(condition: unknown): string | undefined {
  const { not } = (condition ?? {}) as { not?: unknown };
  return isAtom(condition) ? condition.pred : isAtom(not) ? not.pred : undefined;
}

function unknownText(name: string, given: ReadonlySet<string>, heads: readonly Head[]): string {
  const off = heads.find((other) => other.head === name);
  if (off !== undefined) return `${name} is derived by ${off.id} alone, which is off: it has no facts.`;
  const near = [...given].find((other) => distance(name, other) <= (name.length > 4 ? 2 : 1));
  const advice =
    near === undefined ? 'Store a rule that derives it, or use one of those above.' : `Did you mean ${near}?`;
  return `${name} is not a predicate of edges, and no stored rule derives it: it has no facts. ${advice}`;
}

/** Returns the Levenshtein distance: how many letters must be inserted, removed or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const changed = row[column - 1]! + (letter === other[column - 1] ? 0 : 1);
      next.push(Math.min(changed, row[column]! + 1, next[column - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}

export const FIRST_RULE = `{
  "id": "rule:met",
  "name": "Who met whom",
  "if": [
    { "pred": "member", "args": ["?E", "?A"] },
    { "pred": "member", "args": ["?E", "?B"] },
    { "compare": ["?A", "<", "?B"] }
  ],
  "then": { "pred": "met", "args": ["?A", "?B"], "confidence": 0.9 }
}`;
