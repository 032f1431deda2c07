// Defines the requests to the pipeline, its results, and the runner that executes it.

import type { RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Derived } from './derived.ts';
import type { FirewallResult } from './firewall/firewall.ts';
import type { AnsweredQuestion } from './question/question.ts';
import type { AnsweredEdge } from './retrieval/retrieved-edge.ts';

export const MODES = ['neuro', 'symbolic', 'hybrid'] as const;
/** `neuro` uses a model without rules, `symbolic` rules without a model, `hybrid` uses both. */
export type Mode = (typeof MODES)[number];

/**
 * Runs long work in steps, between which other work can run. Rejects after its deadline, or when
 * the client no longer waits for the answer.
 */
export interface StepRunner {
  run<T>(steps: Steps<T>): Promise<T>;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

export interface ReasonRequest {
  query: string;
  /** Name of a table; if undefined, the primary table is used. */
  table: string | undefined;
  topK: number;
  requireProof: boolean;
  /** Unchecked rules for this request only; if undefined, the enabled stored rules are used. */
  rules: readonly unknown[] | undefined;
}

export interface RagRequest extends ReasonRequest {
  mode: Mode;
  mock: boolean;
  /** Name of the model; if undefined, the configured model is used. */
  model: string | undefined;
  /** Address of the model; if undefined, the configured address is used. */
  baseUrl: string | undefined;
  /** Key for the model; if undefined, the configured key is used at the configured address. */
  apiKey: string | undefined;
  tokenBudget: number;
  /** Start of the time window. It overrides a start that the text of the question contains. */
  timeStart: number | undefined;
  /** End of the time window. It overrides an end that the text of the question contains. */
  timeEnd: number | undefined;
}

/** A text whose sentences have tags, or claims that may have tags (see `check-claims.ts`). */
export type CheckRequest = {
  /** Name of a table; if undefined, the primary table is used. */
  table: string | undefined;
  edgeIds: readonly number[];
} & ({ text: string } | { claims: readonly string[] });

/** Durations in milliseconds. */
export interface Timings {
  retrieval_ms: number;
  reasoning_ms: number;
  generation_ms: number;
  total_ms: number;
}

/** An answer without the facts and proofs, which are written from `Answered.derived`. */
export interface RagResult extends Timings {
  query: string;
  answer: string;
  table: string;
  mode: Mode;
  abstained: boolean;
  cited_edges: AnsweredEdge[];
  all_edges: readonly AnsweredEdge[];
  firewall: Omit<FirewallResult, 'answer' | 'citedEdges'>;
  rules_fired: string[];
  confidence: number;
  low_confidence: boolean;
  model: string;
  prompt_tokens: number;
  completion_tokens: number;
  context_tokens: number;
  interaction_id: string;
  /** Whether more edges matched than were retrieved. */
  truncated: boolean;
  /** The question that the text was understood to ask. */
  understood: AnsweredQuestion;
  /**
   * The statement, or the measure with its parameters, that computed the figure in the answer. Null
   * if no figure was computed.
   */
  computed_by: string | null;
}

export interface ReasonResult {
  query: string;
  table: string;
  answer: string;
  abstained: boolean;
  /** The edges to which the rules were applied. */
  all_edges: readonly AnsweredEdge[];
  computed_by: string | null;
  rules_fired: string[];
  truncated: boolean;
  understood: AnsweredQuestion;
  reasoning_ms: number;
}

export interface Answered<T> {
  result: T;
  /** The derived facts; undefined if no rules ran. */
  derived: Derived | undefined;
  /** The log position that the answer reflects. */
  lsn: number;
}

/** Returns the checked rules in a request or, if it has none, the enabled stored rules. */
export type RulesOf = (rules: readonly unknown[] | undefined) => RuleSet;
