// Runs the pipeline from a question to a checked answer: retrieval, reasoning, proof, generation of
// the answer, and firewall.

import { type LanguageModel, tokenSteps } from '../llm/index.ts';
import type { RuleSet } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import { type Computed, type ComputeTools, computeFigure } from './computed.ts';
import { type Context, packContext } from './context.ts';
import { Derived } from './derived.ts';
import type { StepFact } from './derived-fact.ts';
import { ABSTAINED_ANSWER, type FirewallResult, firewallSteps } from './firewall/firewall.ts';
import { keyedSupport, keyTexts } from './keyed-support.ts';
import { stemOf, stemsOfName } from './question/general-words.ts';
import type { Answered, Mode, RagRequest, RagResult, ReasonRequest, ReasonResult } from './request.ts';
import { memberNames } from './retrieval/bind.ts';
import type { Member } from './retrieval/member-keys.ts';
import { answeredQuestion, type Retrieval, retrieve } from './retrieval/retrieve.ts';
import { answeredEdge, type RetrievedEdge } from './retrieval/retrieved-edge.ts';
import type { Stopwatch } from './stopwatch.ts';
import { supportOf } from './support.ts';
import { EDGES_WRITTEN, edgeSentence, writtenAnswer } from './written-answer.ts';

/** The parts of the service that are needed to answer a request. */
export interface Tools extends ComputeTools {
  /** Undefined in the mode `neuro`. */
  rules: RuleSet | undefined;
  /** Undefined in the mode `symbolic`. */
  model: LanguageModel | undefined;
  /** Returns the time in epoch milliseconds. */
  nowMs: () => number;
  stopwatch: Stopwatch;
  newId: () => string;
}

/**
 * Maximum number of derived facts that are offered for a prompt. The token budget has room for far
 * fewer.
 */
const MOST_CONTEXT_STEPS = 500;
/** The firewall's result for an answer that abstains. It counts no sentence as stripped. */
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
/**
 * Maximum number of stripped sentences that an answer lists. `stripped_count` counts all of them.
 */
const MOST_STRIPPED = 1000;
/** An answer with less confidence than this is flagged `low_confidence`. */
const LOW_CONFIDENCE = 0.5;

/** The answer with everything that the record of the interaction contains. */
export interface RagAnswer extends Answered<RagResult> {
  /** The model's text, before the firewall. */
  generated: string;
  retrieval: Retrieval;
  /** All derived facts, even if the answer abstains and reports none. */
  worked: Derived | undefined;
}

/** The edges from which a question is answered, and the figure for which it asks. */
interface Found {
  retrieval: Retrieval;
  edges: RetrievedEdge[];
  figure: Computed | undefined;
}

/** Reads the names of the members of edges. Returns undefined if no table has names. */
function namesOf(edges: readonly RetrievedEdge[], { names, runner }: Tools): Promise<Map<Member, string>> | undefined {
  return names && runner.run(memberNames(names, edges));
}

async function find(request: ReasonRequest & Partial<RagRequest>, tools: Tools): Promise<Found> {
  const found = await tools.runner.run(retrieved(request, tools));
  const { figure, retrieval } = await computeFigure(found, tools);
  // The first or last edge replaces the best edges, because it may not be among them.
  return { retrieval, edges: figure?.edge === undefined ? retrieval.edges : [figure.edge], figure };
}

export async function answerQuestion(request: RagRequest, tools: Tools): Promise<RagAnswer> {
  const { table, runner, stopwatch } = tools;
  const { query, mode } = request;

  const { retrieval, edges, figure } = await find(request, tools);
  stopwatch.lap('retrieval_ms');

  // Reasoning includes proving: the derivation of each fact is kept, and is its proof.
  const { rules } = tools;
  const worked = rules && (await runner.run(reasonOver(edges, rules, retrieval, tools)));
  stopwatch.lap('reasoning_ms');

  const names = await namesOf(edges, tools);
  const generated = await generate(request, { edges, worked, figure, names, stated: touched(edges, retrieval) }, tools);
  stopwatch.lap('generation_ms');

  const isUnproved = request.requireProof && (worked === undefined || worked.count === 0);
  const text =
    edges.length === 0 || isUnproved
      ? ABSTAINED
      : await runner.run(checkedAnswer(generated.text, { edges, worked, names }, tools));
  const checked = isUnproved ? text : withFigure(text, figure);
  const confidence = confidenceOf(checked, worked);
  // An answer that abstains must not reveal the facts that were derived.
  const derived = checked.abstained ? undefined : worked;

  const { answer, citedEdges, ...verdict } = checked;
  const firewall = { ...verdict, stripped: verdict.stripped.slice(0, MOST_STRIPPED) };
  const cited = new Set(citedEdges);
  const all = edges.map((edge) => answeredEdge(edge, tools.keys));
  const result: RagResult = {
    query,
    answer,
    table: table.name,
    mode,
    abstained: checked.abstained,
    cited_edges: all.filter(({ edge_id }) => cited.has(edge_id)),
    all_edges: all,
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
    understood: answeredQuestion(retrieval, tools.keys),
    computed_by: checked.abstained ? null : (figure?.computed_by ?? null),
  };
  return { result, derived, lsn: retrieval.lsn, generated: generated.text, retrieval, worked };
}

/**
 * Answers a request to `/v1/reason`, without a model. The result comes with the derived facts and
 * their proofs.
 */
export async function reason(request: ReasonRequest, tools: Tools): Promise<Answered<ReasonResult>> {
  const { table, runner, stopwatch } = tools;
  const { retrieval, edges, figure } = await find(request, tools);
  const worked = await runner.run(reasonOver(edges, tools.rules!, retrieval, tools));
  const isUnproved = request.requireProof && worked.count === 0;
  const facts = await runner.run(write(request, touched(edges, retrieval), worked, figure, tools));
  const answer = figure !== undefined && !isUnproved ? withFigureText(facts, figure) : facts;
  const abstained = answer === ABSTAINED_ANSWER;
  const derived = abstained ? undefined : worked;
  const result: ReasonResult = {
    query: request.query,
    table: table.name,
    answer,
    abstained,
    all_edges: edges.map((edge) => answeredEdge(edge, tools.keys)),
    rules_fired: derived?.rules.map(({ id }) => id) ?? [],
    truncated: retrieval.truncated,
    understood: answeredQuestion(retrieval, tools.keys),
    computed_by: abstained ? null : (figure?.computed_by ?? null),
    reasoning_ms: stopwatch.total(),
  };
  return { result, derived, lsn: retrieval.lsn };
}

/** Adds the figure at the beginning, as one more supported sentence. */
function withFigure(checked: FirewallResult, figure: Computed | undefined): FirewallResult {
  if (figure === undefined) return checked;
  const supported = checked.supported_count + 1;
  return {
    ...checked,
    answer: withFigureText(checked.answer, figure),
    outcome: checked.stripped_count > 0 ? 'stripped' : 'supported',
    abstained: false,
    coverage: supported / (supported + checked.stripped_count),
    supported_count: supported,
    citedEdges: [...new Set([...(figure.edge === undefined ? [] : [figure.edge.edge_id]), ...checked.citedEdges])],
  };
}

function withFigureText(answer: string, { sentence }: Computed): string {
  return answer === ABSTAINED_ANSWER || answer === '' ? sentence : `${sentence} ${answer}`;
}

function* retrieved(
  { query, topK, timeStart, timeEnd }: ReasonRequest & Partial<RagRequest>,
  { table, nowMs, names, rules, keys }: Tools,
): Steps<Retrieval> {
  const predicates = yield* wordsOfRules(rules);
  const override = { startTs: timeStart, endTs: timeEnd };
  return yield* retrieve(table, query, { topK, nowMs: nowMs(), override, names, predicates, keys });
}

/** Number of rules whose words are stemmed in one step. */
const RULES_A_STEP = 50;

/** Returns the stems of the words in the names of rules and of the predicates that they derive. */
function* wordsOfRules(rules: RuleSet | undefined): Steps<Set<string>> {
  const stems = new Set<string>();
  for (const [index, { head, rule }] of (rules?.rules ?? []).entries()) {
    for (const stem of [stemOf(head.pred), ...stemsOfName(head.pred), ...stemsOfName(rule.name)]) stems.add(stem);
    if (index % RULES_A_STEP === RULES_A_STEP - 1) yield;
  }
  return stems;
}

function reasonOver(
  edges: readonly RetrievedEdge[],
  rules: RuleSet,
  { question: { nodes } }: Retrieval,
  { table, keys }: Pick<Tools, 'table' | 'keys'>,
): Steps<Derived> {
  const byId = [...edges].sort((a, b) => a.edge_id - b.edge_id);
  const asked = keys === undefined ? nodes : nodes.flatMap((node) => (node > 0 ? keys.memberOf(node) : []));
  return Derived.of({ rules, edges: byId, table: table.name, bucketSeconds: table.bucketSeconds, asked, keys });
}

/** Returns the edges that may be stated: those that touch a named node, if any is named. */
function touched(edges: readonly RetrievedEdge[], { touching }: Retrieval): readonly RetrievedEdge[] {
  return touching === undefined ? edges : edges.filter(({ edge_id }) => touching.has(edge_id));
}

/** The edges, facts and figure from which an answer is written. */
interface Evidence {
  readonly edges: readonly RetrievedEdge[];
  readonly worked: Derived | undefined;
  readonly figure: Computed | undefined;
  readonly names: ReadonlyMap<Member, string> | undefined;
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
  { edges, stated, worked: derived, figure, names }: Evidence & { readonly stated: readonly RetrievedEdge[] },
  tools: Tools,
): Promise<Generated> {
  const { model, runner } = tools;
  if (model === undefined) {
    const text = await runner.run(write(request, stated, derived!, figure, tools));
    return { text, model: 'symbolic', promptTokens: 0, completionTokens: 0, contextTokens: 0 };
  }
  const none = { text: '', model: model.name, promptTokens: 0, completionTokens: 0, contextTokens: 0 };
  // If there are no edges, a model could only invent an answer.
  if (edges.length === 0) return none;
  const context = await runner.run(contextOf(request, edges, derived, names));
  const { text, ...rest } = await model.complete(context.prompt, runner.signal);
  return { ...rest, text, contextTokens: context.tokens };
}

function* contextOf(
  { query, tokenBudget }: RagRequest,
  edges: readonly RetrievedEdge[],
  derived: Derived | undefined,
  names: ReadonlyMap<Member, string> | undefined,
): Steps<Context> {
  const steps = yield* firstSteps(derived, MOST_CONTEXT_STEPS);
  const rules = derived?.rules ?? [];
  return yield* packContext({ question: query, edges, names, steps, rules, tokenBudget, tokenSteps });
}

function* write(
  { requireProof }: ReasonRequest,
  edges: readonly RetrievedEdge[],
  derived: Derived,
  figure: Computed | undefined,
  { table: { definition, columns }, keys }: Pick<Tools, 'table' | 'keys'>,
): Steps<string> {
  if (edges.length === 0 || (requireProof && derived.count === 0)) return ABSTAINED_ANSWER;
  // The figure alone is the answer.
  if (figure !== undefined) return '';
  const steps = yield* firstSteps(derived, MOST_WRITTEN_STEPS);
  // Adds the last step, because the number in its tag is the number of all steps.
  if (derived.count > steps.length) steps.push(yield* derived.step(derived.count));
  const searched = definition.text?.columns.flatMap((id) => columns.withId(id)?.name ?? []) ?? [];
  const quotable = yield* quotableEdges(edges, searched, keys);
  return writtenAnswer(steps, derived.rules, edges, (edge) => (quotable.has(edge) ? searched : []));
}

/**
 * Returns the edges whose texts can be quoted. A text with signs that may hide a tag is none: the
 * firewall would strip the sentence.
 */
function* quotableEdges(
  edges: readonly RetrievedEdge[],
  columns: readonly string[],
  keys: Tools['keys'],
): Steps<Set<RetrievedEdge>> {
  const quotable = new Set<RetrievedEdge>();
  for (const edge of columns.length === 0 ? [] : edges.slice(0, EDGES_WRITTEN)) {
    const checked = yield* firewallSteps(
      edgeSentence(edge, columns),
      supportOf([edge], undefined, keys && keyTexts([edge], keys)),
    );
    if (checked.outcome === 'supported') quotable.add(edge);
  }
  return quotable;
}

/** Maximum number of facts that a written answer states individually. */
const MOST_WRITTEN_STEPS = 20;

function* firstSteps(derived: Derived | undefined, most: number): Steps<StepFact[]> {
  const steps: StepFact[] = [];
  for (let number = 1; derived !== undefined && number <= Math.min(most, derived.count); number++) {
    steps.push(yield* derived.step(number));
    yield;
  }
  return steps;
}

function* checkedAnswer(
  text: string,
  { edges, worked, names }: Pick<Evidence, 'edges' | 'worked' | 'names'>,
  { keys }: Tools,
): Steps<FirewallResult> {
  if (keys === undefined) return yield* firewallSteps(text, supportOf(edges, worked, names));
  const keyed = yield* keyedSupport(text, keys, worked?.nodes);
  return yield* firewallSteps(text, supportOf(edges, worked, keyTexts(edges, keys), undefined, keyed));
}

/**
 * Returns the share of supported sentences times the least confidence of the cited facts, rounded
 * to 6 decimals, or 0 if the answer abstains.
 */
function confidenceOf(checked: FirewallResult, derived: Derived | undefined): number {
  if (checked.abstained) return 0;
  let least = 1;
  for (const [, number] of checked.answer.matchAll(/\[STEP-(\d+)\]/g)) {
    if (derived !== undefined) least = Math.min(least, derived.confidenceOf(Number(number)));
  }
  return Math.round(checked.coverage * least * 1e6) / 1e6;
}

export type { Mode };
