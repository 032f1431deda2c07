// Routes that list, create and revoke API keys.

import type { NewKey } from '../access/keys.ts';
import { refusal } from '../errors.ts';
import { jsonReply } from '../http/index.ts';
import { v } from '../http/schema.ts';
import { type Keys, type Route, type Services, validated } from './application.ts';
import { createdKey, keyBody, keyItem, keyParameters, revokeAnswer } from './schemas/keys.ts';

const list = validated({
  id: 'listKeys',
  method: 'GET',
  path: '/v1/keys',
  role: 'admin',
  summary: 'Id, role and times of all keys that are not revoked, oldest first.',
  isOfService: true,
  answers: { 200: v.array(keyItem) },
  errors: [503],
  handler: (_input, { services }) => jsonReply(200, requireKeys(services).list()),
});

const create = validated({
  id: 'createKey',
  method: 'POST',
  path: '/v1/keys',
  role: 'admin',
  summary: 'Create a key. The answer is the only place that ever shows it.',
  audit: 'key.created',
  body: keyBody,
  answers: { 200: createdKey },
  errors: [503],
  handler: async ({ body }, { services }) => {
    const input: NewKey = { role: body.role };
    if (body.description !== undefined) input.description = body.description;
    if (body.expires_days !== undefined) input.expiresDays = body.expires_days;
    const created = await requireKeys(services).create(input);
    const statement = `create ${created.key_id} ${created.role}`;
    const reply = jsonReply(200, created, undefined, { audit: { statement } });
    return { ...reply, headers: [['Cache-Control', 'no-store']] };
  },
});

const revoke = validated({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/v1/keys/{key_id}',
  role: 'admin',
  summary: 'Revoke a key, at once and for good.',
  audit: 'key.revoked',
  parameters: keyParameters,
  answers: { 200: revokeAnswer },
  errors: [404, 409, 503],
  handler: async ({ parameters: { key_id } }, { services }) => {
    await requireKeys(services).revoke(key_id);
    return jsonReply(200, { key_id, revoked: true }, undefined, { audit: { statement: `revoke ${key_id}` } });
  },
});

/** Returns the key store. Throws `no_keys` while keys are disabled. */
function requireKeys({ authDisabled, keys }: Services): Keys {
  if (!authDisabled && keys !== undefined) return keys;
  throw refusal('no_keys', 'Keys are turned off (HEDGEROW_AUTH_DISABLED=1): there are none to manage.');
}

/**
 * Wraps a route so that it answers `no_keys` while keys are disabled, whatever the body contains.
 */
function withKeysOnly(route: Route): Route {
  return {
    ...route,
    handler: (call) => {
      requireKeys(call.services);
      return route.handler(call);
    },
  };
}

export const keyRoutes: readonly Route[] = [list, create, revoke].map(withKeysOnly);
