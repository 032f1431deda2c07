// Reasoning over HTTP: facts and proofs from rules, answers from retrieval, rules and a language model, and what was asked lately.

import { refusal } from '../errors.ts';
import { jsonReply, jsonTextReply } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { validated } from '../http/validated.ts';
import type { RagRequest, Reasoning, ReasonRequest } from '../rag/index.ts';
import { reasoningReply } from './reasoning-reply.ts';
import {
  interaction,
  interactionParameters,
  parseAnswer,
  parseQuery,
  ragAnswer,
  ragBody,
  reasonAnswer,
  reasonBody,
} from './schemas/reason.ts';
import { inTurns } from './turns.ts';

const DEFAULT_TOP_K = 40;
const DEFAULT_TOKEN_BUDGET = 3000;

export function requireReasoning({ services }: Call): Reasoning {
  if (services.reasoning !== undefined) return services.reasoning;
  throw refusal('starting', 'Reasoning is not ready yet. Try again shortly.');
}

const reason = validated({
  id: 'reason',
  method: 'POST',
  path: '/v1/reason',
  role: 'readonly',
  summary: 'Derive facts with proofs from the edges that a text means; no language model is asked.',
  data: true,
  unprocessable: true,
  body: reasonBody,
  answers: { 200: reasonAnswer },
  errors: [500, 504],
  handler: ({ body }, call) =>
    inTurns(call, async (turns) => {
      const request: ReasonRequest = {
        query: body.query,
        table: body.table,
        topK: body.top_k ?? DEFAULT_TOP_K,
        requireProof: body.require_proof ?? false,
        rules: body.rules,
      };
      return reasoningReply(await requireReasoning(call).reason(request, turns), turns);
    }),
});

const ask = validated({
  id: 'ragQuery',
  method: 'POST',
  path: '/v1/rag/query',
  role: 'readonly',
  summary: 'Answer a question from retrieved edges and derived facts; sentences without support are stripped.',
  data: true,
  unprocessable: true,
  body: ragBody,
  answers: { 200: ragAnswer },
  errors: [404, 500, 502, 504],
  handler: ({ body }, call) =>
    inTurns(call, async (turns) => {
      const request: RagRequest = {
        query: body.query,
        table: body.table,
        mode: body.mode ?? 'hybrid',
        mock: body.mock ?? false,
        topK: body.top_k ?? DEFAULT_TOP_K,
        requireProof: body.require_proof ?? false,
        rules: body.rules,
        model: body.model,
        baseUrl: body.base_url,
        apiKey: body.openai_api_key,
        tokenBudget: body.token_budget ?? DEFAULT_TOKEN_BUDGET,
        timeStart: body.time_start,
        timeEnd: body.time_end,
      };
      const answered = await requireReasoning(call).ask(request, turns);
      const { interaction_id, table, mode, model, firewall, total_ms } = answered.result;
      call.services.log.info('rag_answered', {
        interaction_id,
        table,
        mode,
        model,
        outcome: firewall.outcome,
        duration_us: Math.round(total_ms * 1000),
        request_id: call.requestId,
      });
      return reasoningReply(answered, turns);
    }),
});

const parse = validated({
  id: 'parseQuestion',
  method: 'GET',
  path: '/v1/rag/parse',
  role: 'readonly',
  summary: 'What retrieval understands of a text: its time window, nodes, filters and words.',
  data: true,
  unprocessable: true,
  query: parseQuery,
  answers: { 200: parseAnswer },
  errors: [404],
  handler: ({ query }, call) => jsonReply(200, requireReasoning(call).parse(query.query, query.table)),
});

const past = validated({
  id: 'getInteraction',
  method: 'GET',
  path: '/v1/rag/interactions/{id}',
  role: 'readonly',
  summary: 'What was retrieved, derived, generated and stripped for one of the last 1,000 questions.',
  data: true,
  unprocessable: true,
  parameters: interactionParameters,
  answers: { 200: interaction },
  errors: [404],
  handler: async ({ parameters: { id } }, call) => jsonTextReply(200, await requireReasoning(call).interaction(id)),
});

export const reasonRoutes: readonly Route[] = [reason, ask, parse, past];
