// What a rule is: as requests and answers write it, and as it is once it was read and found
// well-formed.

/** Numbers are finite and never -0. */
export type Constant = number | string | boolean;

/** A variable is named without its `?`. */
export type Term = { readonly variable: string } | { readonly constant: Constant };

export interface Atom {
  readonly pred: string;
  readonly args: readonly Term[];
}

export const COMPARE_OPS = ['==', '!=', '<', '<=', '>', '>='] as const;
/** `=` of the wire is `==` here. */
export type CompareOp = (typeof COMPARE_OPS)[number];

export type Condition =
  | { readonly kind: 'atom'; readonly atom: Atom }
  | { readonly kind: 'not'; readonly atom: Atom }
  | { readonly kind: 'compare'; readonly left: Term; readonly op: CompareOp; readonly right: Term };

/** Texts that begin with `?` are variables. */
export interface WireAtom {
  readonly pred: string;
  readonly args: readonly Constant[];
}

/** `op` as it was given: `=` stays `=`. */
export type WireCondition =
  | WireAtom
  | { readonly not: WireAtom }
  | { readonly compare: readonly [left: Constant, op: string, right: Constant] };

/** As it is stored and answered: every default filled in. */
export interface Rule {
  /** `rule:` and an identifier. */
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Higher ones come first in listings; it changes no fact. */
  readonly priority: number;
  /** From 1, one more with each update. */
  readonly version: number;
  readonly if: readonly WireCondition[];
  readonly then: WireAtom & { readonly confidence: number };
}

/** Made only by `readRule` (parse-rule.ts). */
export interface ParsedRule {
  readonly rule: Rule;
  readonly body: readonly Condition[];
  readonly head: Atom;
  readonly confidence: number;
  /** Its place in the source, as in `["body", "rules", 3]`. */
  readonly loc: readonly (string | number)[];
}

/** Part of a `RuleSet`, whose check it passed. */
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
  /** The predicate it derives. */
  readonly head: string;
  /** Conditions. */
  readonly body_size: number;
}
