// Creates keys in every possible state through the API, and builds the headers that carry them.

import { ADMIN_KEY } from './child.ts';
import { type Answered, type AsAdmin, type Sent, send } from './valid-requests.ts';

export const CALLERS = [
  'no key',
  'malformed',
  'unknown',
  'revoked',
  'expired',
  'readonly',
  'readwrite',
  'admin',
] as const;
export type Caller = (typeof CALLERS)[number];

/** The two ways to send a key. */
export const FORMS = {
  'X-API-Key': (key: string) => ({ 'x-api-key': key }),
  Authorization: (key: string) => ({ authorization: `Bearer ${key}` }),
} as const;
export type Form = keyof typeof FORMS;

export interface Keys {
  asAdmin: AsAdmin;
  of: Readonly<Record<Exclude<Caller, 'no key'>, string>>;
  headers(caller: Caller, form?: Form): Record<string, string>;
  send(caller: Caller, request: Sent, form?: Form): Promise<Answered>;
}

/** Creates the keys on a service whose first admin key is ADMIN_KEY. */
export async function makeKeys(url: string): Promise<Keys> {
  const asAdmin: AsAdmin = (request) =>
    send(url, { ...request, headers: { ...FORMS['X-API-Key'](ADMIN_KEY), ...request.headers } });
  const make = async (input: { role: string; expires_days?: number }) => {
    const { status, json, text } = await asAdmin({ method: 'POST', path: '/v1/keys', body: input });
    if (status !== 200) throw new Error(`no key was made: ${text}`);
    return json as { key_id: string; plaintext_key: string };
  };
  const revoked = await make({ role: 'admin' });
  await asAdmin({ method: 'DELETE', path: `/v1/keys/${revoked.key_id}` });
  const expired = await make({ role: 'admin', expires_days: 1e-6 });
  await untilRefused(url, expired.plaintext_key);
  const of = {
    malformed: 'not a key at all',
    unknown: `hgr_${'u'.repeat(43)}`,
    revoked: revoked.plaintext_key,
    expired: expired.plaintext_key,
    readonly: (await make({ role: 'readonly' })).plaintext_key,
    readwrite: (await make({ role: 'readwrite' })).plaintext_key,
    admin: (await make({ role: 'admin' })).plaintext_key,
  };
  const headers = (caller: Caller, form: Form = 'X-API-Key') => (caller === 'no key' ? {} : FORMS[form](of[caller]));
  return {
    asAdmin,
    of,
    headers,
    send: (caller, request, form) =>
      send(url, { ...request, headers: { ...headers(caller, form), ...request.headers } }),
  };
}

async function untilRefused(url: string, key: string): Promise<void> {
  for (;;) {
    const { status } = await send(url, { method: 'GET', path: '/v1/wal', headers: FORMS['X-API-Key'](key) });
    if (status === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
