// What is asked of the pipeline, how it is run, and what it answers.

import type { RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Derived } from './derived.ts';
import type { FirewallResult } from './firewall/firewall.ts';
import type { Question } from './question/question.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

export const MODES = ['neuro', 'symbolic', 'hybrid'] as const;
/** `neuro` asks a model and no rules, `symbolic` rules and no model, `hybrid` both. */
export type Mode = (typeof MODES)[number];

/** Runs long work in steps beside other work; rejects when its time is over or nobody waits for it any more. */
export interface StepRunner {
  run<T>(steps: Steps<T>): Promise<T>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

export interface ReasonRequest {
  query: string;
  /** Undefined: the primary table. */
  table: string | undefined;
  topK: number;
  requireProof: boolean;
  /** Rules of this request alone, as they came; undefined: the enabled ones of the store. */
  rules: readonly unknown[] | undefined;
}

export interface RagRequest extends ReasonRequest {
  mode: Mode;
  mock: boolean;
  /** Undefined: the configured ones. */
  model: string | undefined;
  baseUrl: string | undefined;
  apiKey: string | undefined;
  tokenBudget: number;
  /** Instead of the window of the text. */
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

/** All of an answer but the facts and proofs, which `derived` writes. */
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
  /** More edges matched than were retrieved. */
  truncated: boolean;
  /** What was made of the text. */
  understood: Question;
  /** The statement, or the measure with its parameters, that gave a count, first, last or most; null: none did. */
  computed_by: string | null;
}

export interface ReasonResult {
  query: string;
  table: string;
  answer: string;
  abstained: boolean;
  /** Those that rules saw. */
  all_edges: readonly RetrievedEdge[];
  computed_by: string | null;
  rules_fired: string[];
  truncated: boolean;
  understood: Question;
  reasoning_ms: number;
}

/** `derived`: undefined when no rules ran. `lsn`: the log position it reflects. */
export interface Answered<T> {
  result: T;
  derived: Derived | undefined;
  lsn: number;
}

/** A request's rules: its own, checked as a set of their own, or the enabled ones of the store. */
export type RulesOf = (rules: readonly unknown[] | undefined) => RuleSet;
