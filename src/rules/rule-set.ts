// Checks a set of rules as a whole, computes the stratum of each rule, and orders the rules as
// listings do.

import type { FieldError } from '../errors.ts';
import { finish, type Steps } from '../schedule/steps.ts';
import { BASE_PREDICATES } from './base-predicates.ts';
import { type Fault, fault, fieldErrors, invalidRule, MAX_ERRORS, type Place, wholeFault } from './fault.ts';
import { NO_ID, readRule } from './parse-rule.ts';
import type { CheckedRule, ParsedRule } from './rule.ts';
import { atomsOf, countText, safetyFaults } from './safety.ts';
import { stratify } from './strata.ts';

export const MAX_RULES = 1000;
/** Maximum number of conditions in all rules of a set together. */
export const MAX_SET_CONDITIONS = 10_000;

/**
 * Made only by the checks in this file: the rules are safe and stratified, and each predicate
 * always has the same number of arguments.
 */
export interface RuleSet {
  /** In descending order of priority, then by id. */
  readonly rules: readonly CheckedRule[];
  /** Number of strata; 0 without rules. */
  readonly strataCount: number;
  /**
   * Returns the stratum of a predicate: 0 for base predicates and for predicates that no rule
   * derives.
   */
  stratumOf(pred: string): number;
  /**
   * Returns the number of arguments of a predicate, also of base predicates. Returns undefined for
   * a predicate that the set does not use.
   */
  arityOf(pred: string): number | undefined;
}

export function checkRuleSet(rules: readonly ParsedRule[]): { set: RuleSet } | { errors: FieldError[] } {
  const checked = ruleSetOf(rules);
  return 'set' in checked ? checked : { errors: fieldErrors(checked.faults) };
}

/**
 * Reads and checks the rules of a request. Throws `invalid_rule` with everything that is wrong with
 * them.
 */
export function readRuleSet(values: readonly unknown[], loc: Place): RuleSet {
  return finish(readRuleSetSteps(values, loc));
}

/** Number of rules that are read in one step. */
const RULES_A_STEP = 50;

/** Does the same as `readRuleSet`, in steps: reading 1,000 rules at once takes some 60 ms. */
export function* readRuleSetSteps(values: readonly unknown[], loc: Place): Steps<RuleSet> {
  if (values.length > MAX_RULES)
    throw invalidRule([fault(loc, `must be an array of at most ${MAX_RULES} rules; it has ${values.length}`)]);
  const faults: Fault[] = [];
  const read: ParsedRule[] = [];
  for (const [index, value] of values.entries()) {
    const one = readRule(value, [...loc, index]);
    faults.push(...one.faults);
    if (one.parsed !== undefined) read.push(one.parsed);
    // An answer lists no more faults than this, so the remaining rules are not read.
    if (faults.length > MAX_ERRORS) throw invalidRule(faults);
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
  }
  const checked = yield* ruleSetSteps(read);
  if ('faults' in checked) faults.push(...checked.faults);
  else if (faults.length === 0) return checked.set;
  throw invalidRule(faults);
}

/**
 * Returns the set, or everything that is wrong with it. A conflict between two rules is reported at
 * the place of the later one.
 */
export function ruleSetOf(rules: readonly ParsedRule[]): { set: RuleSet } | { faults: Fault[] } {
  return finish(ruleSetSteps(rules));
}

function* ruleSetSteps(rules: readonly ParsedRule[]): Steps<{ set: RuleSet } | { faults: Fault[] }> {
  const tooMany = sizeFaults(rules);
  if (tooMany.length > 0) return { faults: tooMany };
  const faults: Fault[] = [];
  for (const [index, rule] of rules.entries()) {
    faults.push(...safetyFaults(rule));
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
  }
  const arities = new Map(BASE_PREDICATES);
  faults.push(...idFaults(rules), ...arityFaults(rules, arities));
  if (rules.length >= RULES_A_STEP) yield;
  const outcome = rules.length >= RULES_A_STEP ? yield* stratify(rules) : finish(stratify(rules));
  if (rules.length >= RULES_A_STEP) yield;
  if ('cycles' in outcome) {
    for (const { text, rules: indexes } of outcome.cycles) {
      const { loc } = rules[Math.max(...indexes)]!;
      faults.push(wholeFault([...loc, 'if'], `The rules cannot be stratified: ${text}`));
    }
    return { faults };
  }
  return faults.length > 0 ? { faults } : { set: setOf(rules, outcome.strata, arities) };
}

/** Returns the set without its disabled rules. The strata do not change. */
export function enabledOf(set: RuleSet): RuleSet {
  return { ...set, rules: set.rules.filter(({ rule }) => rule.enabled) };
}

function setOf(
  rules: readonly ParsedRule[],
  strata: ReadonlyMap<string, number>,
  arities: ReadonlyMap<string, number>,
): RuleSet {
  const checked = rules.map((parsed): CheckedRule => ({ ...parsed, stratum: strata.get(parsed.head.pred)! }));
  return {
    rules: checked.sort((a, b) => b.rule.priority - a.rule.priority || (a.rule.id < b.rule.id ? -1 : 1)),
    strataCount: checked.reduce((most, { stratum }) => Math.max(most, stratum + 1), 0),
    stratumOf: (pred) => strata.get(pred) ?? 0,
    arityOf: (pred) => arities.get(pred),
  };
}

function sizeFaults(rules: readonly ParsedRule[]): Fault[] {
  const last = rules.at(-1);
  if (last === undefined) return [];
  if (rules.length > MAX_RULES) {
    const msg = `${last.rule.id}: a set holds at most ${MAX_RULES} rules; delete or join some`;
    return [wholeFault(last.loc, msg)];
  }
  const conditions = rules.reduce((sum, { body }) => sum + body.length, 0);
  if (conditions <= MAX_SET_CONDITIONS) return [];
  const msg = `${last.rule.id}: the rules of a set have at most ${MAX_SET_CONDITIONS} conditions together, these have ${conditions}`;
  return [wholeFault(last.loc, msg)];
}

function idFaults(rules: readonly ParsedRule[]): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const { rule, loc } of rules) {
    if (seen.has(rule.id) && rule.id !== NO_ID)
      faults.push(wholeFault([...loc, 'id'], `${rule.id} occurs twice in the set; give each rule an id of its own`));
    seen.add(rule.id);
  }
  return faults;
}

/**
 * Checks that each predicate always has the same number of arguments, and adds these numbers to
 * `arities`. Base predicates, which are in `arities` from the start, are checked by `safetyFaults`.
 */
function arityFaults(rules: readonly ParsedRule[], arities: Map<string, number>): Fault[] {
  const faults: Fault[] = [];
  const firstUse = new Map<string, string>();
  for (const { rule, head, body, loc } of rules) {
    const atoms = [{ atom: head, place: [...loc, 'then'] }, ...atomsOf(body, [...loc, 'if'])];
    for (const { atom, place } of atoms) {
      const { pred, args } = atom;
      if (BASE_PREDICATES.has(pred)) continue;
      const arity = arities.get(pred);
      if (arity === undefined) {
        arities.set(pred, args.length);
        firstUse.set(pred, rule.id);
      } else if (arity !== args.length) {
        const first = firstUse.get(pred)!;
        const before = first === rule.id ? 'elsewhere in the rule' : `in ${first}`;
        const msg = `${rule.id}: ${pred} has ${countText(args.length)} here and ${arity} ${before}`;
        faults.push(wholeFault([...place, 'args'], msg));
      }
    }
  }
  return faults;
}
