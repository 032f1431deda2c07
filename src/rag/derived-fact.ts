// A derived fact and the rule that derived it, in the form shared by answers, contexts and the
// firewall.

import type { Constant } from '../rules/index.ts';

/** An item of `derived_facts` (specification 2.9). */
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
  /** All edges of its proof, ascending. */
  hedge_tags: string[];
}

export interface RuleFact {
  rule_tag: string;
  id: string;
  name: string;
  /** `head if body`. */
  text: string;
}
