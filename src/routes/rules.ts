// Routes that list, store, validate, read and delete stored rules.

import { refusal } from '../errors.ts';
import { JSON_BODY, jsonReply, jsonTextReply, type Reply, WriteAnswer } from '../http/index.ts';
import { parseJsonBody } from '../http/json-body.ts';
import type { RuleStore, StoredRule } from '../rules/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { deletedRule, ruleBody, ruleList, ruleParameters, storedRule, validation } from './schemas/rules.ts';

export function requireRules({ services }: Call): RuleStore {
  if (services.reasoning !== undefined) return services.reasoning.rules;
  throw refusal('starting', 'Rules are not ready yet. Try again shortly.');
}

const list = validated({
  id: 'listRules',
  method: 'GET',
  path: '/v1/rules',
  role: 'readonly',
  unprocessable: true,
  summary: 'All rules in short form, including disabled ones.',
  answers: { 200: ruleList },
  handler: (_input, call) => jsonReply(200, { rules: requireRules(call).list() }),
});

const read = validated({
  id: 'getRule',
  method: 'GET',
  path: '/v1/rules/{id}',
  role: 'readonly',
  unprocessable: true,
  summary: 'One rule.',
  parameters: ruleParameters,
  answers: { 200: storedRule },
  errors: [404],
  handler: ({ parameters }, call) => jsonReply(200, requireRules(call).get(parameters.id)),
});

const remove = validated({
  id: 'deleteRule',
  method: 'DELETE',
  path: '/v1/rules/{id}',
  role: 'readwrite',
  unprocessable: true,
  summary: 'Delete a rule. A rule that is stored again under its id begins with version 1.',
  audit: 'rule.deleted',
  idempotent: true,
  parameters: ruleParameters,
  answers: { 200: deletedRule },
  errors: [404],
  handler: async ({ parameters: { id } }, call) => {
    const answer = new WriteAnswer<void>(call.once, 200, () => JSON.stringify({ id, deleted: true }));
    await requireRules(call).delete(id, answer.attach);
    return jsonTextReply(200, answer.body(), undefined, { audit: { statement: `delete ${id}` } });
  },
});

/**
 * Properties shared by the two routes whose body is a rule. These routes do not use `validated`:
 * the rule parser checks the body, because it reports all faults at once.
 */
const WITH_RULE = {
  database: true,
  data: false,
  negotiates: false,
  tagged: false,
  unprocessable: true,
  rateExempt: false,
  bodyTypes: JSON_BODY,
} as const;

const store: Route = {
  ...WITH_RULE,
  id: 'putRule',
  method: 'POST',
  path: '/v1/rules',
  role: 'readwrite',
  summary: 'Store a rule, or replace the rule with the same id. It is checked together with all stored rules.',
  audit: 'rule.stored',
  data: true,
  idempotent: true,
  schemas: { body: ruleBody, answers: { 200: storedRule } },
  errors: [422],
  handler: storeRule,
};

async function storeRule(call: Call): Promise<Reply> {
  const answer = new WriteAnswer<StoredRule>(call.once, 200, JSON.stringify, undefined, ({ id }) => ({ id }));
  const rule = await requireRules(call).put(parseJsonBody(call), answer.attach);
  const audit = { statement: `store ${rule.id} version ${rule.version}` };
  return jsonTextReply(200, answer.body(rule), undefined, { audit });
}

const validate: Route = {
  ...WITH_RULE,
  id: 'validateRule',
  method: 'POST',
  path: '/v1/rules/validate',
  role: 'readonly',
  summary: 'Check a rule together with all stored rules, without storing it, and list all its faults.',
  idempotent: false,
  schemas: { body: ruleBody, answers: { 200: validation } },
  handler: (call) => jsonReply(200, requireRules(call).validate(parseJsonBody(call))),
};

export const ruleRoutes: readonly Route[] = [list, store, validate, read, remove];
