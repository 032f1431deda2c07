// The types for rules: as requests and answers contain them, and after they were read and checked.

/** Numbers are finite and never -0. */
export type Constant = number | string | boolean;

/** The name of a variable has no `?` here. */
export type Term = { readonly variable: string } | { readonly constant: Constant };

export interface Atom {
  readonly pred: string;
  readonly args: readonly Term[];
}

export const COMPARE_OPS = ['==', '!=', '<', '<=', '>', '>='] as const;
/** `=` of requests and answers is `==` here. */
export type CompareOp = (typeof COMPARE_OPS)[number];

export type Condition =
  | { readonly kind: 'atom'; readonly atom: Atom }
  | { readonly kind: 'not'; readonly atom: Atom }
  | { readonly kind: 'compare'; readonly left: Term; readonly op: CompareOp; readonly right: Term };

/** An atom as requests and answers contain it. Texts that begin with `?` are variables. */
export interface WireAtom {
  readonly pred: string;
  readonly args: readonly Constant[];
}

/** A condition as requests and answers contain it. `op` is unchanged: `=` stays `=`. */
export type WireCondition =
  | WireAtom
  | { readonly not: WireAtom }
  | { readonly compare: readonly [left: Constant, op: string, right: Constant] };

/** A rule as it is stored and as answers contain it, with every default filled in. */
export interface Rule {
  /** `rule:` followed by a name. */
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  /**
   * Rules with higher priority come first in listings. The priority does not affect which facts are
   * derived.
   */
  readonly priority: number;
  /** 1 for a new rule; each update adds one. */
  readonly version: number;
  readonly if: readonly WireCondition[];
  readonly then: WireAtom & { readonly confidence: number };
}

/** A rule as `readRule` (parse-rule.ts) returns it. */
export interface ParsedRule {
  readonly rule: Rule;
  readonly body: readonly Condition[];
  readonly head: Atom;
  readonly confidence: number;
  /** The place of the rule in its source, such as `["body", "rules", 3]`. */
  readonly loc: readonly (string | number)[];
}

/** A rule in a `RuleSet`, which passed the checks of the set. */
export interface CheckedRule extends ParsedRule {
  readonly stratum: number;
}

/** One line of a listing. */
export interface RuleSummary {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly version: number;
  /** The predicate that the rule derives. */
  readonly head: string;
  /** Number of conditions. */
  readonly body_size: number;
}
