// Defines one valid request for every route. Each request can be repeated, because everything that
// it removes is created first.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sent {
  method: string;
  path: string;
  /** Sent as JSON unless it is a string. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  json: any;
}

/** Sends a request with an admin key. */
export type AsAdmin = (request: Sent) => Promise<Answered>;

interface Recipe {
  /** The status on success. */
  status: number;
  /**
   * Creates everything that the request needs, and returns the request. Things that only the sender
   * may see are created as `sender`, the others as `admin`.
   */
  make(admin: AsAdmin, sender?: AsAdmin): Promise<Omit<Sent, 'method'>> | Omit<Sent, 'method'>;
}

const EDGE = { event_ts: 1000, members: [1, 2] };
const RANGE = '/v1/hyperedges?start_ts=0&end_ts=10';

let count = 0;
/** Returns a table name that has not been used. */
function newName(): string {
  count += 1;
  return `made_${count}`;
}

const fixed = (status: number, path: string, body?: unknown): Recipe => ({
  status,
  make: () => (body === undefined ? { path } : { path, body }),
});

/** A rule with a conclusion, a guard, an absence and evidence. */
const RULE = {
  id: 'rule:met',
  if: [
    { pred: 'member', args: ['?E', '?A'] },
    { pred: 'member', args: ['?E', '?B'] },
    { compare: ['?A', '<', '?B'] },
    { not: { pred: 'formation', args: ['?E', 'secret'] } },
  ],
  then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
};

/** Returns a recipe that stores RULE and then calls the route of this rule. */
function withRule(): Recipe {
  return {
    status: 200,
    make: async (admin) => {
      await admin({ method: 'POST', path: '/v1/rules', body: RULE });
      return { path: '/v1/rules/rule:met' };
    },
  };
}

/**
 * Writes the file that the virtual graphs of these requests read. `root` is HEDGEROW_VIRTUAL_ROOT.
 */
export function makeTrips(root: string): void {
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'trips.csv'), 'trip_id,origin_id,target_id,left_at\n1,5,7,1700000000\n2,7,9,1700000060\n');
}

export const TRIPS = {
  id: 'trips',
  name: 'Trips',
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
};
export const ALL_TRIPS = 'MATCH (t:Trip){origin:Place, target:Place} RETURN t';

/** Returns a recipe that stores the graph `trips` and then calls a route of this graph. */
function withTrips(status: number, path: string, bodyOf: () => unknown = () => undefined): Recipe {
  return {
    status,
    make: async (admin) => {
      await admin({ method: 'POST', path: '/v1/virtual/graphs', body: TRIPS });
      const body = bodyOf();
      return { path: `/v1/virtual/graphs/trips${path}`, ...(body === undefined ? {} : { body }) };
    },
  };
}

/** Returns a recipe that creates the node table People with a node, and then sends a request. */
function withPeople(path: string, body?: unknown): Recipe {
  return {
    status: 200,
    make: async (admin) => {
      const columns = [{ name: 'born', type: 'INTEGER' }];
      const table = { name: 'People', key: { name: 'name', type: 'TEXT' }, columns };
      await admin({ method: 'POST', path: '/v1/node-tables', body: table });
      // Not written again if it is there, so that the state stays the same.
      const known = await admin({ method: 'GET', path: '/v1/nodes/People/Ada' });
      if (known.status === 404) await admin({ method: 'PUT', path: '/v1/nodes/People/Ada', body: {} });
      return body === undefined ? { path } : { path, body };
    },
  };
}

const MEMORY = { what: 'The budget is 40.', who: ['Ada'], about: ['Orion'], when: 1000 };

/** Returns a recipe that remembers something, and then sends a request. */
function withMemory(path: string, body: unknown): Recipe {
  return {
    status: 200,
    make: async (admin) => {
      // Not remembered again if it is there, so that the state stays the same.
      const known = await admin({ method: 'POST', path: '/v1/memory/history', body: { id: 1 } });
      if (known.status === 404) await admin({ method: 'POST', path: '/v1/memory/remember', body: MEMORY });
      return { path, body };
    },
  };
}

/**
 * Returns the name of the console's script. The name contains a hash, so it is taken from the built
 * page.
 */
function scriptOfConsole(): string {
  const page = readFileSync(new URL('../../build/console/index.html', import.meta.url), 'utf8');
  return /console\/([\w.-]+\.js)"/.exec(page)![1]!;
}

/** The recipes, by method and path template. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  'GET /health/live': fixed(200, '/health/live'),
  'GET /health/ready': fixed(200, '/health/ready'),
  'GET /health': fixed(200, '/health'),
  'GET /metrics': fixed(200, '/metrics'),
  'GET /openapi.json': fixed(200, '/openapi.json'),
  'GET /docs': fixed(200, '/docs'),
  'GET /docs/{file}': fixed(200, '/docs/start.js'),
  'GET /': fixed(200, '/'),
  'GET /console/{file}': fixed(200, `/console/${scriptOfConsole()}`),
  'GET /v1/hyperedges': fixed(200, RANGE),
  'POST /v1/hyperedges': fixed(201, '/v1/hyperedges', EDGE),
  'DELETE /v1/hyperedges': fixed(200, '/v1/hyperedges', EDGE),
  'GET /v1/hyperedges/{id}': {
    status: 200,
    make: async (admin) => {
      const { json } = await admin({ method: 'GET', path: '/v1/hyperedges?start_ts=1000&end_ts=1000' });
      const known = json?.hyperedges?.[0]?.id;
      if (known !== undefined) return { path: `/v1/hyperedges/${known}` };
      const made = await admin({ method: 'POST', path: '/v1/hyperedges', body: EDGE });
      return { path: `/v1/hyperedges/${made.json?.id ?? 1}` };
    },
  },
  'PATCH /v1/hyperedges/{id}': {
    status: 200,
    make: async (admin) => {
      const made = await admin({ method: 'POST', path: '/v1/hyperedges', body: EDGE });
      return { path: `/v1/hyperedges/${made.json?.id ?? 1}`, body: { weight: 0.25 } };
    },
  },
  'GET /v1/hyperedges/node/{node_id}': fixed(200, '/v1/hyperedges/node/1'),
  'POST /v1/hyperedges/compact': fixed(200, '/v1/hyperedges/compact', {}),
  'POST /v1/autocompact': fixed(200, '/v1/autocompact', { threshold: 0 }),
  'GET /v1/wal': fixed(200, '/v1/wal'),
  'GET /v1/changes': fixed(200, '/v1/changes?limit=1'),
  'GET /v1/log': fixed(200, '/v1/log?from_lsn=0&wait_s=0'),
  'GET /v1/snapshot': fixed(200, '/v1/snapshot'),
  'GET /v1/tables': fixed(200, '/v1/tables'),
  'GET /v1/tables/{name}': fixed(200, '/v1/tables/hyperedges'),
  'POST /v1/tables': { status: 201, make: () => ({ path: '/v1/tables', body: { name: newName() } }) },
  'DELETE /v1/tables/{name}': {
    status: 200,
    make: async (admin) => {
      const name = newName();
      await admin({ method: 'POST', path: '/v1/tables', body: { name } });
      return { path: `/v1/tables/${name}` };
    },
  },
  'GET /v1/node-tables': fixed(200, '/v1/node-tables'),
  'POST /v1/node-tables': {
    status: 201,
    make: () => ({ path: '/v1/node-tables', body: { name: newName(), key: { name: 'name', type: 'TEXT' } } }),
  },
  'GET /v1/node-tables/{name}': withPeople('/v1/node-tables/People'),
  'DELETE /v1/node-tables/{name}': {
    status: 200,
    make: async (admin) => {
      const name = newName();
      await admin({ method: 'POST', path: '/v1/node-tables', body: { name, key: { name: 'id', type: 'INTEGER' } } });
      return { path: `/v1/node-tables/${name}` };
    },
  },
  'GET /v1/nodes/{table}': withPeople('/v1/nodes/People'),
  'POST /v1/nodes/{table}': withPeople('/v1/nodes/People', { name: 'Ada', born: 1815 }),
  'GET /v1/nodes/{table}/{key}': withPeople('/v1/nodes/People/Ada'),
  'PUT /v1/nodes/{table}/{key}': withPeople('/v1/nodes/People/Ada', { born: 1815 }),
  'PATCH /v1/nodes/{table}/{key}': withPeople('/v1/nodes/People/Ada', { born: 1815 }),
  'DELETE /v1/nodes/{table}/{key}': withPeople('/v1/nodes/People/Ada'),
  'GET /v1/indexes': fixed(200, '/v1/indexes'),
  'POST /v1/indexes': {
    status: 201,
    make: async (admin) => {
      await admin({ method: 'DELETE', path: '/v1/indexes/hyperedges/weight' });
      return { path: '/v1/indexes', body: { table: 'hyperedges', column: 'weight' } };
    },
  },
  'DELETE /v1/indexes/{table}/{column}': {
    status: 200,
    make: async (admin) => {
      await admin({ method: 'POST', path: '/v1/indexes', body: { table: 'hyperedges', column: 'weight' } });
      return { path: '/v1/indexes/hyperedges/weight' };
    },
  },
  'DELETE /v1/indexes/{table}/text': {
    status: 200,
    make: async (admin) => {
      const body = { table: 'hyperedges', kind: 'text', columns: ['formation'] };
      await admin({ method: 'POST', path: '/v1/indexes', body });
      return { path: '/v1/indexes/hyperedges/text' };
    },
  },
  'POST /v1/query': fixed(200, '/v1/query', { query: 'MATCH (e:hyperedges) RETURN e.id LIMIT 5' }),
  'GET /v1/analytics': fixed(200, '/v1/analytics'),
  'POST /v1/analytics/{table}/{measure}': fixed(200, '/v1/analytics/hyperedges/density', { params: { start_ts: 0 } }),
  'GET /v1/rules': fixed(200, '/v1/rules'),
  'POST /v1/rules': fixed(200, '/v1/rules', RULE),
  'POST /v1/rules/validate': fixed(200, '/v1/rules/validate', RULE),
  'GET /v1/rules/{id}': withRule(),
  'DELETE /v1/rules/{id}': withRule(),
  'POST /v1/reason': fixed(200, '/v1/reason', { query: 'node 1', rules: [RULE] }),
  'POST /v1/rag/query': fixed(200, '/v1/rag/query', { query: 'node 1', mock: true, rules: [RULE] }),
  'POST /v1/rag/check': fixed(200, '/v1/rag/check', { claims: ['Nodes 1 and 2 met.'], edge_ids: [1] }),
  'GET /v1/rag/parse': fixed(200, '/v1/rag/parse?query=node%201%20since%202024-01-01'),
  'GET /v1/rag/interactions/{id}': {
    status: 200,
    make: async (admin, sender = admin) => {
      const body = { query: 'node 1', mock: true, rules: [RULE] };
      const { json } = await sender({ method: 'POST', path: '/v1/rag/query', body });
      return { path: `/v1/rag/interactions/${json.interaction_id ?? 'none'}` };
    },
  },
  'POST /v1/memory/remember': fixed(201, '/v1/memory/remember', MEMORY),
  'POST /v1/memory/supersede': {
    status: 200,
    make: async (admin) => {
      const { json } = await admin({ method: 'POST', path: '/v1/memory/remember', body: MEMORY });
      return { path: '/v1/memory/supersede', body: { id: json?.id ?? 1, what: 'The budget is 55.', at: 2000 } };
    },
  },
  'POST /v1/memory/recall': withMemory('/v1/memory/recall', { question: 'What is the budget?', at: 1500 }),
  'POST /v1/memory/history': withMemory('/v1/memory/history', { about: ['Orion'] }),
  'GET /v1/virtual/backends': fixed(200, '/v1/virtual/backends'),
  'POST /v1/virtual/propose': fixed(200, '/v1/virtual/propose', { backend: TRIPS.backend }),
  'GET /v1/virtual/graphs': fixed(200, '/v1/virtual/graphs'),
  'POST /v1/virtual/graphs': {
    status: 201,
    make: () => ({ path: '/v1/virtual/graphs', body: { ...TRIPS, id: newName() } }),
  },
  'GET /v1/virtual/graphs/{id}': withTrips(200, ''),
  'PUT /v1/virtual/graphs/{id}': withTrips(200, '', () => TRIPS),
  'DELETE /v1/virtual/graphs/{id}': withTrips(200, ''),
  'DELETE /v1/virtual/graphs/{id}/cache': withTrips(200, '/cache'),
  'GET /v1/virtual/graphs/{id}/introspect': withTrips(200, '/introspect'),
  'POST /v1/virtual/graphs/{id}/compile': withTrips(200, '/compile', () => ({ query: ALL_TRIPS })),
  'POST /v1/virtual/graphs/{id}/query': withTrips(200, '/query', () => ({ query: ALL_TRIPS })),
  'POST /v1/virtual/graphs/{id}/materialize': withTrips(201, '/materialize', () => {
    return { query: ALL_TRIPS, table: newName() };
  }),
  'POST /v1/batch': fixed(200, '/v1/batch', { operations: [{ type: 'insert', ...EDGE }] }),
  'POST /v1/backup': {
    status: 200,
    make: async (admin) => {
      // The name of a backup consists of its time in seconds and its LSN. A new LSN gives a new
      // name.
      await admin({ method: 'POST', path: '/v1/hyperedges', body: EDGE });
      return { path: '/v1/backup', body: {} };
    },
  },
  'GET /v1/keys': fixed(200, '/v1/keys'),
  'POST /v1/keys': fixed(200, '/v1/keys', { role: 'readonly', description: 'made by a test' }),
  'DELETE /v1/keys/{key_id}': {
    status: 200,
    make: async (admin) => {
      const { json } = await admin({ method: 'POST', path: '/v1/keys', body: { role: 'admin' } });
      // Without authentication no key can be created, and any id is accepted.
      return { path: `/v1/keys/${json.key_id ?? 'key_none'}` };
    },
  },
};

export function recipeOf(method: string, path: string): Recipe {
  const recipe = RECIPES[`${method} ${path}`];
  if (recipe === undefined) throw new Error(`test/service/valid-requests.ts has no request for ${method} ${path}`);
  return recipe;
}

export async function send(url: string, { method, path, body, headers = {} }: Sent): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}
