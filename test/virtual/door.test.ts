// Tests the entry point of virtual graphs: which results are cached and for how long, when the
// schema is read again, and what happens after it is closed.

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HydratedEdge, type QueryRequest, VirtualGraphs, type VirtualOptions } from '../../src/virtual/index.ts';
import { memoryDocuments } from './door-world.ts';

const ALL = 'MATCH (t:T){a:N, b:N} RETURN t';
const MORE = 'MATCH (t:T){a:N, b:N} WHERE a.id >= 0 RETURN t';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hedgerow-door-'));
  await write('rows.csv', 200);
});
afterAll(() => rm(root, { recursive: true, force: true }));

/**
 * Writes `count` rows, numbered from `first`. Row n has the time 1000 + n, the members n and n + 1,
 * and a long note. The rows 9, 19, 29, ... have no time.
 */
function write(name: string, count: number, first = 0): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => {
    const at = first + n;
    return `${at % 10 === 9 ? '' : 1000 + at},${at},${at + 1},${'x'.repeat(100)}`;
  });
  return writeFile(join(root, name), `ts,a,b,note\n${lines.join('\n')}\n`);
}

function open(options: Partial<VirtualOptions> = {}): VirtualGraphs {
  const monotonicMs = () => performance.now();
  return new VirtualGraphs({
    ...{ database: undefined, documents: memoryDocuments(), root, dsns: {}, cache: true, monotonicMs },
    ...options,
  });
}

function specOf(id: string, path = 'rows.csv', table = 'rows') {
  const members = ['a', 'b'].map((name) => ({ name, node_label: 'N', role: name }));
  const edge = { label: 'T', shape: 'row', table, ts_column: 'ts', row_member_columns: { a: 'a', b: 'b' }, members };
  return { id, backend: { type: 'csv', path }, nodes: [{ label: 'N', table, id_column: 'a' }], edges: [edge] };
}

/** Returns the answer to a query, and whether it came from the cache. */
async function ask(graphs: VirtualGraphs, id: string, request: Partial<QueryRequest> = {}) {
  const running = await graphs.query(id, { query: ALL, ...request }, {});
  const edges: HydratedEdge[] = [];
  for await (const batch of running.batches()) edges.push(...batch);
  return { cached: running.cached, edges, skipped: running.skipped };
}

describe('a cached result', () => {
  it('has the same edges with the provenance of the new call, also while another call reads the result', async () => {
    const graphs = open();
    try {
      await graphs.create(specOf('g'));
      const first = await ask(graphs, 'g');
      expect([first.cached, first.edges.length, first.skipped]).toEqual([false, 180, 20]);
      const later = await ask(graphs, 'g', { capturedAt: 5 });
      expect([later.cached, later.skipped]).toEqual([true, 20]);
      expect(later.edges).toEqual(
        first.edges.map((edge) => ({ ...edge, provenance: { ...edge.provenance, captured_at: 5 } })),
      );
      const both = await Promise.all([ask(graphs, 'g'), ask(graphs, 'g', { refresh: true }), ask(graphs, 'g')]);
      expect(both.map(({ edges }) => edges)).toEqual([first.edges, first.edges, first.edges]);
    } finally {
      await graphs.close();
    }
  });

  it('is stored only if it was read to its end', async () => {
    const graphs = open();
    try {
      await graphs.create(specOf('g'));
      const running = await graphs.query('g', { query: ALL }, {});
      for await (const _batch of running.batches()) break;
      expect((await ask(graphs, 'g')).cached).toBe(false);
      expect((await ask(graphs, 'g')).cached).toBe(true);
    } finally {
      await graphs.close();
    }
  });

  it('is not stored if it is too large, and is dropped as the oldest when the cache is full', async () => {
    const graphs = open({ cacheBytes: 600_000 });
    try {
      await write('large.csv', 2000);
      await graphs.create(specOf('large', 'large.csv', 'large'));
      await graphs.create(specOf('g'));
      for (let turn = 0; turn < 2; turn++) expect((await ask(graphs, 'large')).cached).toBe(false);
      const limits = Array.from({ length: 12 }, (_, n) => 150 + n);
      for (const limit of limits) expect((await ask(graphs, 'g', { limit })).cached).toBe(false);
      expect((await ask(graphs, 'g', { limit: limits.at(-1)! })).cached).toBe(true);
      expect((await ask(graphs, 'g', { limit: limits[0]! })).cached).toBe(false);
      expect(graphs.clearCache('g')).toBeLessThan(limits.length);
    } finally {
      await graphs.close();
    }
  });

  it('is used only for the same query, graph, version and file', async () => {
    const graphs = open();
    try {
      await write('moved.csv', 10);
      await graphs.create(specOf('one', 'moved.csv', 'moved'));
      await graphs.create(specOf('two', 'moved.csv', 'moved'));
      const cached = async (id: string, request: Partial<QueryRequest> = {}) => (await ask(graphs, id, request)).cached;
      expect([await cached('one'), await cached('one'), await cached('two')]).toEqual([false, true, false]);
      expect([await cached('one', { query: MORE }), await cached('one', { limit: 100 })]).toEqual([false, false]);
      await graphs.replace('one', { ...specOf('one', 'moved.csv', 'moved'), name: 'again' });
      expect([await cached('one'), await cached('two')]).toEqual([false, true]);
      await graphs.delete('one');
      await graphs.create(specOf('one', 'moved.csv', 'moved'));
      expect(await cached('one')).toBe(false);
      // Replaces the file by another file of the same size.
      await write('other.csv', 10, 10);
      await rename(join(root, 'other.csv'), join(root, 'moved.csv'));
      const { cached: wasKept, edges } = await ask(graphs, 'two');
      expect([wasKept, edges[0]!.event_ts]).toEqual([false, 1010]);
      expect([graphs.clearCache('two'), graphs.clearCache('two')]).toEqual([2, 0]);
    } finally {
      await graphs.close();
    }
  });

  it('is never stored when the cache is turned off', async () => {
    const graphs = open({ cache: false });
    try {
      await graphs.create(specOf('g'));
      for (let turn = 0; turn < 2; turn++) expect((await ask(graphs, 'g')).cached).toBe(false);
      expect((await graphs.query('g', { query: ALL }, {})).cacheEnabled).toBe(false);
      expect(graphs.clearCache('g')).toBe(0);
    } finally {
      await graphs.close();
    }
  });
});

describe('the schema', () => {
  it('is read again when the file has changed', async () => {
    const graphs = open();
    try {
      await write('grows.csv', 5);
      await graphs.create(specOf('g', 'grows.csv', 'grows'));
      const query = 'MATCH (t:T){a:N, b:N} WHERE t.more = 1 RETURN t';
      await expect(graphs.compile('g', query, {})).rejects.toMatchObject({ code: 'unknown_column' });
      await writeFile(join(root, 'grows.csv'), 'ts,a,b,more\n1,2,3,1\n');
      expect((await graphs.compile('g', query, {})).sql).toContain('"more"');
      const { tables } = await graphs.introspect('g', {});
      expect(tables[0]!.columns.map(({ name }) => name)).toEqual(['ts', 'a', 'b', 'more']);
      expect((await ask(graphs, 'g', { query })).edges).toHaveLength(1);
    } finally {
      await graphs.close();
    }
  });
});

it('materializing a result without a database is refused', async () => {
  const graphs = open();
  try {
    await graphs.create(specOf('g'));
    const copy = graphs.materialize('g', { query: ALL, table: 't' }, {});
    await expect(copy).rejects.toMatchObject({ code: 'invalid_input' });
  } finally {
    await graphs.close();
  }
});

it('every call after close is refused because the service is stopping', async () => {
  const graphs = open();
  await graphs.create(specOf('g'));
  await ask(graphs, 'g');
  await graphs.close();
  await expect(ask(graphs, 'g')).rejects.toMatchObject({ code: 'draining' });
  await graphs.close();
});

it('a proposal without id and name takes both from the path', async () => {
  const graphs = open();
  try {
    await writeFile(join(root, 'my trips-2024.csv'), 'trip_id,origin_id,target_id,left_at\n1,2,3,1700000000\n');
    const request = { backend: { type: 'csv', path: 'my trips-2024.csv' } };
    const first = await graphs.propose(request, {});
    expect([first.spec.id, first.spec.name, first.saved]).toEqual(['my_trips_2024', 'my_trips_2024', false]);
    const saved = await graphs.propose({ ...request, save: true }, {});
    expect(saved.spec).toEqual({ ...first.spec, spec_version: 1 });
    await expect(graphs.propose({ ...request, save: true }, {})).rejects.toMatchObject({ code: 'graph_exists' });
    await expect(graphs.propose({ ...request, id: 'a/b' }, {})).rejects.toMatchObject({ code: 'invalid_input' });
    const racing = [1, 2, 3].map(() => graphs.propose({ ...request, id: 'raced', save: true }, {}));
    const outcomes = (await Promise.allSettled(racing)).map(({ status }) => status).sort();
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected']);
    // No language model is configured that could refine the proposal.
    expect((await graphs.propose({ ...request, useLlm: true }, {})).llm_used).toBe(false);
  } finally {
    await graphs.close();
  }
});
