// Defines a derived fact and the rule that derived it, as answers, prompts and the firewall use
// them.

import type { Constant } from '../rules/index.ts';

/** An item of `derived_facts` in an answer. */
export interface StepFact {
  /** `STEP-<n>`, counting from 1. */
  step_tag: string;
  /** The fact as text: `close(12, 15)`. */
  fact: string;
  predicate: string;
  args: Constant[];
  confidence: number;
  rule_id: string;
  /** `RULE-<n>`, counting from 1 in order of first use. */
  rule_tag: string;
  /** Tags of all edges in the fact's proof, in ascending order. */
  hedge_tags: string[];
}

export interface RuleFact {
  rule_tag: string;
  id: string;
  name: string;
  /** The rule as text: `head if body`. */
  text: string;
}
