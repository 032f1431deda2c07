// Tests searches when memory is short: each allocation of the core is refused in turn. A search is
// then refused or answered correctly, leaves no memory behind, and the next one is correct.

import { describe, expect, test } from 'vitest';
import { type Core, type CoreModule, loadCore, STATUS } from '../../src/core/index.ts';
import { TextInputs } from '../../src/core/text-input.ts';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

/** Exports that allocate, with what they return when there is no memory. */
const REFUSALS = {
  hg_memory_alloc: 0,
  hg_memtable_new: 0,
  hg_segment_open: 0,
  hg_memtable_sort: STATUS.outOfMemory,
  hg_memtable_index: STATUS.outOfMemory,
  hg_memtable_lookup: STATUS.outOfMemory,
  hg_records_json: STATUS.outOfMemory,
  hg_segment_json: STATUS.outOfMemory,
  hg_segment_step: STATUS.outOfMemory,
  hg_text_build: STATUS.outOfMemory,
  hg_text_query: STATUS.outOfMemory,
  hg_text_prepare: STATUS.outOfMemory,
  hg_text_top: STATUS.outOfMemory,
  hg_words_new: STATUS.outOfMemory,
  hg_words_add: STATUS.outOfMemory,
  hg_words_gap: STATUS.outOfMemory,
} as const;

/**
 * A core in which allocations from number `from` to before `until`, counted from 1, are refused.
 */
class ShortMemory implements CoreModule {
  readonly instances: Core[] = [];
  allocations = 0;
  from = Infinity;
  until = Infinity;

  #isRefused(): boolean {
    const number = ++this.allocations;
    return number >= this.from && number < this.until;
  }

  instantiate(): Core {
    if (this.#isRefused()) throw new HedgerowError('overloaded', 'The process gets no memory.');
    const { exports, memory } = loadCore('debug').instantiate();
    const wrapped: Record<string, unknown> = { ...exports };
    for (const [name, refusal] of Object.entries(REFUSALS)) {
      const inner = exports[name as keyof typeof REFUSALS] as (...values: number[]) => number;
      wrapped[name] = (...values: number[]): number => (this.#isRefused() ? refusal : inner(...values));
    }
    const core = { exports: wrapped as unknown as Core['exports'], memory };
    this.instances.push(core);
    return core;
  }

  /** Bytes in use in all instances. */
  get used(): number {
    return this.instances.reduce((sum, { exports }) => sum + (exports.hg_memory_used() >>> 0), 0);
  }

  /** Refuses allocations from the `nth` of those that follow: `count` of them. */
  shorten(nth: number, count: number): void {
    this.allocations = 0;
    this.from = nth;
    this.until = nth + count;
  }

  relieve(): void {
    this.from = Infinity;
  }
}

const WORDS = ['budget', 'travel', 'costs', 'draft', 'plan', 'planned', 'trip', 'Z\u00fcrich'];

async function opened(): Promise<{ memory: ShortMemory; database: Database; embedded: EmbeddedStatements }> {
  const memory = new ShortMemory();
  const database = await openSim(simDisk(), { module: memory, segmentRows: 64, textPieceRows: 32 });
  const embedded = new EmbeddedStatements({ database });
  await embedded.run("CREATE HYPEREDGE TABLE notes () PROPERTIES (title TEXT DEFAULT 'a plan', body TEXT)");
  await embedded.run('CREATE TEXT INDEX ON notes (title, body)');
  return { memory, database, embedded };
}

async function insert(database: Database, count: number): Promise<void> {
  const bulk = database.table('notes').bulk();
  for (let row = 0; row < count; row++) {
    const body = Array.from({ length: 1 + (row % 7) }, (_, place) => WORDS[(row * 3 + place * row) % 8]).join(' ');
    bulk.add({
      event_ts: row % 50,
      members: [1 + (row % 3), 9],
      properties: row % 4 === 0 ? { body } : { title: body },
    });
  }
  await bulk.commit();
}

const STATEMENTS = [
  'MATCH (n:notes) WHERE search(n, \'budget "travel costs" pl* -draft\') RETURN n.id AS id',
  "MATCH (n:notes) WHERE search(n, 'budget') RETURN COUNT(*) AS n",
  "MATCH (n:notes) WHERE search(n, 'plan zurich') RETURN n.id AS id, score(n) AS s ORDER BY score(n) DESC, n.id LIMIT 5",
  "MATCH (n:notes) WHERE search(n, '+trip pla*') AND 2 IN n.members AND n.event_ts > 9 RETURN n.id AS id, score(n) AS s ORDER BY score(n) DESC, n.id LIMIT 3",
];

/**
 * Reads what a search reads that must score the texts itself. Each source of rows keeps memory for
 * the largest plan of columns that it was asked for.
 */
const WIDEST = 'MATCH (n:notes) RETURN n.id, n.title, n.body';

const STATES: Record<string, (database: Database, embedded: EmbeddedStatements) => Promise<unknown>> = {
  'in memory': (database) => insert(database, 100),
  compacted: async (database) => {
    await insert(database, 100);
    await database.compact({});
  },
  'in both, some of them deleted': async (database, embedded) => {
    await insert(database, 90);
    await database.compact({});
    await insert(database, 60);
    await embedded.run('DELETE FROM notes WHERE event_ts IN [3, 17, 40]');
  },
};

describe.each(Object.entries(STATES))('a search of rows %s', (_, fill) => {
  test.each(STATEMENTS)('finds no memory for an allocation: %s', async (text) => {
    const { memory, database, embedded } = await opened();
    await fill(database, embedded);
    await embedded.run(WIDEST);
    const run = async () => (await embedded.run(text)).rows;
    const expected = await run();
    expect(expected.length).toBeGreaterThan(0);
    let refused = 0;
    for (const count of [1, Infinity]) {
      for (let nth = 1; ; nth++) {
        expect(await run()).toEqual(expected);
        const before = memory.used;
        memory.shorten(nth, count);
        const outcome = await run().catch((error: unknown) => (error as HedgerowError).code);
        const isEnd = memory.allocations < nth;
        memory.relieve();
        const context = `allocation ${nth}, ${count} of them`;
        if (typeof outcome === 'string') expect(outcome, context).toBe('overloaded');
        else expect(outcome, context).toEqual(expected);
        expect(memory.used, context).toBe(before);
        expect(await run(), context).toEqual(expected);
        if (isEnd) break;
        if (typeof outcome === 'string') refused++;
      }
    }
    expect(refused).toBeGreaterThan(4);
    await database.close();
  });
});

test('text blocks over rows in memory find no memory for an allocation while they are built', async () => {
  const { memory, database, embedded } = await opened();
  await insert(database, 100);
  await embedded.run(WIDEST);
  const run = async () => (await embedded.run(STATEMENTS[2]!)).rows;
  const expected = await run();
  const { version, context } = database.table('notes');
  const { memtable } = version.memtables[0]!;
  for (const count of [1, Infinity]) {
    for (let nth = 1; ; nth++) {
      context.texts.release(memtable);
      expect(context.texts.bytes).toBe(0);
      const before = { used: memory.used, instances: memory.instances.length };
      memory.shorten(nth, count);
      const outcome = await run().catch((error: unknown) => (error as HedgerowError).code);
      const isEnd = memory.allocations < nth;
      memory.relieve();
      if (typeof outcome === 'string') expect(outcome).toBe('overloaded');
      else expect(outcome, `allocation ${nth}`).toEqual(expected);
      // Of the new instances, only that with the blocks has anything.
      const made = memory.instances.slice(before.instances).map(({ exports }) => exports.hg_memory_used() >>> 0);
      expect(made.filter((used) => used > 0).length, `allocation ${nth}`).toBeLessThanOrEqual(1);
      expect(memory.used - before.used).toBe(Math.max(0, ...made));
      expect(await run(), `after allocation ${nth}`).toEqual(expected);
      if (isEnd) break;
    }
  }
  await database.close();
});

test('the words of records leave no memory behind when an allocation is refused', () => {
  const memory = new ShortMemory();
  const core = memory.instantiate();
  const columns = ['a default', 'another one'].map((missing, id) => ({ id, missing }));
  const source = { columns, termsOf: (text: string) => text.split(' ') };
  const before = memory.used;
  for (let nth = 1; ; nth++) {
    memory.shorten(nth, 1);
    let inputs: TextInputs | undefined;
    try {
      inputs = new TextInputs(core, source);
    } catch (error) {
      expect((error as HedgerowError).code).toBe('overloaded');
    }
    inputs?.free();
    expect(memory.used, `allocation ${nth}`).toBe(before);
    if (inputs === undefined) continue;
    expect(nth).toBe(4);
    return;
  }
});
