// Tests that a query string that is not percent-encoded UTF-8 is refused by every route, even by
// routes without parameters.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../src/routes/index.ts';
import { send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const WRONG = ['%ff', 'x=%ff', 'x=%', 'x=%zz', 'a=1&x=%c3', 'x=%c3%28', 'x=%ed%a0%80', '%c0%af=1', 'x=1+%e9'];
const RIGHT = ['x=%00', 'x=%25', 'x=%c3%a9', 'x=é', 'x=+', 'x=&&=&y=', 'x=%F0%9F%A6%94'];

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s refuses a query string that is not percent-encoded UTF-8',
  async (_name, route) => {
    const path = route.path.replaceAll(/[{}]/g, '');
    const status = route.unprocessable === true ? 422 : 400;
    const body = route.bodyTypes.length > 0 ? {} : undefined;
    for (const query of WRONG) {
      const answer = await send(server, route.method, `${path}?${query}`, body);
      if (route.rateExempt) expect([query, answer.status]).toEqual([query, 200]);
      else {
        expect([query, answer.status, answer.json?.detail]).toEqual([
          query,
          status,
          expect.stringContaining('percent-encoded'),
        ]);
        expect(answer.json.errors[0].loc).toEqual(['query']);
      }
    }
  },
);

test('a valid query string is ignored by routes that take no parameters', async () => {
  for (const path of ['/v1/tables', '/v1/wal', '/health', '/v1/rules', '/v1/analytics'])
    for (const query of RIGHT) {
      const { status } = await send(server, 'GET', `${path}?${query}`);
      expect([path, query, status]).toEqual([path, query, 200]);
    }
});
