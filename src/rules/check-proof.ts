// Checks a proof without trusting any part of it: its graph, the statements of its nodes, and each
// conclusion, which is derived again from its premises.

import { checkStatements, checkUnproved, type KnownFacts } from './check-statements.ts';
import { deriveAgain } from './derive-again.ts';
import { checkGraph, nodesById } from './proof-graph.ts';
import { readProof } from './proof-shape.ts';
import type { ParsedRule } from './rule.ts';
import { readRuleSet } from './rule-set.ts';

export interface CheckOptions {
  /**
   * The rules in their JSON form. With rules, every conclusion must follow from its rule. Without
   * rules, only properties that do not depend on them are checked.
   */
  rules?: readonly unknown[] | undefined;
  /**
   * What is known about facts from other sources: the edges that the rules were run over, or the
   * other facts in the same answer.
   */
  known?: KnownFacts | undefined;
}

/**
 * Returns what is wrong with one proof, as sentences without full stops. An empty list means that
 * the proof is valid. Never throws.
 */
export type ProofChecker = (proof: unknown) => string[];

/**
 * Returns a checker for many proofs with the same rules. Disabled rules are used too: whether a
 * conclusion follows from a rule does not depend on whether the rule is enabled. Throws
 * `invalid_rule`.
 */
export function proofChecker({ rules, known }: CheckOptions = {}): ProofChecker {
  const ruleOf = rules === undefined ? undefined : rulesById(rules);
  return (value) => {
    const read = readProof(value);
    if ('problems' in read) return read.problems;
    const { proof } = read;
    if (proof.status === 'unproved') return checkUnproved(proof, known);
    const problems: string[] = [];
    const nodes = nodesById(proof);
    checkGraph(proof, nodes, problems);
    checkStatements(proof, nodes, known, problems);
    if (ruleOf !== undefined) deriveAgain(proof, nodes, ruleOf, problems);
    return problems;
  };
}

function rulesById(rules: readonly unknown[]): ReadonlyMap<string, ParsedRule> {
  return new Map(readRuleSet(rules, ['body', 'rules']).rules.map((rule) => [rule.rule.id, rule]));
}

/** Checks one proof. Throws `invalid_rule` when the rules are wrong. */
export function checkProof(proof: unknown, options?: CheckOptions): string[] {
  return proofChecker(options)(proof);
}
