// Makes the record of a question and its answer. It has a bounded size and contains no API keys.

import type { Proof } from '../rules/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { StepFact } from './derived-fact.ts';
import type { RagAnswer } from './pipeline.ts';
import type { RagRequest } from './request.ts';
import type { MemberKeys } from './retrieval/member-keys.ts';
import { answeredEdge, type RetrievedEdge } from './retrieval/retrieved-edge.ts';

const MOST_STEPS = 200;
const MOST_PROOFS = 20;
const MOST_TEXT = 1000;
const MOST_GENERATED = 64 * 1024;

export function* keptInteraction(
  request: RagRequest,
  { result, worked: derived, generated, retrieval }: RagAnswer,
  nowMs: number,
  keys: MemberKeys | undefined,
): Steps<object> {
  const steps: StepFact[] = [];
  const proofs: Proof[] = [];
  const count = derived?.count ?? 0;
  for (let number = 1; number <= Math.min(MOST_STEPS, count); number++) {
    steps.push(yield* derived!.step(number));
    if (number <= MOST_PROOFS) proofs.push(yield* derived!.proof(number));
    yield;
  }
  const { query, table, mode, answer, firewall, model, confidence, computed_by } = result;
  const { topK, tokenBudget, requireProof, mock, timeStart, timeEnd } = request;
  return {
    interaction_id: result.interaction_id,
    created_at: Math.floor(nowMs / 1000),
    request: {
      query: cut(query, MOST_GENERATED),
      table,
      mode,
      mock,
      top_k: topK,
      token_budget: tokenBudget,
      require_proof: requireProof,
      time_start: timeStart ?? null,
      time_end: timeEnd ?? null,
      own_rules: request.rules !== undefined,
    },
    retrieved: {
      question: result.understood,
      strategy: retrieval.strategy,
      truncated: retrieval.truncated,
      edges: retrieval.edges.map((edge) => answeredEdge(withShortTexts(edge), keys)),
    },
    derived: { count, facts: steps, proofs, rules_fired: derived?.rules.map(({ id }) => id) ?? [] },
    generated: { model, text: cut(generated, MOST_GENERATED), length: generated.length },
    firewall: { ...firewall, stripped: firewall.stripped.slice(0, MOST_STEPS) },
    answer: cut(answer, MOST_GENERATED),
    computed_by,
    confidence,
    timings: {
      retrieval_ms: result.retrieval_ms,
      reasoning_ms: result.reasoning_ms,
      generation_ms: result.generation_ms,
      total_ms: result.total_ms,
    },
  };
}

function withShortTexts(edge: RetrievedEdge): RetrievedEdge {
  const properties = Object.entries(edge.properties).map(([name, value]) => {
    return [name, typeof value === 'string' ? cut(value, MOST_TEXT) : value] as const;
  });
  const formation = edge.formation === null ? null : cut(edge.formation, MOST_TEXT);
  return { ...edge, formation, properties: Object.fromEntries(properties) };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
