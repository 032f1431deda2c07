// From a question to a checked answer: retrieve, reason, prove, generate, firewall.

import type { Table } from '../engine/index.ts';
import { countTokens, type LanguageModel } from '../llm/index.ts';
import type { RuleSet } from '../rules/index.ts';
import { type Context, packContext } from './context.ts';
import { Derived } from './derived.ts';
import type { StepFact } from './derived-fact.ts';
import { ABSTAINED_ANSWER, type FirewallResult, firewallSteps } from './firewall/firewall.ts';
import type { Answered, Mode, RagRequest, RagResult, ReasonRequest, ReasonResult, Turns } from './request.ts';
import { type Retrieval, retrieve } from './retrieval/retrieve.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';
import type { Stopwatch } from './stopwatch.ts';
import { supportOf } from './support.ts';
import { writtenAnswer } from './written-answer.ts';

/** What a request is answered with. */
export interface Tools {
  table: Table;
  /** Undefined in mode `neuro`. */
  rules: RuleSet | undefined;
  /** Undefined in mode `symbolic`. */
  model: LanguageModel | undefined;
  turns: Turns;
  /** Epoch milliseconds. */
  nowMs: () => number;
  stopwatch: Stopwatch;
  newId: () => string;
}

/** Derived facts that a context may show; the token budget leaves room for far fewer. */
const MOST_CONTEXT_STEPS = 500;
/** Nothing was said, so nothing was stripped. */
const ABSTAINED: FirewallResult = {
  answer: ABSTAINED_ANSWER,
  outcome: 'abstained',
  abstained: true,
  coverage: 0,
  supported_count: 0,
  stripped_count: 0,
  stripped: [],
  citedEdges: [],
};
/** Stripped sentences that an answer shows; their number is told whole. */
const MOST_STRIPPED = 1000;
/** Below it an answer is called one of low confidence. */
const LOW_CONFIDENCE = 0.5;

/** Raw, as the interaction log keeps it. */
export interface RagAnswer extends Answered<RagResult> {
  /** What the model wrote, before the firewall. */
  generated: string;
  retrieval: Retrieval;
}

export async function answerQuestion(request: RagRequest, tools: Tools): Promise<RagAnswer> {
  const { table, turns, stopwatch } = tools;
  const { query, mode } = request;

  const retrieval = await turns.run(retrieve(table, query, retrieveOptions(request, tools)));
  const { edges } = retrieval;
  stopwatch.lap('retrieval_ms');

  // Reasoning proves: every fact has its derivation, from which its proof is written.
  const derived = tools.rules === undefined ? undefined : await turns.run(reasonOver(edges, tools.rules, table));
  stopwatch.lap('reasoning_ms');

  const generated = await generate(request, retrieval, derived, tools);
  stopwatch.lap('generation_ms');

  const proved = derived !== undefined && derived.count > 0;
  const checked =
    edges.length === 0 || (request.requireProof && !proved)
      ? ABSTAINED
      : await turns.run(checkedText(generated.text, edges, derived));
  const confidence = confidenceOf(checked, derived);

  const { answer, citedEdges, ...verdict } = checked;
  const firewall = { ...verdict, stripped: verdict.stripped.slice(0, MOST_STRIPPED) };
  const cited = new Set(citedEdges);
  const result: RagResult = {
    query,
    answer,
    table: table.name,
    mode,
    abstained: checked.abstained,
    cited_edges: edges.filter(({ edge_id }) => cited.has(edge_id)),
    all_edges: edges,
    firewall,
    rules_fired: derived?.rules.map(({ id }) => id) ?? [],
    confidence,
    low_confidence: confidence < LOW_CONFIDENCE,
    model: generated.model,
    prompt_tokens: generated.promptTokens,
    completion_tokens: generated.completionTokens,
    ...stopwatch.laps(),
    context_tokens: generated.contextTokens,
    interaction_id: tools.newId(),
    truncated: retrieval.truncated,
    understood: retrieval.question,
  };
  return { result, derived, lsn: retrieval.lsn, generated: generated.text, retrieval };
}

/** `/v1/reason`: no model; the answer is written from facts and proofs. */
export async function reason(request: ReasonRequest, tools: Tools): Promise<Answered<ReasonResult>> {
  const { table, turns, stopwatch } = tools;
  const retrieval = await turns.run(retrieve(table, request.query, retrieveOptions(request, tools)));
  const derived = await turns.run(reasonOver(retrieval.edges, tools.rules!, table));
  const answer = await turns.run(write(request, retrieval.edges, derived));
  const result: ReasonResult = {
    query: request.query,
    table: table.name,
    answer,
    abstained: answer === ABSTAINED_ANSWER,
    rules_fired: derived.rules.map(({ id }) => id),
    truncated: retrieval.truncated,
    understood: retrieval.question,
    reasoning_ms: stopwatch.total(),
  };
  return { result, derived, lsn: retrieval.lsn };
}

function retrieveOptions(request: ReasonRequest & Partial<RagRequest>, { nowMs }: Tools) {
  const { topK, timeStart, timeEnd } = request;
  return { topK, nowMs: nowMs(), override: { startTs: timeStart, endTs: timeEnd } };
}

function reasonOver(edges: readonly RetrievedEdge[], rules: RuleSet, table: Table): Generator<void, Derived, void> {
  const byId = [...edges].sort((a, b) => a.edge_id - b.edge_id);
  return Derived.of({ rules, edges: byId, table: table.name, bucketSeconds: table.bucketSeconds });
}

interface Generated {
  text: string;
  model: string;
  promptTokens: number;
  completionTokens: number;
  contextTokens: number;
}

async function generate(
  request: RagRequest,
  { edges }: Retrieval,
  derived: Derived | undefined,
  { model, turns }: Tools,
): Promise<Generated> {
  if (model === undefined) {
    const text = await turns.run(write(request, edges, derived!));
    return { text, model: 'symbolic', promptTokens: 0, completionTokens: 0, contextTokens: 0 };
  }
  const none = { text: '', model: model.name, promptTokens: 0, completionTokens: 0, contextTokens: 0 };
  // A model that has nothing to go by could only invent.
  if (edges.length === 0) return none;
  const context = await turns.run(contextOf(request, edges, derived));
  const { text, ...rest } = await model.complete(context.prompt, turns.signal);
  return { ...rest, text, contextTokens: context.tokens };
}

function* contextOf(
  { query, tokenBudget }: RagRequest,
  edges: readonly RetrievedEdge[],
  derived: Derived | undefined,
): Generator<void, Context, void> {
  const steps = yield* firstSteps(derived, MOST_CONTEXT_STEPS);
  return packContext({ question: query, edges, steps, rules: derived?.rules ?? [], tokenBudget, countTokens });
}

function* write(
  { requireProof }: ReasonRequest,
  edges: readonly RetrievedEdge[],
  derived: Derived,
): Generator<void, string, void> {
  if (edges.length === 0 || (requireProof && derived.count === 0)) return ABSTAINED_ANSWER;
  const steps = yield* firstSteps(derived, MOST_WRITTEN_STEPS);
  // The last one tells how many there are.
  if (derived.count > steps.length) steps.push(yield* derived.step(derived.count));
  return writtenAnswer(steps, derived.rules, edges);
}

/** Facts that a written answer may tell one by one. */
const MOST_WRITTEN_STEPS = 20;

function* firstSteps(derived: Derived | undefined, most: number): Generator<void, StepFact[], void> {
  const steps: StepFact[] = [];
  for (let number = 1; derived !== undefined && number <= Math.min(most, derived.count); number++) {
    steps.push(yield* derived.step(number));
    yield;
  }
  return steps;
}

function* checkedText(
  text: string,
  edges: readonly RetrievedEdge[],
  derived: Derived | undefined,
): Generator<void, FirewallResult, void> {
  return yield* firewallSteps(text, supportOf(edges, derived));
}

/** The share of sentences that are supported, times the least confidence of the facts cited; 0 when abstained. Rounded to 6 digits. */
function confidenceOf(checked: FirewallResult, derived: Derived | undefined): number {
  if (checked.abstained) return 0;
  let least = 1;
  for (const [, number] of checked.answer.matchAll(/\[STEP-(\d+)\]/g)) {
    if (derived !== undefined) least = Math.min(least, derived.confidenceOf(Number(number)));
  }
  return Math.round(checked.coverage * least * 1e6) / 1e6;
}

export type { Mode };
