import { describe, expect, it } from 'vitest';
import type { DocumentChange } from '../../src/engine/catalog/documents.ts';
import { HedgerowError } from '../../src/errors.ts';
import { graphStore } from '../../src/virtual/graph-store.ts';
import { BANK_SPEC } from './bank.ts';

/**
 * Returns a store of documents in memory. A change becomes visible a moment later, as if it had to
 * become durable first.
 */
function documentsInMemory() {
  const stored = new Map<string, unknown>();
  let failing = false;
  return {
    get: (_store: string, id: string) => stored.get(id),
    entries: (store: string): [string, unknown][] => (store === 'virtual_graphs' ? [...stored] : []),
    change: async (changes: readonly DocumentChange[]) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (failing) throw new HedgerowError('log_failed', 'The log has failed.');
      for (const { id, value } of changes) {
        if (value === null) stored.delete(id);
        else stored.set(id, structuredClone(value));
      }
      return 1;
    },
    put: (id: string, value: unknown) => stored.set(id, value),
    fail: (value: boolean) => {
      failing = value;
    },
  };
}

describe('the store of virtual graphs', () => {
  it('creates, lists and deletes graphs, and replaces a graph with its next version', async () => {
    const graphs = graphStore(documentsInMemory());
    expect(await graphs.create(BANK_SPEC)).toEqual({ ...BANK_SPEC, spec_version: 1 });
    expect(graphs.get('bank')).toEqual({ ...BANK_SPEC, spec_version: 1 });
    const renamed = { ...BANK_SPEC, name: 'New' };
    expect(await graphs.replace('bank', renamed)).toEqual({ ...renamed, spec_version: 2 });
    await graphs.create({ ...BANK_SPEC, id: 'b2' });
    expect(graphs.list()).toEqual([
      {
        id: 'bank',
        name: 'New',
        backend_type: 'duckdb',
        edge_labels: BANK_SPEC.edges.map(({ label }) => label),
        node_labels: ['Account', 'Broker', 'Lost'],
        spec_version: 2,
      },
      expect.objectContaining({ id: 'b2', spec_version: 1 }),
    ]);
    await graphs.delete('bank');
    expect(graphs.has('bank')).toBe(false);
    expect(graphs.list().map(({ id }) => id)).toEqual(['b2']);
    expect((await graphs.create(BANK_SPEC)).spec_version).toBe(1);
  });

  it('refuses an id that is taken, an unknown id, and a spec whose id differs from the id of its graph', async () => {
    const graphs = graphStore(documentsInMemory());
    await graphs.create(BANK_SPEC);
    await expect(graphs.create(BANK_SPEC)).rejects.toMatchObject({ code: 'graph_exists', status: 409 });
    expect(() => graphs.get('bnak')).toThrow(
      'There is no virtual graph "bnak"; list the graphs to see their ids (did you mean bank?).',
    );
    await expect(graphs.replace('x', BANK_SPEC)).rejects.toMatchObject({ code: 'graph_not_found', status: 404 });
    await expect(graphs.delete('x')).rejects.toMatchObject({ code: 'graph_not_found' });
    await expect(graphs.replace('bank', { ...BANK_SPEC, id: 'x' })).rejects.toMatchObject({
      code: 'invalid_input',
      errors: [{ loc: ['body', 'id'] }],
    });
    expect(graphs.get('bank').spec_version).toBe(1);
  });

  it('makes one change at a time, so that concurrent changes neither overlap nor get lost', async () => {
    const graphs = graphStore(documentsInMemory());
    const made = await Promise.allSettled([graphs.create(BANK_SPEC), graphs.create(BANK_SPEC)]);
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const replaced = await Promise.all(Array.from({ length: 20 }, () => graphs.replace('bank', BANK_SPEC)));
    expect(replaced.map(({ spec_version }) => spec_version)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
    const gone = await Promise.allSettled([graphs.delete('bank'), graphs.replace('bank', BANK_SPEC)]);
    expect(gone.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('keeps the stored graphs unchanged when the log fails', async () => {
    const documents = documentsInMemory();
    const graphs = graphStore(documents);
    await graphs.create(BANK_SPEC);
    documents.fail(true);
    await expect(graphs.replace('bank', BANK_SPEC)).rejects.toMatchObject({ code: 'log_failed' });
    await expect(graphs.delete('bank')).rejects.toMatchObject({ code: 'log_failed' });
    documents.fail(false);
    expect((await graphs.replace('bank', BANK_SPEC)).spec_version).toBe(2);
  });

  it('throws when a stored value is not a graph', () => {
    const documents = documentsInMemory();
    const graphs = graphStore(documents);
    for (const value of [
      1,
      'x',
      {},
      { ...BANK_SPEC, spec_version: 'x' },
      { ...BANK_SPEC, id: 'other', spec_version: 1 },
    ]) {
      documents.put('bank', value);
      expect(() => graphs.get('bank')).toThrow(/cannot be read/);
      expect(() => graphs.list()).toThrow(HedgerowError);
    }
  });
});
