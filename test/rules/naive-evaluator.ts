// Evaluates rules in the plainest way, sharing nothing with src. Takes wire JSON, and returns every
// fact with its best confidence.
//
// First it computes the strata. Every head gets the smallest number that is not below the stratum
// of any premise and is above that of every negated premise. Numbers are raised until nothing
// changes; more rounds than rules mean that a negation is on a cycle. Then the strata are evaluated
// in ascending order, so that a negated predicate is complete before it is tested. Within a
// stratum, all rules are applied to all facts until a round adds nothing (naive evaluation; src
// uses semi-naive evaluation).
//
// Applying a rule joins its positive premises from left to right in nested loops, then tests guards
// and negations on the complete bindings. The confidence of a conclusion is the rule's confidence
// times the lowest confidence of its premises. If there are several derivations, the best counts.
// Since the rule's confidence is at most 1, a cycle cannot raise a confidence forever. Example:
// with edge(1, 2) and edge(2, 3) given, and 0.9: path(?X, ?Z) :- path(?X, ?Y), edge(?Y, ?Z), a path
// of length n has the confidence 0.9^(n-1) if paths of length 1 have 1.

export type Value = number | string | boolean;

export interface WireFact {
  pred: string;
  args: Value[];
}

export type WireCondition = WireFact | { not: WireFact } | { compare: [Value, string, Value] };

export interface WireRule {
  id: string;
  enabled?: boolean;
  priority?: number;
  if: WireCondition[];
  then: WireFact & { confidence?: number };
}

export interface NaiveFact extends WireFact {
  confidence: number;
  given: boolean;
}

type Bindings = ReadonlyMap<string, Value>;

/** Returns the facts by `keyOf`, including given ones. Throws if a negation is on a cycle. */
export function naiveFacts(rules: readonly WireRule[], given: readonly WireFact[]): Map<string, NaiveFact> {
  const facts = new Facts();
  for (const fact of given) facts.put(fact, 1, true);
  const enabled = rules.filter((rule) => rule.enabled !== false);
  const strata = strataOf(rules);
  for (let stratum = 0; stratum <= Math.max(0, ...strata.values()); stratum++) {
    const here = enabled.filter((rule) => strata.get(rule.then.pred) === stratum);
    while (here.map((rule) => apply(rule, facts)).includes(true));
  }
  return facts.byKey;
}

export function keyOf({ pred, args }: WireFact): string {
  return JSON.stringify([pred, ...args]);
}

/**
 * Returns the smallest strata in which a head is not below its premises, and is above the premises
 * that it negates.
 */
export function strataOf(rules: readonly WireRule[]): Map<string, number> {
  const strata = new Map(rules.map((rule) => [rule.then.pred, 0]));
  for (let round = 0; ; round++) {
    if (round > rules.length + 1) throw new Error('a negation is on a cycle');
    let changed = false;
    for (const rule of rules) {
      for (const condition of rule.if) {
        if ('compare' in condition) continue;
        const least =
          'not' in condition ? 1 + (strata.get(condition.not.pred) ?? 0) : (strata.get(condition.pred) ?? 0);
        if (least <= strata.get(rule.then.pred)!) continue;
        strata.set(rule.then.pred, least);
        changed = true;
      }
    }
    if (!changed) return strata;
  }
}

class Facts {
  readonly byKey = new Map<string, NaiveFact>();
  readonly byPred = new Map<string, NaiveFact[]>();

  /** Adds a fact, and returns whether it is new or has a higher confidence than before. */
  put({ pred, args }: WireFact, confidence: number, given: boolean): boolean {
    const known = this.byKey.get(keyOf({ pred, args }));
    if (known !== undefined) {
      if (confidence <= known.confidence) return false;
      known.confidence = confidence;
      return true;
    }
    const fact = { pred, args, confidence, given };
    this.byKey.set(keyOf(fact), fact);
    if (!this.byPred.has(pred)) this.byPred.set(pred, []);
    this.byPred.get(pred)!.push(fact);
    return true;
  }
}

/** Applies a rule to all facts, and returns whether the rule contributed something. */
function apply(rule: WireRule, facts: Facts): boolean {
  const atoms = rule.if.filter((condition): condition is WireFact => 'pred' in condition);
  let found: { bindings: Bindings; least: number }[] = [{ bindings: new Map(), least: 1 }];
  for (const atom of atoms) {
    const longer: typeof found = [];
    for (const { bindings, least } of found) {
      for (const fact of facts.byPred.get(atom.pred) ?? []) {
        const more = matched(atom.args, fact.args, bindings);
        if (more !== undefined) longer.push({ bindings: more, least: Math.min(least, fact.confidence) });
      }
    }
    found = longer;
  }
  let changed = false;
  for (const { bindings, least } of found) {
    if (!rule.if.every((condition) => meets(condition, bindings, facts))) continue;
    const head = { pred: rule.then.pred, args: rule.then.args.map((term) => put(term, bindings)) };
    if (facts.put(head, (rule.then.confidence ?? 1) * least, false)) changed = true;
  }
  return changed;
}

function matched(terms: readonly Value[], values: readonly Value[], bindings: Bindings): Bindings | undefined {
  let more: Map<string, Value> | undefined;
  for (const [at, term] of terms.entries()) {
    const known = isVariable(term) ? (more ?? bindings).get(term) : term;
    if (known === undefined) more = new Map(more ?? bindings).set(term as string, values[at]!);
    else if (known !== values[at]) return undefined;
  }
  return more ?? bindings;
}

function meets(condition: WireCondition, bindings: Bindings, facts: Facts): boolean {
  if ('not' in condition) {
    const { pred, args } = condition.not;
    return !facts.byKey.has(keyOf({ pred, args: args.map((term) => put(term, bindings)) }));
  }
  if (!('compare' in condition)) return true;
  const [left, op, right] = condition.compare;
  return guardHolds(put(left, bindings), op, put(right, bindings));
}

function isVariable(term: Value): term is string {
  return typeof term === 'string' && term.startsWith('?');
}

function put(term: Value, bindings: Bindings): Value {
  return isVariable(term) ? bindings.get(term)! : term;
}

export function guardHolds(left: Value, op: string, right: Value): boolean {
  if (typeof left !== typeof right) return false;
  const order = typeof left === 'string' ? textOrder(left, right as string) : Number(left) - Number(right);
  return {
    '=': order === 0,
    '==': order === 0,
    '!=': order !== 0,
    '<': order < 0,
    '<=': order <= 0,
    '>': order > 0,
    '>=': order >= 0,
  }[op]!;
}

/** Compares by code point. */
function textOrder(left: string, right: string): number {
  const a = Array.from(left, (char) => char.codePointAt(0)!);
  const b = Array.from(right, (char) => char.codePointAt(0)!);
  for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}

/**
 * Compares facts in the order of answers: by predicate, then by arguments, with numbers before
 * texts before booleans.
 */
export function answerOrder(a: WireFact, b: WireFact): number {
  const rank = (value: Value) => ['number', 'string', 'boolean'].indexOf(typeof value);
  const order = textOrder(a.pred, b.pred);
  if (order !== 0) return order;
  for (const [at, value] of a.args.entries()) {
    const other = b.args[at]!;
    if (value === other) continue;
    if (rank(value) !== rank(other)) return rank(value) - rank(other);
    return guardHolds(value, '<', other) ? -1 : 1;
  }
  return 0;
}
