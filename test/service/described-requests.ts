// Defines, for every status that a route lists, a request that causes this status and the state of
// the service ("world") in which the request is sent.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Table } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { Transport } from '../../src/http/transport.ts';
import type { Operation } from './described-answers.ts';
import { ALL_TRIPS, type Answered, makeTrips, recipeOf, type Sent, TRIPS } from './valid-requests.ts';
import { damagedDisk, startWorld, type World, type WorldOptions } from './worlds.ts';

/**
 * The options of each world. `damaged` also gets a disk of its own (see `get`), and the disk of
 * `full` is filled by `onFullDisk`.
 */
const WORLDS = {
  usual: {},
  /**
   * For requests that nothing else may run beside: they hold the syncs, or need a service with
   * exactly one admin key.
   */
  quiet: {},
  starting: { open: false },
  overloaded: { limits: { requests: 0 } },
  limited: { rateLimitQpm: 1 },
  keyless: { authDisabled: true },
  /** Accepts only small bodies. */
  narrow: { maxBodyBytes: 1000 },
  hurried: { queryTimeoutMs: 20 },
  damaged: {},
  full: {},
  /** Follows another service, to which it redirects writes. */
  follower: {
    leader: {
      url: 'http://leader.test:8000',
      forwards: false,
      lagMs: 0,
      lagLsns: 0,
      problem: null,
      ending: new AbortController().signal,
    },
  },
  /** Lacks the package that the backends of virtual graphs need. */
  bare: { rooms: { installed: () => false } },
} as const satisfies Record<string, WorldOptions>;

export class Worlds {
  readonly #transport: Transport;
  /** Root directory of the virtual graphs. */
  readonly #root = mkdtempSync(join(tmpdir(), 'hedgerow-worlds-'));
  readonly #started = new Map<string, Promise<World>>();

  /** Serves all worlds over `transport`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get(name: keyof typeof WORLDS): Promise<World> {
    let world = this.#started.get(name);
    if (world === undefined) {
      makeTrips(this.#root);
      writeFileSync(join(this.#root, 'late.csv'), 'trip_id,origin_id,target_id,left_at\n1,5,7,9223372036854775807\n');
      const own: WorldOptions = WORLDS[name];
      const options = { ...own, transport: this.#transport, rooms: { ...own.rooms, virtualRoot: this.#root } };
      world = name === 'damaged' ? damaged(options) : startWorld(options);
      this.#started.set(name, world);
    }
    return world;
  }

  /** Starts a world that nothing else uses. The caller closes it. */
  own(options: WorldOptions): Promise<World> {
    return startWorld({ ...options, transport: this.#transport });
  }

  async close(): Promise<void> {
    for (const world of this.#started.values()) await (await world).close();
    rmSync(this.#root, { recursive: true });
  }
}

/**
 * Starts a world with a damaged table, and reads the table so that the service notices the damage.
 */
async function damaged(options: WorldOptions): Promise<World> {
  const world = await startWorld({ ...options, disk: await damagedDisk() });
  await world.as('admin', { method: 'GET', path: '/v1/hyperedges?start_ts=0&end_ts=100' });
  return world;
}

/** What the requests need to know about an operation. */
export interface Target extends Operation {
  role: string;
  /** Whether the operation takes a body. */
  hasBody: boolean;
  /** All operations that write, including this one. */
  writes: readonly Target[];
}

type Make = (target: Target, worlds: Worlds) => Promise<Answered>;

/** Returns the function that causes a status, or undefined if there is none yet. */
export function makerOf(target: Target, status: number): Make | undefined {
  return OWN[`${target.id} ${status}`] ?? BY_STATUS[status];
}

const HUGE = 2 ** 50;
const EDGE = { event_ts: 1000, members: [1, 2] };

/** Functions that cause a status on any route. */
const BY_STATUS: Readonly<Record<number, Make>> = {
  200: async (target, worlds) => good(target, await worlds.get('usual')),
  201: async (target, worlds) => good(target, await worlds.get('usual')),
  304: async (target, worlds) => {
    const world = await worlds.get('usual');
    const first = await good(target, world);
    return good(target, world, { 'if-none-match': first.headers.get('etag')! });
  },
  307: async (target, worlds) => plain(target, await worlds.get('follower')),
  400: malformed,
  422: malformed,
  401: async (target, worlds) => plain(target, await worlds.get('usual'), {}, 'none'),
  403: async (target, worlds) => {
    if (target.role === 'none' || target.role === 'readonly')
      return plain(target, await worlds.get('keyless'), { headers: { origin: 'https://elsewhere.test' } }, 'none');
    return plain(target, await worlds.get('usual'), {}, target.role === 'admin' ? 'readwrite' : 'readonly');
  },
  // Reuses an Idempotency-Key with another body.
  409: async (target, worlds) => {
    const world = await worlds.get('usual');
    const { body, ...request } = await requestOf(target, world);
    const headers = { 'idempotency-key': `key of ${target.id}` };
    await world.as('admin', { ...request, body, headers });
    return world.as('admin', { ...request, body: { ...(body as object), more: 1 }, headers });
  },
  413: async (target, worlds) => plain(target, await worlds.get('narrow'), { body: { filler: 'x'.repeat(2000) } }),
  415: async (target, worlds) => {
    return plain(target, await worlds.get('usual'), { body: 'a', headers: { 'content-type': 'text/plain' } });
  },
  429: async (target, worlds) => {
    const world = await worlds.get('limited');
    await plain(target, world);
    return plain(target, world);
  },
  500: async (target, worlds) => good(target, await worlds.get('damaged')),
  503: async (target, worlds) => plain(target, await worlds.get('overloaded')),
  504: async (target, worlds) => good(target, await worlds.get('hurried'), { 'x-min-lsn': String(HUGE) }),
  507: (target, worlds) => onFullDisk(target, worlds),
};

/** Functions that cause a status on one route only, by operation and status. */
const OWN: Readonly<Record<string, Make>> = {
  'rangeHyperedges 404': missing('/v1/hyperedges?start_ts=0&end_ts=1&table=nope'),
  'rangeHyperedges 410': (_, worlds) => afterItsState('/v1/hyperedges?start_ts=0&end_ts=9&limit=1', worlds),
  'lookupNode 410': (_, worlds) => afterItsState('/v1/hyperedges/node/1?limit=1', worlds),
  'lookupNode 404': missing('/v1/hyperedges/node/1?table=nope'),
  'getHyperedge 404': missing('/v1/hyperedges/987654'),
  'patchHyperedge 404': missing('/v1/hyperedges/987654', { weight: 1 }),
  'patchHyperedge 504': (target, worlds) => withoutTime(target, worlds),
  'insertHyperedge 404': missing('/v1/hyperedges', { ...EDGE, table: 'nope' }),
  'deleteHyperedge 404': missing('/v1/hyperedges', { ...EDGE, table: 'nope' }),
  'compactHyperedges 404': missing('/v1/hyperedges/compact', { table: 'nope' }),
  'compactHyperedges 500': async ({ method, path }, worlds) => {
    return (await worlds.get('damaged')).as('admin', { method, path, body: { table: 'hyperedges' } });
  },
  'setAutocompact 404': missing('/v1/autocompact', { threshold: 1, table: 'nope' }),
  'readChanges 404': missing('/v1/changes?table=nope'),
  'readChanges 409': missing(`/v1/changes?from_lsn=${HUGE}`),
  'readChanges 410': ({ method }, worlds) => afterHistory(method, '/v1/changes?from_lsn=1', worlds),
  'readLog 409': missing(`/v1/log?from_lsn=${HUGE}`),
  'readLog 410': ({ method }, worlds) => afterHistory(method, '/v1/log?from_lsn=1', worlds),
  'getTable 404': missing('/v1/tables/nope'),
  'dropTable 404': missing('/v1/tables/nope'),
  'dropTable 409': missing('/v1/tables/hyperedges'),
  'getNodeTable 404': missing('/v1/node-tables/nope'),
  'dropNodeTable 404': missing('/v1/node-tables/nope'),
  'dropNodeTable 409': (target, worlds) => whileItRuns(target, worlds),
  'listNodes 404': missing('/v1/nodes/nope'),
  'listNodes 410': (_, worlds) => afterItsNodes(worlds),
  'listNodes 500': (target, worlds) => withDamagedNodes(target, worlds),
  'writeNodes 400': (target, worlds) => withPeople(target, worlds, { name: 5 }),
  'writeNodes 404': missing('/v1/nodes/nope', { name: 'Ada' }),
  'writeNodes 500': (target, worlds) => withDamagedNodes(target, worlds),
  'getNode 404': missing('/v1/nodes/nope/Ada'),
  'getNode 500': (target, worlds) => withDamagedNodes(target, worlds),
  'putNode 400': (target, worlds) => withPeople(target, worlds, { name: 'Grace' }),
  'putNode 404': missing('/v1/nodes/nope/Ada', {}),
  'putNode 500': (target, worlds) => withDamagedNodes(target, worlds),
  'patchNode 400': (target, worlds) => withPeople(target, worlds, { age: 5 }),
  'patchNode 404': missing('/v1/nodes/nope/Ada', {}),
  'patchNode 500': (target, worlds) => withDamagedNodes(target, worlds),
  'deleteNode 404': missing('/v1/nodes/nope/Ada'),
  'deleteNode 409': (target, worlds) => whileItRuns(target, worlds),
  'deleteNode 500': (target, worlds) => withDamagedNodes(target, worlds),
  'listIndexes 404': missing('/v1/indexes?table=nope'),
  'createIndex 404': missing('/v1/indexes', { table: 'nope', column: 'weight' }),
  'dropIndex 404': missing('/v1/indexes/hyperedges/nope'),
  'dropIndex 409': (target, worlds) => whileItRuns(target, worlds),
  'dropTextIndex 404': missing('/v1/indexes/nope/text'),
  'dropTextIndex 409': (target, worlds) => whileItRuns(target, worlds),
  'revokeKey 404': missing('/v1/keys/nope'),
  'revokeKey 409': async ({ method }, worlds) => {
    const world = await worlds.get('quiet');
    const { json } = await world.as('admin', { method: 'GET', path: '/v1/keys' });
    const only = (json as { role: string; key_id: string }[]).find((key) => key.role === 'admin');
    return world.as('admin', { method, path: `/v1/keys/${only!.key_id}` });
  },
  'runQuery 307': async ({ method, path }, worlds) => {
    const body = { query: 'DELETE FROM hyperedges' };
    return (await worlds.get('follower')).as('admin', { method, path, body });
  },
  'runQuery 403': async ({ method, path }, worlds) => {
    const body = { query: 'DELETE FROM hyperedges' };
    return (await worlds.get('usual')).as('readonly', { method, path, body });
  },
  'runQuery 404': missing('/v1/query', { query: 'MATCH (e:nope) RETURN e' }),
  'runQuery 409': missing('/v1/query', { query: 'CREATE HYPEREDGE TABLE hyperedges (node)' }),
  'runQuery 507': async (target, worlds) => {
    await onFullDisk(target, worlds);
    const body = { query: 'INSERT INTO hyperedges (event_ts, members) VALUES (1, [2])' };
    return (await worlds.get('full')).as('admin', { method: target.method, path: target.path, body });
  },
  'runMeasure 404': missing('/v1/analytics/nope/density', {}),
  'putRule 422': missing('/v1/rules', { id: 'rule:x', if: [], then: { pred: 'p', args: ['?X'] } }),
  'getRule 404': missing('/v1/rules/rule:nope'),
  'deleteRule 409': (target, worlds) => whileItRuns(target, worlds),
  'deleteRule 404': missing('/v1/rules/rule:nope'),
  'reason 422': missing('/v1/reason', { query: '', table: 'nope' }),
  'ragQuery 404': missing('/v1/rag/query', { query: '', table: 'nope', mock: true }),
  'ragQuery 422': missing('/v1/rag/query', { query: '', mode: 'oracular' }),
  // Nothing listens at the address of the model, so the next request fails with 502.
  'ragQuery 502': missing('/v1/rag/query', { query: 'node 1', mode: 'neuro' }),
  'checkClaims 404': missing('/v1/rag/check', { text: '', edge_ids: [], table: 'nope' }),
  'checkClaims 422': missing('/v1/rag/check', { edge_ids: [] }),
  'remember 500': (target, worlds) => withDamagedMemories(target, worlds),
  'supersede 404': missing('/v1/memory/supersede', { id: 987_654, what: 'x' }),
  'supersede 500': (target, worlds) => withDamagedMemories(target, worlds),
  'supersede 504': (target, worlds) => withoutTime(target, worlds),
  'recall 404': missing('/v1/memory/recall', { table: 'nope' }),
  'recall 500': (target, worlds) => withDamagedMemories(target, worlds),
  'memoryHistory 404': missing('/v1/memory/history', { id: 987_654 }),
  'memoryHistory 500': (target, worlds) => withDamagedMemories(target, worlds),
  'parseQuestion 404': missing('/v1/rag/parse?query=x&table=nope'),
  'getInteraction 404': missing('/v1/rag/interactions/nope'),
  'listVirtualBackends 404': async (target, worlds) => good(target, await worlds.get('bare')),
  'listVirtualGraphs 404': async (target, worlds) => good(target, await worlds.get('bare')),
  'proposeVirtualGraph 404': async (target, worlds) => good(target, await worlds.get('bare')),
  'createVirtualGraph 404': async (target, worlds) => good(target, await worlds.get('bare')),
  'createVirtualGraph 409': async (target, worlds) => {
    const world = await worlds.get('usual');
    await world.as('admin', { method: 'POST', path: target.path, body: TRIPS });
    return world.as('admin', { method: 'POST', path: target.path, body: TRIPS });
  },
  'proposeVirtualGraph 307': async ({ method, path }, worlds) => {
    const body = { backend: TRIPS.backend, id: 'x', save: true };
    return (await worlds.get('follower')).as('admin', { method, path, body });
  },
  'proposeVirtualGraph 403': async ({ method, path }, worlds) => {
    const body = { backend: TRIPS.backend, save: true };
    return (await worlds.get('usual')).as('readonly', { method, path, body });
  },
  'proposeVirtualGraph 409': async ({ method, path }, worlds) => {
    const world = await worlds.get('usual');
    await world.as('admin', { method: 'POST', path: '/v1/virtual/graphs', body: TRIPS });
    return world.as('admin', { method, path, body: { backend: TRIPS.backend, id: 'trips', save: true } });
  },
  'proposeVirtualGraph 502': missing('/v1/virtual/propose', { backend: { type: 'csv', path: 'gone.csv' } }),
  'getVirtualGraph 404': missing('/v1/virtual/graphs/nope'),
  'replaceVirtualGraph 404': missing('/v1/virtual/graphs/nope', { ...TRIPS, id: 'nope' }),
  'deleteVirtualGraph 404': missing('/v1/virtual/graphs/nope'),
  'deleteVirtualGraph 409': (target, worlds) => whileItRuns(target, worlds),
  'proposeVirtualGraph 507': async (target, worlds) => {
    await onFullDisk(target, worlds);
    const { method, path } = target;
    return (await worlds.get('full')).as('admin', {
      method,
      path,
      body: { backend: TRIPS.backend, id: 'x', save: true },
    });
  },
  'clearVirtualCache 409': (target, worlds) => whileItRuns(target, worlds),
  // All that this request writes is its answer, which is stored under its Idempotency-Key.
  'clearVirtualCache 507': async (target, worlds) => {
    await onFullDisk(target, worlds);
    return plain(target, await worlds.get('full'), {
      path: '/v1/virtual/graphs/trips/cache',
      headers: { 'idempotency-key': 'full' },
    });
  },
  'clearVirtualCache 404': missing('/v1/virtual/graphs/nope/cache'),
  'introspectVirtualGraph 404': missing('/v1/virtual/graphs/nope/introspect'),
  'introspectVirtualGraph 502': ofFile('missing', '/introspect'),
  'compileVirtualQuery 404': missing('/v1/virtual/graphs/nope/compile', { query: ALL_TRIPS }),
  'compileVirtualQuery 502': ofFile('missing', '/compile', { query: ALL_TRIPS }),
  'queryVirtualGraph 404': missing('/v1/virtual/graphs/nope/query', { query: ALL_TRIPS }),
  'queryVirtualGraph 500': ofFile('late', '/query', { query: ALL_TRIPS }),
  'queryVirtualGraph 502': ofFile('missing', '/query', { query: ALL_TRIPS }),
  'materializeVirtualQuery 404': missing('/v1/virtual/graphs/nope/materialize', { query: ALL_TRIPS, table: 't' }),
  'materializeVirtualQuery 500': ofFile('late', '/materialize', { query: ALL_TRIPS, table: 'never' }),
  'materializeVirtualQuery 502': ofFile('missing', '/materialize', { query: ALL_TRIPS, table: 'never' }),
  'getDocsFile 404': missing('/docs/nope.js'),
  'getConsoleFile 404': missing('/console/nope.html'),
  'getConsole 404': async (target, worlds) => {
    const world = await worlds.own({ consoleFile: () => undefined });
    try {
      return await plain(target, world);
    } finally {
      await world.close();
    }
  },
  'getReady 503': async (target, worlds) => plain(target, await worlds.get('starting')),
};

/**
 * The keys of OWN, as `operation status`. openapi.test.ts also fails if the document no longer
 * lists one of these pairs.
 */
export const OWN_PAIRS: readonly string[] = Object.keys(OWN);

function missing(path: string, body?: unknown): Make {
  return async ({ method }, worlds) => (await worlds.get('usual')).as('admin', { method, path, body });
}

/**
 * Queries a graph over another file: one that does not exist, or one whose times are out of range.
 */
function ofFile(name: 'missing' | 'late', path: string, body?: unknown): Make {
  return async ({ method }, worlds) => {
    const world = await worlds.get('usual');
    const edges = TRIPS.edges.map((edge) => ({ ...edge, table: name }));
    const nodes = TRIPS.nodes.map((node) => ({ ...node, table: name }));
    const graph = { ...TRIPS, id: name, backend: { type: 'csv', path: `${name}.csv` }, nodes, edges };
    await world.as('admin', { method: 'POST', path: '/v1/virtual/graphs', body: graph });
    return world.as('admin', { method, path: `/v1/virtual/graphs/${name}${path}`, body });
  };
}

/** Sends a request for what was committed long ago, to a service that keeps no history of it. */
async function afterHistory(method: Target['method'], path: string, worlds: Worlds): Promise<Answered> {
  const world = await worlds.own({ history: { seconds: 0, bytes: 0 } });
  try {
    for (let round = 0; round < 8; round++) {
      const edges = Array.from({ length: 200 }, (_, n) => ({ event_ts: n, members: [n] }));
      await Promise.all(edges.map((edge) => world.database.table().insert(edge)));
      await world.database.compact({});
    }
    return await world.as('admin', { method, path });
  } finally {
    await world.close();
  }
}

/** Sends a cursor whose snapshot was released and whose state was compacted away. */
async function afterItsState(path: string, worlds: Worlds): Promise<Answered> {
  const world = await worlds.own({});
  try {
    const table = world.database.table();
    for (let ts = 0; ts < 3; ts++) await table.insert({ event_ts: ts, members: [1] });
    const { json } = await world.as('readonly', { method: 'GET', path });
    world.cursors.close();
    await table.insert({ event_ts: 1, members: [1] });
    await world.database.compact({});
    const cursor = (json as { next_cursor: string }).next_cursor;
    return await world.as('readonly', { method: 'GET', path: `${path}&cursor=${cursor}` });
  } finally {
    await world.close();
  }
}

/** Sends a cursor of nodes whose snapshot was released and whose state was compacted away. */
async function afterItsNodes(worlds: Worlds): Promise<Answered> {
  const world = await worlds.own({});
  const path = '/v1/nodes/People?limit=1';
  try {
    const body = { name: 'People', key: { name: 'name', type: 'TEXT' } };
    await world.as('admin', { method: 'POST', path: '/v1/node-tables', body });
    for (const name of ['Ada', 'Grace'])
      await world.as('admin', { method: 'POST', path: '/v1/nodes/People', body: { name } });
    const { json } = await world.as('readonly', { method: 'GET', path });
    world.cursors.close();
    await world.as('admin', { method: 'POST', path: '/v1/nodes/People', body: { name: 'Alan' } });
    await world.database.compact({});
    const cursor = (json as { next_cursor: string }).next_cursor;
    return await world.as('readonly', { method: 'GET', path: `${path}&cursor=${cursor}` });
  } finally {
    await world.close();
  }
}

/** Sends another body than the usual one to a node or a node table that exists. */
async function withPeople(target: Target, worlds: Worlds, body: object): Promise<Answered> {
  const world = await worlds.get('usual');
  return world.as('admin', { ...(await requestOf(target, world)), body });
}

/** Sends the usual request once more, after a file of the node table People was found damaged. */
function withDamagedNodes(target: Target, worlds: Worlds): Promise<Answered> {
  return withDamaged(target, worlds, ({ database }) => database.nodes.table('People'));
}

/** Does the same for the table of memories. */
function withDamagedMemories(target: Target, worlds: Worlds): Promise<Answered> {
  return withDamaged(target, worlds, ({ database }) => database.table('memories'));
}

async function withDamaged(target: Target, worlds: Worlds, tableOf: (world: World) => Table): Promise<Answered> {
  const world = await worlds.own({});
  try {
    await good(target, world);
    const request = await requestOf(target, world);
    tableOf(world).refuse(new HedgerowError('corrupt', 'a file is damaged'));
    return await world.as('admin', request);
  } finally {
    await world.close();
  }
}

/** Sends the usual request to a service whose time limit has passed when the request starts. */
async function withoutTime(target: Target, worlds: Worlds): Promise<Answered> {
  const world = await worlds.own({ queryTimeoutMs: -1 });
  try {
    return await good(target, world);
  } finally {
    await world.close();
  }
}

async function malformed(target: Target, worlds: Worlds): Promise<Answered> {
  const world = await worlds.get('usual');
  if (target.hasBody) return plain(target, world, { body: '{' });
  if (target.path.includes('{')) return plain(target, world, { path: target.path.replaceAll(/\{\w+\}/g, '%ff') });
  return plain(target, world, { path: `${target.path}?x=%ff` });
}

async function requestOf({ method, path }: Target, world: World): Promise<Sent> {
  return { method, ...(await recipeOf(method, path).make((request) => world.as('admin', request))) };
}

/** Sends a request that succeeds in the usual world. */
async function good(target: Target, world: World, headers: Record<string, string> = {}): Promise<Answered> {
  return world.as('admin', { ...(await requestOf(target, world)), headers });
}

/** Sends a request that is refused before the things it names are looked up. */
function plain(target: Target, world: World, more: Partial<Sent> = {}, role: Parameters<World['as']>[0] = 'admin') {
  const body = target.hasBody ? { body: {} } : {};
  return world.as(role, { method: target.method, path: target.path.replaceAll(/[{}]/g, ''), ...body, ...more });
}

/**
 * Returns the answer to the second of two requests with the same Idempotency-Key, when the second
 * is sent while the first waits for the disk.
 */
async function whileItRuns(target: Target, worlds: Worlds): Promise<Answered> {
  const world = await worlds.get('quiet');
  const request = { ...(await requestOf(target, world)), headers: { 'idempotency-key': 'twice' } };
  const { arrived, release } = world.disk.hold();
  const first = world.as('admin', request);
  await arrived;
  const second = await world.as('admin', request);
  release();
  await first;
  return second;
}

const onFull = new WeakMap<Worlds, Promise<Map<string, Answered>>>();

/**
 * Returns the answer to a write on a full disk. The first call prepares all writes, fills the disk
 * and sends them all; later calls get their answers from that run. Everything is prepared first,
 * because the log accepts no writes after its first failure.
 */
async function onFullDisk({ id, writes }: Target, worlds: Worlds): Promise<Answered> {
  let answers = onFull.get(worlds);
  if (answers === undefined) {
    answers = sendToFullDisk(writes, worlds);
    onFull.set(worlds, answers);
  }
  return (await answers).get(id)!;
}

async function sendToFullDisk(writes: Target['writes'], worlds: Worlds): Promise<Map<string, Answered>> {
  const world = await worlds.get('full');
  const requests: [string, Sent][] = [];
  for (const write of writes) requests.push([write.id, await requestOf(write, world)]);
  // The preparation of `dropIndex` has created the usual index, so `createIndex` needs another
  // column.
  const createIndex = requests.find(([name]) => name === 'createIndex')![1];
  createIndex.body = { table: 'hyperedges', column: 'mean_dist_m' };
  world.disk.schedule = ({ kind }) => (kind === 'write' ? { code: 'ENOSPC' } : undefined);
  const answers = new Map<string, Answered>();
  for (const [name, request] of requests) answers.set(name, await world.as('admin', request));
  return answers;
}
