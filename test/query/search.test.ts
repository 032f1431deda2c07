// Tests search() and score() in statements against a naive search engine, over random tables in
// memory (several memtables, with text blocks of a few rows), compacted, opened again, with deletes
// and changes, and in a transaction with its own writes. In some, the clock is so fast that blocks
// seem to take too long, and rows are judged from their texts. HEDGEROW_SEARCHES sets the number of
// tables (2000 for a long run).

import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { type NaiveDocument, naiveScores } from './naive-search.ts';

const TABLES = Number(process.env.HEDGEROW_SEARCHES ?? 25);
const WORDS = ['budget', 'travel', 'costs', 'draft', 'Ada', 'plan', 'planned', 'a', 'the', 'x9', 'budgets', 'trip'];

function textOf(random: Random): string | null {
  if (random.chance(0.1)) return null;
  const words = Array.from({ length: random.below(12) }, () => WORDS[Math.min(random.below(12), random.below(12))]!);
  return words.join([' ', ', ', '. ', ' - '][random.below(4)]);
}

function queryOf(random: Random): string {
  const word = () => WORDS[random.below(WORDS.length)]!;
  const part = (): string => {
    const sign = random.chance(0.25) ? '+' : random.chance(0.2) ? '-' : '';
    const dice = random.below(10);
    if (dice < 2) return `${sign}"${word()} ${word()}"`;
    if (dice < 3) return `${sign}"${word()} ${word()} ${word()}"`;
    if (dice < 5) return `${sign}${word().slice(0, 1 + random.below(4))}*`;
    return `${sign}${word()}`;
  };
  const parts = Array.from({ length: 1 + random.below(4) }, part);
  if (parts.every((each) => each.startsWith('-'))) parts.push(word());
  return parts.join(' ');
}

class World {
  readonly random: Random;
  readonly #segmentRows: number;
  readonly #memtableRows: number;
  readonly #textPieceRows: number;
  readonly #tickUs: number;
  #us = 0;
  readonly documents = new Map<number, NaiveDocument & { readonly event_ts: number }>();
  readonly disk = simDisk();
  database!: Database;
  embedded!: EmbeddedStatements;
  options: { session?: string } = {};

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#segmentRows = 4 + this.random.below(60);
    this.#memtableRows = 5 + this.random.below(60);
    this.#textPieceRows = 1 + this.random.below(40);
    this.#tickUs = this.random.chance(0.25) ? 20_000 : 7;
  }

  async open(): Promise<void> {
    const memtableLimits = { rows: this.#memtableRows, smallRows: Math.min(4, this.#memtableRows) };
    this.database = await openSim(this.disk, {
      segmentRows: this.#segmentRows,
      textPieceRows: this.#textPieceRows,
      memtableLimits,
      nowUs: () => (this.#us += this.#tickUs),
    });
    this.embedded = new EmbeddedStatements({ database: this.database });
  }

  async run(text: string, parameters: Record<string, unknown> = {}): Promise<Record<string, unknown>[]> {
    return (await this.embedded.run(text, parameters, this.options)).rows;
  }

  /** Checks searches in a transaction with writes of its own, which ends without them. */
  async checkTransaction(what: string): Promise<void> {
    const before = new Map(this.documents);
    this.options = { session: 'own' };
    await this.run('BEGIN');
    await this.change();
    for (let i = 0; i < 4; i++) {
      const [title, body, event_ts] = [textOf(this.random), textOf(this.random), this.random.below(1000)];
      await this.run('INSERT INTO notes (event_ts, members, title, body) VALUES ($event_ts, [1, 7], $title, $body)', {
        event_ts,
        title,
        body,
      });
      const [newest] = await this.run('MATCH (n:notes) RETURN MAX(n.id) AS id');
      const id = newest!.id as number;
      this.documents.set(id, { id, event_ts, texts: [title, body] });
    }
    await this.check(what);
    await this.run('ROLLBACK');
    this.options = {};
    this.documents.clear();
    for (const [id, document] of before) this.documents.set(id, document);
  }

  async insert(count: number): Promise<void> {
    const { random } = this;
    for (let i = 0; i < count; i++) {
      const [title, body] = [textOf(random), textOf(random)];
      const event_ts = random.below(1000);
      const members = [1 + random.below(5), 6 + random.below(5)];
      const { row } = await this.database.table('notes').insert({ event_ts, members, properties: { title, body } });
      this.documents.set(row.id, { id: row.id, event_ts, texts: [title, body] });
    }
  }

  async change(): Promise<void> {
    const { random } = this;
    const ids = [...this.documents.keys()];
    for (let i = 0; i < 5 && ids.length > 0; i++) {
      const id = ids[random.below(ids.length)]!;
      const known = this.documents.get(id);
      if (known === undefined) continue;
      if (random.chance(0.5)) {
        await this.run('DELETE FROM notes WHERE id = $id', { id });
        this.documents.delete(id);
      } else {
        const body = textOf(random);
        await this.run('UPDATE notes SET body = $body WHERE id = $id', { id, body });
        this.documents.set(id, { ...known, texts: [known.texts[0]!, body] });
      }
    }
  }

  /** Compares some searches with the naive ones. */
  async check(what: string): Promise<void> {
    for (let i = 0; i < 6; i++) {
      const query = queryOf(this.random);
      const naive = naiveScores([...this.documents.values()], query);
      const found = await this.run(
        'MATCH (n:notes) WHERE search(n, $query) RETURN n.id AS id, score(n) AS score ORDER BY score(n) DESC, n.id',
        { query },
      );
      const context = `${what}: ${query}`;
      expect(found.map(({ id }) => id).sort(), context).toEqual([...naive.keys()].sort());
      for (const { id, score } of found) expect(score as number, context).toBeCloseTo(naive.get(id as number)!, 9);
      const sorted = found.map(({ id, score }) => ({ id: id as number, score: score as number }));
      for (let at = 1; at < sorted.length; at++)
        expect(sorted[at - 1]!.score, context).toBeGreaterThanOrEqual(sorted[at]!.score);
      const limit = 1 + this.random.below(5);
      const best = await this.run(
        `MATCH (n:notes) WHERE search(n, $query) RETURN n.id AS id ORDER BY score(n) DESC, n.id LIMIT ${limit}`,
        { query },
      );
      expect(
        best.map(({ id }) => id),
        context,
      ).toEqual(sorted.slice(0, limit).map(({ id }) => id));
      await this.checkConditions(query, naive, context);
    }
  }

  async checkConditions(query: string, naive: ReadonlyMap<number, number>, context: string): Promise<void> {
    const from = this.random.below(1000);
    const within = [...this.documents.values()].filter(({ event_ts }) => event_ts >= from).map(({ id }) => id);
    // The best rows of a part of the table are those of the sorted whole.
    for (const where of [
      'n.event_ts >= $from',
      '3 IN n.members',
      'n.event_ts < $from AND 7 IN n.members',
      'n.id > 5',
    ]) {
      const order = `search(n, $query) AND ${where} RETURN n.id AS id ORDER BY score(n) DESC, n.event_ts DESC, n.id`;
      const all = await this.run(`MATCH (n:notes) WHERE ${order}`, { query, from });
      const [skip, limit] = [this.random.below(3), 1 + this.random.below(4)];
      const best = await this.run(`MATCH (n:notes) WHERE ${order} SKIP ${skip} LIMIT ${limit}`, { query, from });
      expect(best, `${context}, ${where}`).toEqual(all.slice(skip, skip + limit));
    }
    const ids = async (where: string) =>
      (await this.run(`MATCH (n:notes) WHERE ${where} RETURN n.id AS id`, { query, from })).map(({ id }) => id).sort();
    expect(await ids('search(n, $query) AND n.event_ts >= $from'), context).toEqual(
      within.filter((id) => naive.has(id)).sort(),
    );
    expect(await ids('NOT search(n, $query) AND n.event_ts >= $from'), context).toEqual(
      within.filter((id) => !naive.has(id)).sort(),
    );
    expect(await ids('search(n, $query) OR n.event_ts < $from'), context).toEqual(
      [...this.documents.values()]
        .filter(({ id, event_ts }) => naive.has(id) || event_ts < from)
        .map(({ id }) => id)
        .sort(),
    );
    const [{ n }] = (await this.run('MATCH (n:notes) WHERE search(n, $query) RETURN COUNT(*) AS n', { query })) as [
      { n: number },
    ];
    expect(n, context).toBe(naive.size);
    const limit = 1 + this.random.below(8);
    const some = await this.run(`MATCH (n:notes) WHERE search(n, $query) RETURN n.id AS id LIMIT ${limit}`, { query });
    expect(some.length, context).toBe(Math.min(limit, naive.size));
    expect(
      some.every(({ id }) => naive.has(id as number)),
      context,
    ).toBe(true);
    const newest = await this.run(
      'MATCH (n:notes) WHERE search(n, $query) RETURN n.id AS id ORDER BY n.event_ts DESC, n.id DESC LIMIT 3',
      { query },
    );
    const byTime = [...this.documents.values()]
      .filter(({ id }) => naive.has(id))
      .sort((a, b) => b.event_ts - a.event_ts || b.id - a.id);
    expect(
      newest.map(({ id }) => id),
      context,
    ).toEqual(byTime.slice(0, 3).map(({ id }) => id));
  }
}

describe('search and score', () => {
  test(
    `are those of a naive search engine (${TABLES} tables)`,
    async () => {
      for (let seed = 1; seed <= TABLES; seed++) {
        const world = new World(seed);
        await world.open();
        await world.run('CREATE HYPEREDGE TABLE notes () PROPERTIES (title TEXT, body TEXT)');
        if (world.random.chance(0.5)) await world.insert(world.random.below(60));
        await world.run('CREATE TEXT INDEX ON notes (title, body)');
        await world.insert(world.random.below(60));
        await world.check(`seed ${seed}, in memory`);
        await world.change();
        await world.checkTransaction(`seed ${seed}, in a transaction`);
        await world.insert(world.random.below(20));
        await world.check(`seed ${seed}, in memory and changed`);
        if (world.random.chance(0.7)) await world.database.compact({});
        await world.check(`seed ${seed}, compacted`);
        await world.change();
        await world.check(`seed ${seed}, changed`);
        await world.insert(world.random.below(20));
        await world.database.close();
        await world.open();
        await world.check(`seed ${seed}, opened again`);
        await world.database.compact({});
        await world.change();
        await world.check(`seed ${seed}, compacted and changed`);
        await world.database.close();
      }
    },
    TABLES * 3000 + 20_000,
  );
});
