// Checks a proof by itself, believing nothing of it: its graph, what its nodes say, and each
// conclusion derived again from its premises.

import { checkStatements, checkUnproved, type KnownFacts } from './check-statements.ts';
import { deriveAgain } from './derive-again.ts';
import { checkGraph, nodesById } from './proof-graph.ts';
import { readProof } from './proof-shape.ts';
import type { ParsedRule } from './rule.ts';
import { readRuleSet } from './rule-set.ts';

export interface CheckOptions {
  /**
   * In their wire form. With them every conclusion must follow by its rule; without them only what
   * holds for any rules is checked.
   */
  rules?: readonly unknown[] | undefined;
  /**
   * What is known of facts from elsewhere: the edges that the rules were run over, the facts of the
   * same answer.
   */
  known?: KnownFacts | undefined;
}

/**
 * What is wrong with one proof, each a sentence without its full stop; nothing: it is valid. Never
 * throws.
 */
export type ProofChecker = (proof: unknown) => string[];

/**
 * For many proofs with the same rules. Throws `invalid_rule`. Disabled rules are rules too: whether
 * a conclusion follows by one is no matter of its use.
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

/** One proof. Throws `invalid_rule` when the rules are wrong. */
export function checkProof(proof: unknown, options?: CheckOptions): string[] {
  return proofChecker(options)(proof);
}
