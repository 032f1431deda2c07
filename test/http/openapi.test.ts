import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { buildDocument, documentSteps } from '../../src/http/openapi/document.ts';
import { bodySchema } from '../../src/http/openapi/json-schema.ts';
import type { Route } from '../../src/http/route.ts';
import { integer, integerText, titled, v } from '../../src/http/schema.ts';
import { validated } from '../../src/http/validated.ts';
import { documentText } from '../../src/routes/description.ts';
import { routes } from '../../src/routes/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { expectGolden } from '../support/golden.ts';

const document = JSON.parse(documentText({ routes, version: '1.2.3' }));

describe('the document of the service', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    const broken = structuredClone(document);
    broken.paths['/v1/tables'].get.responses[200].description = 5;
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('equals the reviewed golden file', () => {
    expectGolden('openapi.json', `${JSON.stringify(document, null, 2)}\n`);
  });

  test('has no dangling references and no unused parts', () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map((match) => match[1]!));
    const there = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, named]) => Object.keys(named as object).map((name) => `${kind}/${name}`));
    expect([...used].sort()).toEqual(there.sort());
  });

  test('requires a key wherever the route does', () => {
    expect(document.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    for (const { method, path, role } of routes) {
      const operation = document.paths[path][method.toLowerCase()];
      expect([path, operation['x-role'], operation.security]).toEqual([path, role, role === 'none' ? [] : undefined]);
      expect([path, '401' in operation.responses]).toEqual([path, role !== 'none']);
    }
  });

  test('describes numbers in the query and path as numbers', () => {
    const { parameters } = document.paths['/v1/hyperedges/node/{node_id}'].get;
    const types = parameters
      .filter((one: { name?: string }) => one.name)
      .map((one: { name: string; schema: { type: string } }) => [one.name, one.schema.type]);
    expect(Object.fromEntries(types)).toEqual({
      node_id: ['integer', 'string'],
      kind: 'string',
      members: 'string',
      start_ts: ['integer', 'string'],
      at: ['integer', 'string'],
      times: 'string',
      end_ts: ['integer', 'string'],
      table: 'string',
      limit: 'integer',
      role: 'string',
      cursor: 'string',
    });
  });

  test('describes the redirect of a follower wherever something may be written', () => {
    const redirected = routes.filter(({ path, method }) => {
      return '307' in document.paths[path][method.toLowerCase()].responses;
    });
    const ids = redirected.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['insertHyperedge', 'runQuery', 'proposeVirtualGraph', 'createKey']));
    for (const id of ['rangeHyperedges', 'runMeasure', 'reason', 'createBackup', 'clearVirtualCache'])
      expect(ids).not.toContain(id);
    expect(document.components.responses.Error307.headers.Location).toEqual({ $ref: '#/components/headers/Location' });
  });

  test('describes the answers of the routes for followers as bytes', () => {
    for (const path of ['/v1/log', '/v1/snapshot']) {
      const [content] = Object.values(document.paths[path].get.responses[200].content);
      expect(content).toMatchObject({ schema: { type: 'string', format: 'binary' } });
    }
  });

  test('gives examples that match its own schemas', () => {
    const bodies = routes.flatMap(({ id, schemas }) =>
      schemas.body === undefined ? [] : [[id, schemas.body] as const],
    );
    const checked = bodies.flatMap(([id, schema]) => {
      const { examples = [] } = bodySchema(schema) as { examples?: unknown[] };
      return examples.map((example) => [id, v.safeParse(schema, example).success]);
    });
    expect(checked.length).toBeGreaterThan(5);
    expect(checked.filter(([, success]) => !success)).toEqual([]);
  });
});

describe('a document', () => {
  const tags = [{ name: 'Things', description: 'Things.', paths: ['/things'] }];
  const route = (more: Partial<Parameters<typeof validated>[0]> = {}): Route =>
    validated({
      id: 'getThing',
      method: 'GET',
      path: '/things',
      role: 'none',
      summary: 'A thing.',
      answers: { 200: titled(v.object({ n: v.nullable(integer()) }), 'Thing') },
      handler: () => {
        throw new Error('not called');
      },
      ...more,
    });
  // biome-ignore lint/suspicious/noExplicitAny: the document is walked freely.
  const build = (routes: Route[]): any =>
    buildDocument({ routes, tags, version: '1', introduction: '', operations: {}, examples: {} });

  test('is built one route a step', () => {
    const routes = Array.from({ length: 20 }, (_, place) => route({ id: `get${place}`, path: `/things/${place}` }));
    const steps = documentSteps({ routes, tags, version: '1', introduction: '', operations: {}, examples: {} });
    expect([...steps].length).toBeGreaterThanOrEqual(routes.length);
    expect(build(routes)).toEqual(
      finish(documentSteps({ routes, tags, version: '1', introduction: '', operations: {}, examples: {} })),
    );
  });

  test('contains each titled schema only once', () => {
    const other = route({
      id: 'getThings',
      path: '/things/all',
      answers: { 200: v.array(titled(v.object({ n: v.nullable(integer()) }), 'Thing')) },
    });
    const built = build([route(), other]);
    const schemaOf = (path: string) => built.paths[path].get.responses[200].content['application/json'].schema;
    expect(schemaOf('/things')).toEqual({ $ref: '#/components/schemas/Thing' });
    expect(schemaOf('/things/all')).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Thing' } });
    expect(built.components.schemas.Thing).toMatchObject({ properties: { n: { type: ['integer', 'null'] } } });
  });

  test('is refused when two schemas have the same title or a route has no tag', () => {
    const other = route({
      id: 'getOther',
      path: '/things/b',
      answers: { 200: titled(v.object({ m: integer() }), 'Thing') },
    });
    expect(() => build([route(), other])).toThrow('two schemas are called Thing');
    expect(() => build([route({ path: '/thingsome' })])).toThrow('/thingsome belongs to no tag');
  });

  test('lists the errors that follow from the properties of a route', () => {
    const errorsOf = (more: Parameters<typeof route>[0]) =>
      Object.keys(build([route(more)]).paths['/things'][(more?.method ?? 'GET').toLowerCase()].responses)
        .map(Number)
        .filter((status) => status >= 300);
    expect(errorsOf({ database: false, rateExempt: true })).toEqual([]);
    expect(errorsOf({ database: false })).toEqual([400, 403, 429, 503]);
    expect(errorsOf({ role: 'readonly', query: v.object({ n: integerText() }), errors: [404] })).toEqual([
      400, 401, 403, 404, 429, 503, 504,
    ]);
    expect(errorsOf({ method: 'POST', role: 'readwrite', body: v.object({}), idempotent: true })).toEqual([
      307, 400, 401, 403, 409, 413, 415, 429, 503, 507,
    ]);
  });
});
