// The requests of the pipeline, how it is run, and its results.

import type { RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Derived } from './derived.ts';
import type { FirewallResult } from './firewall/firewall.ts';
import type { Question } from './question/question.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export const MODES = ['neuro', 'symbolic', 'hybrid'] as const;
/** `neuro` uses a model without rules, `symbolic` rules without a model, `hybrid` both. */
export type Mode = (typeof MODES)[number];

/**
 * Runs long work in steps interleaved with other work; rejects after its deadline or when nobody
 * waits for it any more.
 */
export interface StepRunner {
  run<T>(steps: Steps<T>): Promise<T>;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export interface ReasonRequest {
  query: string;
  /** Undefined: the primary table. */
  table: string | undefined;
  topK: number;
  requireProof: boolean;
  /** Rules for this request only, unchecked; undefined: the enabled rules of the store. */
  rules: readonly unknown[] | undefined;
}

export interface RagRequest extends ReasonRequest {
  mode: Mode;
  mock: boolean;
  /** This and the next two; undefined: as configured. */
  model: string | undefined;
  baseUrl: string | undefined;
  apiKey: string | undefined;
  tokenBudget: number;
  /** Start and end of the window, overriding the one in the text. */
  timeStart: number | undefined;
  timeEnd: number | undefined;
}

/** A text whose sentences have tags, or claims that may have some: see `check-claims.ts`. */
export type CheckRequest = {
  /** Undefined: the primary table. */
  table: string | undefined;
  edgeIds: readonly number[];
} & ({ text: string } | { claims: readonly string[] });

/** Milliseconds. */
export interface Timings {
  retrieval_ms: number;
  reasoning_ms: number;
  generation_ms: number;
  total_ms: number;
}

/** Everything in an answer but the facts and proofs, which are written from `derived`. */
export interface RagResult extends Timings {
  query: string;
  answer: string;
  table: string;
  mode: Mode;
  abstained: boolean;
  cited_edges: RetrievedEdge[];
  all_edges: readonly RetrievedEdge[];
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
  /** How the text was understood. */
  understood: Question;
  /**
   * The statement, or the measure with its parameters, that computed a count, first, last or most;
   * null if none was.
   */
  computed_by: string | null;
}

export interface ReasonResult {
  query: string;
  table: string;
  answer: string;
  abstained: boolean;
  /** The edges that the rules saw. */
  all_edges: readonly RetrievedEdge[];
  computed_by: string | null;
  rules_fired: string[];
  truncated: boolean;
  understood: Question;
  reasoning_ms: number;
}

/** `derived`: undefined if no rules ran. `lsn`: the log position that the answer reflects. */
export interface Answered<T> {
  result: T;
  derived: Derived | undefined;
  lsn: number;
}

/** The rules of a request: its own, checked as a complete set, or the enabled ones of the store. */
export type RulesOf = (rules: readonly unknown[] | undefined) => RuleSet;
