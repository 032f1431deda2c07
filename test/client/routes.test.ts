import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HedgerowClient, type NewVirtualGraph, OPERATIONS, type Operation } from '../../src/client/index.ts';
import { routes } from '../../src/routes/index.ts';
import { startWorld, type World } from '../service/worlds.ts';

/** Pages for people rather than programs. */
const PAGES = ['getDocs', 'getDocsFile', 'getConsole', 'getConsoleFile'];

/** Routes for followers, whose answers are bytes. */
const FOR_FOLLOWERS = ['readLog', 'readSnapshot'];

let world: World;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-client-'));
  writeFileSync(join(folder, 'trips.csv'), 'trip_id,left_at,origin_id,target_id\n1,1700000000,5,7\n2,1700000060,7,9\n');
  world = await startWorld({ rooms: { virtualRoot: folder } });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

test('the client has every route with its name, method, path and use of an Idempotency-Key', () => {
  const known: Record<string, Operation> = OPERATIONS;
  const expected = routes
    .filter((route) => ![...PAGES, ...FOR_FOLLOWERS].includes(route.id))
    .map(({ id, method, path, idempotent }) => [id, { method, path, idempotent }]);
  expect(known).toEqual(Object.fromEntries(expected));
});

const RULE = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }],
  then: { pred: 'seen', args: ['?A'] },
};

const TRIPS = {
  id: 'trips',
  backend: { type: 'csv', path: 'trips.csv' },
  nodes: [{ label: 'Place', table: 'trips', id_column: 'origin_id' }],
  edges: [
    {
      label: 'Trip',
      shape: 'row',
      table: 'trips',
      ts_column: 'left_at',
      row_member_columns: { origin: 'origin_id', target: 'target_id' },
      members: [
        { name: 'origin', node_label: 'Place', role: 'src' },
        { name: 'target', node_label: 'Place', role: 'dst' },
      ],
    },
  ],
} as const satisfies NewVirtualGraph;
const ALL_TRIPS = 'MATCH (t:Trip){origin:Place} RETURN t';

type Calls = Readonly<Record<string, (client: HedgerowClient) => unknown>>;

/**
 * One call of every method of the client, by resource. Methods that only return another method's
 * answer in a different form are omitted.
 */
const CALLS = {
  service: {
    live: (client) => client.service.live(),
    ready: (client) => client.service.ready(),
    health: (client) => client.service.health(),
    metrics: (client) => client.service.metrics(),
    openapi: (client) => client.service.openapi(),
  },
  tables: {
    create: (client) => client.tables.create({ name: 'ships', columns: [{ name: 'speed', type: 'REAL' }] }),
    list: (client) => client.tables.list(),
    get: (client) => client.tables.get('ships'),
    drop: (client) => client.tables.drop('ships'),
  },
  hyperedges: {
    insert: (client) => client.hyperedges.insert({ event_ts: 5, members: [1, 2], weight: 0.5 }),
    insertMany: (client) => client.hyperedges.insertMany([{ event_ts: 6, members: [1] }]),
    range: (client) => client.hyperedges.range({ start_ts: 0, end_ts: 9 }),
    rangeRows: (client) => client.hyperedges.rangeRows({ start_ts: 0, end_ts: 9 }),
    rangePages: (client) => client.hyperedges.rangePages({ start_ts: 0, end_ts: 9, limit: 1 }),
    get: async (client) =>
      client.hyperedges.get((await client.hyperedges.range({ start_ts: 0, end_ts: 9 })).hyperedges[0]!.id),
    patch: async (client) => {
      const { hyperedges } = await client.hyperedges.range({ start_ts: 0, end_ts: 9 });
      return client.hyperedges.patch(hyperedges[0]!.id, { weight: 1 });
    },
    node: (client) => client.hyperedges.node(1),
    nodeRows: (client) => client.hyperedges.nodeRows(1),
    nodePages: (client) => client.hyperedges.nodePages(1, { limit: 1 }),
    delete: (client) => client.hyperedges.delete({ event_ts: 5, members: [2, 1] }),
    compact: (client) => client.hyperedges.compact(),
  },
  nodeTables: {
    create: (client) =>
      client.nodeTables.create({
        name: 'People',
        key: { name: 'name', type: 'TEXT' },
        columns: [{ name: 'born', type: 'INTEGER' }],
      }),
    list: (client) => client.nodeTables.list(),
    get: (client) => client.nodeTables.get('People'),
    drop: async (client) => {
      await client.nodeTables.create({ name: 'Gone', key: { name: 'id', type: 'INTEGER' } });
      return client.nodeTables.drop('Gone');
    },
  },
  nodes: {
    write: (client) => client.nodes.write('People', { name: 'Ada' }),
    writeMany: (client) => client.nodes.writeMany('People', [{ name: 'Ada' }, { name: 'a/b', born: 1 }]),
    put: (client) => client.nodes.put('People', 'a/b', { born: 2 }),
    patch: (client) => client.nodes.patch('People', 'Ada', { born: 1815 }),
    get: (client) => client.nodes.get('People', 'a/b'),
    list: (client) => client.nodes.list('People'),
    rows: (client) => client.nodes.rows('People'),
    pages: (client) => client.nodes.pages('People', { limit: 1 }),
    delete: (client) => client.nodes.delete('People', 'a/b'),
  },
  indexes: {
    create: (client) => client.indexes.create({ table: 'hyperedges', column: 'weight' }),
    list: (client) => client.indexes.list(),
    drop: (client) => client.indexes.drop('hyperedges', 'weight'),
    dropText: async (client) => {
      await client.query.run('CREATE TEXT INDEX ON hyperedges (formation)');
      return client.indexes.dropText('hyperedges');
    },
  },
  query: {
    run: (client) => client.query.run('MATCH (e:hyperedges) RETURN count(*) AS n'),
    rows: (client) => client.query.rows('MATCH (e:hyperedges) RETURN e.id'),
  },
  analytics: {
    list: (client) => client.analytics.list(),
    run: (client) => client.analytics.run('hyperedges', 's_adjacency', { s: 1 }),
  },
  rules: {
    put: (client) => client.rules.put(RULE),
    list: (client) => client.rules.list(),
    get: (client) => client.rules.get(RULE.id),
    validate: (client) => client.rules.validate(RULE),
    delete: (client) => client.rules.delete(RULE.id),
  },
  memory: {
    remember: (client) => client.memory.remember({ what: 'The budget is 40.', about: ['Orion'], when: 1000 }),
    supersede: async (client) => {
      const { id } = await client.memory.remember({ what: 'The budget is 40.', about: ['Orion'], when: 1000 });
      return client.memory.supersede({ id, what: 'The budget is 55.', at: 2000 });
    },
    recall: (client) => client.memory.recall({ question: 'Which budget?', about: ['Orion'] }),
    history: (client) => client.memory.history({ about: ['Orion'] }),
  },
  reasoning: {
    reason: (client) => client.reasoning.reason({ query: '', rules: [RULE] }),
    ask: (client) => client.reasoning.ask({ query: 'node 1', mock: true }),
    check: (client) => client.reasoning.check({ claims: ['Nodes 1 and 2 met.'], edge_ids: [1] }),
    parse: (client) => client.reasoning.parse('node 1'),
    interaction: async (client) => {
      const { interaction_id } = await client.reasoning.ask({ query: '', mode: 'symbolic' });
      return client.reasoning.interaction(interaction_id);
    },
  },
  virtual: {
    backends: (client) => client.virtual.backends(),
    propose: (client) => client.virtual.propose({ backend: TRIPS.backend, id: 'other' }),
    create: (client) => client.virtual.create(TRIPS),
    list: (client) => client.virtual.list(),
    get: (client) => client.virtual.get('trips'),
    replace: (client) => client.virtual.replace('trips', { ...TRIPS, name: 'All trips' }),
    introspect: (client) => client.virtual.introspect('trips'),
    compile: (client) => client.virtual.compile('trips', ALL_TRIPS),
    query: (client) => client.virtual.query('trips', ALL_TRIPS, { limit: 1, captured_at: 5 }),
    queryRows: (client) => client.virtual.queryRows('trips', ALL_TRIPS, { ordered: false }),
    clearCache: (client) => client.virtual.clearCache('trips'),
    materialize: (client) => client.virtual.materialize('trips', { query: ALL_TRIPS, table: 'trip_edges' }),
    delete: (client) => client.virtual.delete('trips'),
  },
  batch: { run: (client) => client.batch.run([{ type: 'insert', event_ts: 7, members: [3] }]) },
  wal: {
    status: (client) => client.wal.status(),
    autocompact: (client) => client.wal.autocompact({ threshold: 0 }),
  },
  backups: { create: (client) => client.backups.create() },
  keys: {
    create: (client) => client.keys.create({ role: 'readonly' }),
    list: (client) => client.keys.list(),
    revoke: async (client) => {
      const { key_id } = (await client.keys.list()).find((key) => key.role === 'readwrite')!;
      return client.keys.revoke(key_id);
    },
  },
} as const satisfies Record<string, Calls>;

/** One call of every method of the client that belongs to no resource. */
const OWN_CALLS = {
  changes: (client) => client.changes({ follow: false }),
} as const satisfies Calls;

/** Methods that return the answer of another method's route in a different form. */
const OTHER_FORMS = [
  'pages',
  'writeMany',
  'insertMany',
  'rangeRows',
  'rangePages',
  'nodeRows',
  'nodePages',
  'rows',
  'queryRows',
];

function methodsOf(resource: object): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== 'constructor');
}

test('each method of the client calls its own route, and each route has exactly one such method', async () => {
  let seen: string[] = [];
  const client = new HedgerowClient({
    url: world.url,
    apiKey: 'bootstrap',
    maxAttempts: 1,
    fetch: (url, init) => {
      seen.push(`${init!.method} ${templateOf(new URL(String(url)).pathname)}`);
      return fetch(url, init);
    },
  });
  const reached = new Map<string, string[]>();
  const resources = Object.entries(CALLS).map(([name, calls]): [string, object, Calls] => {
    return [name, client[name as keyof typeof CALLS], calls];
  });
  for (const [name, resource, calls] of [...resources, ['client', client, OWN_CALLS] as const]) {
    const methods = methodsOf(resource).filter((method) => method !== 'lastLsn');
    expect(methods.sort()).toEqual(Object.keys(calls).sort());
    for (const [method, call] of Object.entries(calls)) {
      seen = [];
      const result: unknown = await call(client);
      if (isIterable(result)) expect((await collect(result)).length, method).toBeGreaterThan(0);
      else expect(result, method).toBeDefined();
      const last = seen.at(-1)!;
      reached.set(last, [...(reached.get(last) ?? []), `${name}.${method}`]);
    }
  }
  const own = [...reached].map(([route, methods]) => [
    route,
    methods.filter((method) => !OTHER_FORMS.includes(method.split('.')[1]!)).length,
  ]);
  const expected = routes
    .filter((route) => ![...PAGES, ...FOR_FOLLOWERS].includes(route.id))
    .map(({ method, path }) => [`${method} ${path}`, 1]);
  expect(Object.fromEntries(own)).toEqual(Object.fromEntries(expected));
});

/** Returns the path template of the route that matches a path. */
function templateOf(path: string): string | undefined {
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const templates = routes.map((route) => route.path);
  return templates.find((template) => template === path) ?? templates.find(fits);
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}
