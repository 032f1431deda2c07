import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { documentText } from '../../src/routes/description.ts';
import { routes } from '../../src/routes/index.ts';
import { testTransport, transportsHere } from '../support/transport.ts';
import { DescribedApi, type Operation } from './described-answers.ts';
import { makerOf, OWN_PAIRS, type Target, Worlds } from './described-requests.ts';
import type { Answered } from './valid-requests.ts';

const document = JSON.parse(documentText({ routes, version: '1.2.3' }));
const api = new DescribedApi(document);

const routeOf = ({ id }: Operation): Route => routes.find((route) => route.id === id)!;
const isWrite = (operation: Operation) => '507' in operation.responses;

function targetOf(operation: Operation): Target {
  const { role, bodyTypes } = routeOf(operation);
  const writes = operation.id === '' ? [] : api.operations.filter(isWrite);
  return { ...operation, role, hasBody: bodyTypes.length > 0, writes: writes.map(bare) };
}

function bare(operation: Operation): Target {
  return { ...operation, role: 'admin', hasBody: routeOf(operation).bodyTypes.length > 0, writes: [] };
}

const targets = api.operations.map(targetOf);
const pairs = targets.flatMap((target) =>
  Object.keys(target.responses).map((status) => [target.id, Number(status), target] as const),
);

function expectDescribed(operation: Operation, answer: Answered, status: number): void {
  const where = `${operation.id}: ${answer.status} ${answer.text.slice(0, 500)}`;
  expect(answer.status, where).toBe(status);
  expect(api.faults(operation, answer), where).toEqual([]);
}

test('the document lists every route once, and no other', () => {
  const listed = api.operations.map(({ id, method, path }) => [id, method, path]);
  expect(listed).toEqual(routes.map(({ id, method, path }) => [id, method, path]));
  expect(new Set(routes.map((route) => route.id)).size).toBe(routes.length);
});

test('the document lists every status for which there is a test request', () => {
  const listed = new Set(pairs.map(([id, status]) => `${id} ${status}`));
  expect(OWN_PAIRS.filter((pair) => !listed.has(pair))).toEqual([]);
});

const BODIES = ['{', '[]', '{}', '{"table":"nope"}'];
/** The other worlds refuse a request before they read its body. */
const READS_BODIES = ['usual', 'damaged', 'full', 'follower'];

describe.each(transportsHere())('over %s', (transport) => {
  const worlds = new Worlds(testTransport(transport));
  afterAll(() => worlds.close());

  test('the served document is the one that is tested here', async () => {
    const { json } = await (await worlds.get('usual')).as('none', { method: 'GET', path: '/openapi.json' });
    expect(json).toEqual(document);
  });

  describe('every listed status of every route', () => {
    test.each(pairs)('can be caused, and the answer is as described: %s %i', async (_id, status, target) => {
      const make = makerOf(target, status);
      expect(make, `test/service/described-requests.ts has no request for ${target.id} ${status}`).toBeDefined();
      expectDescribed(target, await make!(target, worlds), status);
    });
  });

  describe('every answer', () => {
    test.each(['usual', 'starting', 'overloaded', 'limited', 'damaged', 'full', 'follower'] as const)(
      'is described in the world "%s"',
      async (name) => {
        const world = await worlds.get(name);
        for (const target of targets) {
          for (const role of ['none', 'readonly', 'readwrite', 'admin'] as const) {
            for (const body of target.hasBody
              ? READS_BODIES.includes(name)
                ? BODIES
                : BODIES.slice(0, 1)
              : [undefined]) {
              const path = target.path.replaceAll(/[{}]/g, '');
              const answer = await world.as(role, { method: target.method, path, body });
              expectDescribed(target, answer, answer.status);
            }
          }
        }
      },
    );
  });

  describe('rows as NDJSON', () => {
    const NDJSON = { accept: 'application/x-ndjson' };
    const operation = (id: string) => api.operations.find((one) => one.id === id)!;
    beforeAll(async () => {
      const world = await worlds.get('usual');
      await world.as('admin', { method: 'POST', path: '/v1/tables', body: TABLE });
      const lines = [1, 2, 3].map((ts) => JSON.stringify({ event_ts: ts, members: [1, ts], n: ts, t: 'x', b: true }));
      const headers = { 'content-type': 'application/x-ndjson' };
      const path = '/v1/hyperedges?table=rows';
      const answer = await world.as('admin', { method: 'POST', path, body: `${lines.join('\n')}\n`, headers });
      expectDescribed(operation('insertHyperedge'), answer, 201);
      expect(answer.json).toMatchObject({ inserted: 3 });
    });

    const TABLE = {
      name: 'rows',
      columns: [
        { name: 'n', type: 'INTEGER' },
        { name: 't', type: 'TEXT' },
        { name: 'b', type: 'BOOLEAN' },
      ],
    };

    test.each([
      ['rangeHyperedges', '/v1/hyperedges?start_ts=0&end_ts=9&table=rows'],
      ['lookupNode', '/v1/hyperedges/node/1?table=rows'],
    ])('are as described for %s', async (id, path) => {
      const world = await worlds.get('usual');
      for (const headers of [{}, NDJSON]) {
        const all = await world.as('readonly', { method: 'GET', path, headers });
        expectDescribed(operation(id), all, 200);
        expect(all.text.match(/"event_ts"/g)).toHaveLength(3);
        const page = await world.as('readonly', { method: 'GET', path: `${path}&limit=2`, headers });
        expectDescribed(operation(id), page, 200);
        expect(page.headers.has('x-next-cursor')).toBe(headers === NDJSON);
      }
    });

    test('can be inserted into several tables, and the answer is as described', async () => {
      const world = await worlds.get('usual');
      const body = '{"event_ts":1,"members":[1]}\n{"event_ts":1,"members":[1],"table":"rows"}\n';
      const headers = { 'content-type': 'application/x-ndjson' };
      const answer = await world.as('admin', { method: 'POST', path: '/v1/hyperedges', body, headers });
      expectDescribed(operation('insertHyperedge'), answer, 201);
      expect(Object.keys(answer.json.tables)).toEqual(['hyperedges', 'rows']);
    });
  });

  describe('the check itself', () => {
    const operation = api.operations.find((one) => one.id === 'getTable')!;
    const faultsOf = async (change: (answer: Answered) => Answered) => {
      const world = await worlds.get('usual');
      const answer = await world.as('readonly', { method: 'GET', path: '/v1/tables/hyperedges' });
      return api.faults(operation, change(answer));
    };
    const withJson = (json: unknown) => (answer: Answered) => ({ ...answer, text: JSON.stringify(json) });
    const withHeader = (name: string, value?: string) => (answer: Answered) => {
      const headers = new Headers(answer.headers);
      if (value === undefined) headers.delete(name);
      else headers.set(name, value);
      return { ...answer, headers };
    };

    test('finds no fault in a correct answer', async () => {
      expect(await faultsOf((answer) => answer)).toEqual([]);
    });

    test.each<[string, (answer: Answered) => Answered]>([
      ['another status', (answer) => ({ ...answer, status: 202 })],
      ['a field of another type', (answer) => withJson({ ...answer.json, row_count: '0' })(answer)],
      ['a fraction for an integer', (answer) => withJson({ ...answer.json, row_count: 0.5 })(answer)],
      ['a missing field', (answer) => withJson({ ...answer.json, primary: undefined })(answer)],
      ['a field without a description', (answer) => withJson({ ...answer.json, more: 1 })(answer)],
      ['a missing header', withHeader('x-ratelimit-reset')],
      ['a header of another type', withHeader('x-ratelimit-reset', 'soon')],
      ['a header without a description', withHeader('x-more', '1')],
      ['another content type', withHeader('content-type', 'text/plain')],
    ])('finds %s', async (_name, change) => {
      expect(await faultsOf(change)).not.toEqual([]);
    });
  });
});
