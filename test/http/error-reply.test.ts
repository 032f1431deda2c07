import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { errorReply } from '../../src/http/error-reply.ts';

interface Described {
  components: { schemas: { Error: { properties: Record<string, unknown> } } };
}

const described = JSON.parse(readFileSync(new URL('../golden/openapi.json', import.meta.url), 'utf8')) as Described;

describe('the body of an error', () => {
  const always = ['detail', 'code', 'status', 'request_id', 'errors'];
  const fields = Object.keys(described.components.schemas.Error.properties).filter((name) => !always.includes(name));

  test.each(fields)('contains the field %s, which OpenAPI describes', (name) => {
    const error = new HedgerowError('transaction_expired', 'text', { fields: { [name]: 'x', file: '/db/log' } });
    const body = JSON.parse(errorReply(error, 'r1').body as string) as Record<string, unknown>;
    expect(body).toEqual({ detail: 'text', code: 'transaction_expired', status: 409, request_id: 'r1', [name]: 'x' });
  });
});
