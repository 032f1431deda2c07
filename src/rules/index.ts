// The entry module of the rules: Datalog with negation over given facts, and proofs.

export { BaseFacts } from './base-facts.ts';
export { isAboutNodes } from './base-predicates.ts';
export { type CheckOptions, checkProof, proofChecker } from './check-proof.ts';
export { type EvaluateLimits, evaluate } from './evaluate.ts';
export { factText } from './fact-text.ts';
export { knownOfEdges } from './known-of-edges.ts';
export { Model } from './model.ts';
export { type Proof, type ProofTags, proofSteps } from './proof.ts';
export { hedgesOf } from './proof-hedges.ts';
export { proofFacts } from './proof-size.ts';
export type { Constant, Rule, RuleSummary } from './rule.ts';
export { enabledOf, type RuleSet, readRuleSet, readRuleSetSteps } from './rule-set.ts';
export { RuleStore, type StoredRule, type Validation } from './rule-store.ts';
export { ruleText } from './rule-text.ts';
