// Tests the complete life of a virtual graph over HTTP, on every backend, with every documented
// status.

import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { BACKEND_NAMES, BACKENDS, EDGES, makeRoot, specOf, tripRows, tripsSql } from '../virtual/door-world.ts';
import { type Answer, Recorder, send, startServer, type TestRole, type TestServer } from './support.ts';

const QUERY = 'MATCH (t:Trip){origin:Place, target:Place} WHERE origin.id = 5 RETURN t';
const ALL = 'MATCH (t:Trip){origin:Place, target:Place} RETURN t';

const data = tripRows(60, 3);
const postgres: TestPostgres | undefined = await startPostgres();
const observer = new Recorder();
let server: TestServer;
let root: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ root, remove } = await makeRoot(data));
  for (const sql of tripsSql(data)) await postgres?.run(`SET TimeZone = 'UTC'; ${sql}`);
  const dsns = {
    ...(postgres === undefined ? {} : { PG: postgres.address }),
    GONE: 'postgres://user:unheard-of@127.0.0.1:9/nothing',
  };
  server = await startServer({ auth: true, observer, virtualRoot: root, dsns });
});
afterAll(async () => {
  await server.close();
  await postgres?.stop();
  await remove();
});

function ask(method: string, path: string, body?: unknown, role: TestRole = 'readwrite'): Promise<Answer> {
  return send(server, method, `/v1/virtual/${path}`, body, { 'x-api-key': server.keys[role] });
}
const refused = async (answer: Promise<Answer>) => {
  const { status, json } = await answer;
  expect(typeof json.detail).toBe('string');
  expect(json.status).toBe(status);
  return [status, json.code];
};
const sortedKeys = (value: object) => Object.keys(value).sort();

describe.each(BACKEND_NAMES.filter((name) => name !== 'postgres' || postgres !== undefined))(
  'a graph with a %s backend',
  (name) => {
    const id = `life-of-${name}`;
    const backend = BACKENDS[name];

    test('can be proposed, saved, introspected, compiled, queried, cached, replaced and deleted', async () => {
      const proposed = await ask('POST', 'propose', { backend, id, name: 'Mine', save: false }, 'readonly');
      expect(proposed.status).toBe(200);
      expect(sortedKeys(proposed.json)).toEqual(['llm_used', 'rationale', 'saved', 'spec']);
      expect(proposed.json).toMatchObject({ saved: false, llm_used: false, spec: { id, name: 'Mine', backend } });
      expect(proposed.json.spec.spec_version).toBeUndefined();
      expect(proposed.json.rationale).toEqual(
        proposed.json.spec.edges.map(({ label }: { label: string }) => ({ edge: label, reason: expect.any(String) })),
      );
      expect((await ask('GET', `graphs/${id}`)).status).toBe(404);

      const saved = await ask('POST', 'propose', { backend, id, save: true });
      expect([saved.status, saved.json.saved, saved.json.spec.spec_version]).toEqual([200, true, 1]);
      expect(observer.audits.at(-1)).toMatchObject({ event: 'virtual.created', statement: `create ${id}` });
      expect((await ask('GET', `graphs/${id}`, undefined, 'readonly')).json).toEqual(saved.json.spec);
      expect((await ask('DELETE', `graphs/${id}`)).json).toEqual({ id, deleted: true });

      const created = await ask('POST', 'graphs', specOf(name, id));
      expect(created.status).toBe(201);
      expect(created.json).toEqual({ ...specOf(name, id), spec_version: 1 });
      const { graphs } = (await ask('GET', 'graphs', undefined, 'readonly')).json;
      expect(graphs.filter((graph: { id: string }) => graph.id === id)).toEqual([
        {
          id,
          name: `Trips of ${name}`,
          backend_type: name,
          edge_labels: EDGES.map(({ label }) => label),
          node_labels: ['Place', 'Driver'],
          spec_version: 1,
        },
      ]);

      const introspected = await ask('GET', `graphs/${id}/introspect`, undefined, 'readonly');
      expect([introspected.status, sortedKeys(introspected.json)]).toEqual([200, ['tables']]);
      const [table] = introspected.json.tables;
      expect(sortedKeys(table)).toEqual(['columns', 'name', 'row_count']);
      expect([table.name, table.row_count]).toEqual(['trips', 60]);
      expect(table.columns.map(sortedKeys)).toEqual(table.columns.map(() => ['name', 'type']));
      expect(table.columns[0].name).toBe('trip');

      const compiled = await ask('POST', `graphs/${id}/compile`, { query: QUERY }, 'readonly');
      expect([compiled.status, sortedKeys(compiled.json)]).toEqual([200, ['plan', 'sql']]);
      expect(compiled.json.sql).toMatch(/^SELECT .*\nFROM "trips".*\nWHERE .*"origin".*\$1/s);
      expect(compiled.json.plan).toEqual({
        edge_label: 'Trip',
        members: [
          { name: 'origin', node_label: 'Place', column: 'origin', role: 'src' },
          { name: 'target', node_label: 'Place', column: 'target', role: 'dst' },
          { name: 'driver', node_label: 'Driver', column: 'driver', role: 'via' },
        ],
        edge_predicates: [],
        member_predicates: [{ member: 'origin', op: '=', value: 5 }],
        size_predicates: [],
      });

      const query = (more: object = {}) => ask('POST', `graphs/${id}/query`, { query: QUERY, ...more }, 'readonly');
      const first = await query();
      expect(first.status).toBe(200);
      expect(sortedKeys(first.json)).toEqual(['cache_enabled', 'cached', 'count', 'hyperedges', 'skipped', 'sql']);
      const { hyperedges } = first.json;
      expect(first.json).toMatchObject({ cached: false, cache_enabled: true, count: hyperedges.length });
      expect(hyperedges.length).toBeGreaterThan(0);
      for (const edge of hyperedges) {
        expect(sortedKeys(edge)).toEqual(['edge_label', 'event_ts', 'members', 'properties', 'provenance']);
        expect(edge.members[0]).toEqual({ vertex_local_id: 'place:5', role: 'src', name: 'origin' });
        expect(edge.provenance).toEqual({ graph: id, spec_version: 1, captured_at: 0 });
        expect(Number.isSafeInteger(edge.event_ts)).toBe(true);
      }
      expect((await query()).json).toEqual({ ...first.json, cached: true });
      const captured = await query({ captured_at: 77 });
      expect([captured.json.cached, captured.json.hyperedges[0].provenance.captured_at]).toEqual([true, 77]);
      const isoCapture = await query({ captured_at: '1970-01-01T01:00+01:00', times: 'epoch' });
      expect(isoCapture.json).toEqual({ ...first.json, cached: true });
      const isoEdges = hyperedges.map((edge: { event_ts: number; provenance: object }) => ({
        ...edge,
        event_ts: new Date(edge.event_ts * 1000).toISOString().replace('.000Z', 'Z'),
        provenance: { ...edge.provenance, captured_at: '1970-01-01T00:00:00Z' },
      }));
      // The first query is answered from the cache, the second from the backend.
      expect((await query({ times: 'iso' })).json).toEqual({ ...first.json, cached: true, hyperedges: isoEdges });
      expect((await query({ times: 'iso', refresh: true })).json).toEqual({ ...first.json, hyperedges: isoEdges });
      expect((await query({ refresh: true })).json).toEqual(first.json);
      const since = (time: unknown) =>
        query({ query: QUERY.replace(' RETURN', ` AND t.event_ts >= ${JSON.stringify(time)} RETURN`) });
      const written = await since(isoEdges.at(-1).event_ts);
      expect(written.json.hyperedges).toEqual((await since(hyperedges.at(-1).event_ts)).json.hyperedges);
      expect(written.json.count).toBeGreaterThan(0);
      expect((await query({ limit: 1 })).json).toMatchObject({ count: 1, cached: false });
      expect((await query({ limit: 0 })).json).toMatchObject({ count: 0, hyperedges: [] });
      expect((await query({ query: `${QUERY} LIMIT 0`, limit: 1 })).json.count).toBe(1);
      expect((await query({ query: `${QUERY} LIMIT 1`, limit: null })).json.count).toBe(1);

      const replaced = await ask('PUT', `graphs/${id}`, { ...specOf(name, id), name: 'Renamed' });
      expect([replaced.status, replaced.json]).toEqual([
        200,
        { ...specOf(name, id), name: 'Renamed', spec_version: 2 },
      ]);
      const again = await query();
      expect([again.json.cached, again.json.hyperedges[0].provenance.spec_version]).toEqual([false, 2]);
      await query({ limit: 1 });
      expect((await ask('DELETE', `graphs/${id}/cache`)).json).toEqual({ id, cleared: 2 });
      expect((await ask('DELETE', `graphs/${id}/cache`)).json).toEqual({ id, cleared: 0 });
      expect((await query()).json.cached).toBe(false);

      expect((await ask('DELETE', `graphs/${id}`)).json).toEqual({ id, deleted: true });
      for (const [method, path, body] of [
        ['GET', `graphs/${id}`],
        ['DELETE', `graphs/${id}`],
        ['DELETE', `graphs/${id}/cache`],
        ['PUT', `graphs/${id}`, specOf(name, id)],
        ['GET', `graphs/${id}/introspect`],
        ['POST', `graphs/${id}/compile`, { query: QUERY }],
        ['POST', `graphs/${id}/query`, { query: QUERY }],
        ['POST', `graphs/${id}/materialize`, { query: QUERY, table: 'made' }],
      ] as const)
        expect([path, ...(await refused(ask(method, path, body)))]).toEqual([path, 404, 'graph_not_found']);
      await ask('POST', 'graphs', specOf(name, id));
      expect((await query()).json).toMatchObject({ cached: false, count: hyperedges.length });
      await ask('DELETE', `graphs/${id}`);
    });

    test('reports a missing table or column when a query is compiled', async () => {
      const [edge, ...edges] = specOf(name).edges as unknown as [Record<string, unknown>];
      const specs = {
        table: { ...specOf(name, `${id}-t`), edges: [{ ...edge, table: 'nowhere' }] },
        column: { ...specOf(name, `${id}-c`), edges: [{ ...edge, ts_column: 'left_att' }, ...edges] },
      };
      for (const [what, spec] of Object.entries(specs)) {
        expect((await ask('POST', 'graphs', spec)).status).toBe(201);
        for (const route of ['compile', 'query']) {
          const answer = await ask('POST', `graphs/${spec.id}/${route}`, { query: ALL });
          expect([what, route, answer.status]).toEqual([what, route, 400]);
          expect(answer.json.detail).toContain(what === 'table' ? 'nowhere' : 'did you mean left_at');
        }
      }
    });
  },
);

describe('the routes of virtual graphs', () => {
  beforeAll(async () => {
    await ask('POST', 'graphs', specOf('csv', 'known'));
  });

  test('list the backends', async () => {
    const { status, json } = await ask('GET', 'backends', undefined, 'readonly');
    expect(status).toBe(200);
    expect(json).toEqual({
      backends: ['duckdb', 'parquet', 'csv', 'json', 'postgres'].map((type) => {
        return { type, available: true, description: expect.any(String) };
      }),
    });
  });

  test('refuse an id that exists already with 409, even in a proposal', async () => {
    expect(await refused(ask('POST', 'graphs', specOf('csv', 'known')))).toEqual([409, 'graph_exists']);
    const proposal = { backend: BACKENDS.csv, id: 'known', save: true };
    expect(await refused(ask('POST', 'propose', proposal))).toEqual([409, 'graph_exists']);
    expect((await ask('POST', 'propose', { ...proposal, save: false })).status).toBe(200);
  });

  test('let a readonly key propose but not save', async () => {
    const denied = observer.audits.length;
    const save = { backend: BACKENDS.csv, id: 'sneaked', save: true };
    expect(await refused(ask('POST', 'propose', save, 'readonly'))).toEqual([403, 'forbidden']);
    expect(observer.audits.slice(denied).map(({ event }) => event)).toEqual(['auth.denied']);
    expect((await ask('POST', 'propose', { ...save, save: false }, 'readonly')).status).toBe(200);
    expect(observer.audits.length).toBe(denied + 1);
    for (const [method, path, body] of [
      ['POST', 'graphs', specOf('csv', 'sneaked')],
      ['PUT', 'graphs/known', specOf('csv', 'known')],
      ['DELETE', 'graphs/known'],
      ['DELETE', 'graphs/known/cache'],
      ['POST', 'graphs/known/materialize', { query: ALL, table: 'sneaked' }],
    ] as const)
      expect([path, ...(await refused(ask(method, path, body, 'readonly')))]).toEqual([path, 403, 'forbidden']);
    expect((await ask('GET', 'graphs/sneaked')).status).toBe(404);
  });

  const invalid: [name: string, spec: unknown][] = [
    ['no object', []],
    ['no id', { ...specOf('csv'), id: undefined }],
    ['an id with a slash', { ...specOf('csv'), id: 'a/b' }],
    ['no backend', { ...specOf('csv'), backend: undefined }],
    ['an unknown backend', { ...specOf('csv'), backend: { type: 'excel', path: 'a.xlsx' } }],
    ['a path outside the root', { ...specOf('csv'), backend: { type: 'csv', path: '../trips.csv' } }],
    ['an absolute path elsewhere', { ...specOf('csv'), backend: { type: 'csv', path: '/etc/passwd' } }],
    ['an address for a file', { ...specOf('csv'), backend: { type: 'csv', path: 'https://x.example/a.csv' } }],
    ['an address for a name', { ...specOf('csv'), backend: { type: 'postgres', dsn: 'postgres://u:p@h/d' } }],
    ['a password', { ...specOf('csv'), backend: { type: 'postgres', dsn: 'PG', password: 'hunter2hunter2' } }],
    ['no edges', { ...specOf('csv'), edges: [] }],
    ['an unknown shape', { ...specOf('csv'), edges: [{ ...EDGES[0], shape: 'star' }] }],
    ['a member without column', { ...specOf('csv'), edges: [{ ...EDGES[0], row_member_columns: { origin: 'o' } }] }],
    ['two edges of one label', { ...specOf('csv'), edges: [EDGES[0], EDGES[0]] }],
    ['a label of no node', { ...specOf('csv'), nodes: [{ label: 'X', table: 't', id_column: 'x' }] }],
  ];
  test.each(invalid)('refuse a spec with 400: %s', async (_name, spec) => {
    for (const answer of [await ask('POST', 'graphs', spec), await ask('PUT', 'graphs/known', spec)]) {
      expect([answer.status, typeof answer.json.detail]).toEqual([400, 'string']);
      expect(answer.text).not.toMatch(/hunter2|u:p@/);
    }
    expect((await ask('GET', 'graphs/known')).json.spec_version).toBe(1);
  });

  test('refuse a replacement with another id in its body with 400', async () => {
    const answer = await ask('PUT', 'graphs/known', specOf('csv', 'other'));
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_input']);
    expect(answer.json.errors).toEqual([{ loc: ['body', 'id'], msg: expect.any(String) }]);
  });

  test('refuse a backend outside the configuration with the name of the setting', async () => {
    const outside = await ask('POST', 'graphs', { ...specOf('csv'), backend: { type: 'csv', path: '/etc/passwd' } });
    expect(outside.json.detail).toMatch(/^backend\.path leads out of .* See the setting HEDGEROW_VIRTUAL_ROOT\.$/);
    const unnamed = await ask('POST', 'graphs', { ...specOf('csv'), backend: { type: 'postgres' } });
    expect(unnamed.json.detail).toMatch(/^backend\.dsn is missing: .* See the setting HEDGEROW_VIRTUAL_DSN_<NAME>\.$/);
    const listed = await ask('GET', 'backends');
    for (const { description } of listed.json.backends) expect(description).toMatch(/See the setting HEDGEROW_/);
  });

  const queries: [name: string, query: string][] = [
    ['two patterns', 'MATCH (t:Trip){origin:Place}, (u:Trip){target:Place} RETURN t'],
    ['two MATCHes', 'MATCH (t:Trip){origin:Place} MATCH (u:Trip){target:Place} RETURN t'],
    ['an unknown label', 'MATCH (t:Tripp){origin:Place} RETURN t'],
    ['an unknown member', 'MATCH (t:Trip){from:Place} RETURN t'],
    ['another label of a member', 'MATCH (t:Trip){origin:Driver} RETURN t'],
    ['an unknown column', 'MATCH (t:Trip){origin:Place} WHERE t.nope = 1 RETURN t'],
    ['a literal of another type', "MATCH (t:Trip){origin:Place} WHERE origin.id = 'x' RETURN t"],
    ['nothing', ''],
    ['SQL', 'SELECT * FROM trips'],
    ['half a query', 'MATCH (t:Trip){origin:Place'],
    ['a second statement after it', `${ALL}; DROP TABLE trips`],
  ];
  test.each(queries)('refuse a query with 400: %s', async (_name, query) => {
    for (const route of ['compile', 'query'])
      expect((await refused(ask('POST', `graphs/known/${route}`, { query })))[0]).toBe(400);
    const copy = { query, table: 'never' };
    expect((await refused(ask('POST', 'graphs/known/materialize', copy)))[0]).toBe(400);
  });

  test.each([
    ['no query', {}],
    ['a query that is not a text', { query: 5 }],
    ['a negative limit', { query: ALL, limit: -1 }],
    ['a broken limit', { query: ALL, limit: 1.5 }],
    ['a limit that is a text', { query: ALL, limit: '1' }],
    ['a captured_at that is a text', { query: ALL, captured_at: 'now' }],
    ['times that are neither', { query: ALL, times: 'seconds' }],
    ['a refresh that is a number', { query: ALL, refresh: 1 }],
    ['no JSON', '{'],
    ['a list', []],
  ])('refuse a body with 400: %s', async (_name, body) => {
    expect((await refused(ask('POST', 'graphs/known/query', body)))[0]).toBe(400);
  });

  test('create a spec for a missing backend, and answer its use with 502', async () => {
    const missing = {
      file: { type: 'csv', path: 'missing.csv' },
      pattern: { type: 'parquet', path: 'none-*.parquet' },
      database: { type: 'duckdb', path: 'missing.duckdb' },
      name: { type: 'postgres', dsn: 'UNSET' },
      server: { type: 'postgres', dsn: 'GONE' },
    };
    for (const [what, backend] of Object.entries(missing)) {
      const id = `missing-${what}`;
      expect([what, (await ask('POST', 'graphs', { ...specOf('csv', id), backend })).status]).toEqual([what, 201]);
      const uses = [
        ask('GET', `graphs/${id}/introspect`),
        ask('POST', `graphs/${id}/compile`, { query: ALL }),
        ask('POST', `graphs/${id}/query`, { query: ALL }),
        ask('POST', `graphs/${id}/materialize`, { query: ALL, table: 'never' }),
        ask('POST', 'propose', { backend }),
      ];
      for (const use of uses) {
        expect([what, ...(await refused(use))]).toEqual([what, 502, 'backend_failed']);
        expect((await use).text).not.toMatch(/unheard-of/);
      }
    }
  });

  test('answer a file in the wrong format with 502 without revealing paths of this machine', async () => {
    await symlink(join(root, 'trips.json'), join(root, 'false.parquet'));
    await ask('POST', 'graphs', { ...specOf('parquet', 'false'), backend: { type: 'parquet', path: 'false.parquet' } });
    const answer = await ask('POST', 'graphs/false/query', { query: ALL });
    expect([answer.status, answer.json.code]).toEqual([502, 'backend_failed']);
    expect(answer.text).not.toContain(root);
    await rm(join(root, 'false.parquet'));
  });

  test('refuse a path below a link to an outside folder without revealing what is in the folder', async () => {
    await symlink('/etc', join(root, 'etc'));
    try {
      for (const path of ['etc/passwd', 'etc/absent', 'etc/pass*', 'etc/absent*', 'etc/absent/passwd', '*/absent']) {
        const answer = await ask('POST', 'graphs', { ...specOf('csv', 'below'), backend: { type: 'csv', path } });
        expect([path, answer.status, answer.json.code]).toEqual([path, 400, 'invalid_input']);
        expect(answer.json.detail).toMatch(/by a link.* See the setting HEDGEROW_VIRTUAL_ROOT\.$/);
      }
    } finally {
      await rm(join(root, 'etc'));
    }
  });

  test('refuse a link to an outside file, whether it existed at creation or was made later', async () => {
    const spec = { ...specOf('csv', 'link'), backend: { type: 'csv', path: 'link.csv' } };
    await symlink('/etc/passwd', join(root, 'link.csv'));
    expect(await refused(ask('POST', 'graphs', spec))).toEqual([400, 'invalid_input']);
    await rm(join(root, 'link.csv'));
    await ask('POST', 'graphs', spec);
    await symlink('/etc/passwd', join(root, 'link.csv'));
    expect(await refused(ask('POST', 'graphs/link/query', { query: ALL }))).toEqual([400, 'invalid_input']);
    await rm(join(root, 'link.csv'));
  });
});
