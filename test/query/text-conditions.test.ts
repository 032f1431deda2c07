// Tests conditions that a TEXT column is a constant, which the core checks while it scans. `IN`
// with one text has the same meaning and is evaluated on rows, so each statement is compared with
// itself under IN.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { Statements } from '../../src/query/statements.ts';
import type { RunSteps } from '../../src/schedule/scheduler.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { runDoor, WITH_TURNS } from './door.ts';

const ROWS = 3000;
const KINDS = ['', 'a', 'ab', 'abc', 'é', '日本', "it's", null];
const LONG = 'x'.repeat(2000);

let dir: string;
let database: Database;
let statements: Statements;
let commits = 0;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-texts-'));
  database = await openDatabase({ dir });
  statements = new Statements({
    database,
    now: () => 1e12,
    nowUs: () => 0,
    newId: () => `t${commits++}`,
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
  await run("CREATE HYPEREDGE TABLE T (node) PROPERTIES (n INTEGER, kind TEXT, place TEXT DEFAULT 'home')");
});

afterEach(async () => {
  statements.close();
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

async function run(text: string, parameters: ParameterValues = {}, session = 's', slices: RunSteps = WITH_TURNS) {
  return (await runDoor(statements, text, parameters, session, slices)).rows;
}

async function fill(from: number, to: number): Promise<void> {
  const bulk = database.table('T').bulk();
  for (let i = from; i < to; i++) {
    const properties: Record<string, string | number | null> = { n: i % 50 };
    const kind = KINDS[i % KINDS.length]!;
    if (i % 3 > 0) properties.kind = i % 101 === 0 ? LONG : kind;
    if (i % 4 > 0) properties.place = i % 4 === 1 ? null : `p${i % 7}`;
    bulk.add({ event_ts: i, members: [i % 10, 10 + (i % 7)], properties });
  }
  await bulk.commit();
}

/** Statements in which `@` stands for `= text` or `IN [text]`. */
const FORMS = [
  'MATCH (t:T) WHERE t.kind @ RETURN t.id',
  'MATCH (t:T) WHERE t.kind @ RETURN t',
  'MATCH (t:T) WHERE t.kind @ RETURN *',
  'MATCH (t:T) WHERE t.place @ RETURN t.id, t.kind, t.place',
  'MATCH (t:T) WHERE t.kind @ RETURN COUNT(*) AS c',
  'MATCH (t:T) WHERE t.kind @ RETURN COUNT(*) AS c, MIN(t.event_ts) AS least, SUM(t.n) AS sum, MAX(t.place) AS last',
  'MATCH (t:T) WHERE t.place @ RETURN t.kind, COUNT(*) AS c, SUM(t.n) AS sum',
  'MATCH (t:T) WHERE t.kind @ AND t.n > 20 RETURN t.n, COUNT(*) AS c',
  "MATCH (t:T) WHERE t.kind @ AND t.place = 'home' RETURN t.id, t.n",
  "MATCH (t:T) WHERE t.kind @ AND t.kind = 'ab' RETURN t.id",
  "MATCH (t:T) WHERE t.kind @ AND t.place <> 'home' RETURN t.id, t.place",
  'MATCH (t:T) WHERE t.kind @ RETURN t.id LIMIT 7',
  'MATCH (t:T) WHERE t.kind @ RETURN t LIMIT 7',
  'MATCH (t:T) WHERE t.kind @ RETURN t.id SKIP 5 LIMIT 7',
  'MATCH (t:T) WHERE t.kind @ RETURN t.id ORDER BY t.event_ts DESC LIMIT 9',
  'MATCH (t:T) WHERE t.kind @ RETURN DISTINCT t.place',
  'MATCH (t:T) WHERE 3 IN t.members AND t.kind @ RETURN t.id',
  'MATCH (t:T) WHERE 3 IN t.members AND t.kind @ RETURN COUNT(*) AS c',
  'MATCH (t:T) WHERE t.event_ts BETWEEN 100 AND 1900 AND t.kind @ RETURN t.id',
  'MATCH (t:T) WHERE t.event_ts IN [5, 6, 700, 701, 2500] AND t.kind @ RETURN t.id',
  'MATCH (t:T) WHERE (t.event_ts = 5 OR 4 IN t.members) AND t.kind @ RETURN t.id',
  'MATCH (t:T) WHERE (t.kind @ OR t.event_ts = 5) RETURN t.id',
  'MATCH (t:T) WHERE (t.kind @ AND t.event_ts < 50 OR t.event_ts > 2900) RETURN t.id',
  'MATCH (t:T) WHERE NOT (t.kind @) RETURN t.id',
  'MATCH (t:T) WHERE t.id BETWEEN 50 AND 400 AND t.kind @ RETURN t.id',
  'MATCH (a:T), (b:T) WHERE a.kind @ AND b.kind @ AND shared(a, b) >= 2 AND overlaps(a, b, 200) RETURN a.id, b.id ORDER BY a.id, b.id',
  "MATCH (a:T), (b:T) WHERE a.kind @ AND b.place = 'home' AND overlaps(a, b, 20) RETURN COUNT(*) AS c",
  'MATCH (t:T) WHERE t.n < 10 AND EXISTS ((u:T) WHERE u.kind @ AND u.n = t.n) RETURN t.id',
  'MATCH (t:T) WHERE t.kind @ AND NOT EXISTS ((u:T) WHERE u.event_ts = t.event_ts + 1) RETURN t.id',
];

/**
 * Compares all forms, with the text and with a parameter. Returns the number of rows found. Groups
 * and distinct rows come in any order.
 */
async function compareForms(text: string, session: string): Promise<number> {
  let found = 0;
  for (const form of FORMS) {
    const literal = `'${text.replaceAll("'", "''")}'`;
    const filtered = await run(form.replaceAll('@', `IN [${literal}]`), {}, session);
    const isOrdered = !/COUNT|DISTINCT/.test(form);
    for (const condition of [`= ${literal}`, '= $text']) {
      const checked = await run(form.replaceAll('@', condition), condition === '= $text' ? { text } : {}, session);
      const what = `${form} with ${condition}`;
      if (isOrdered) expect(checked, what).toEqual(filtered);
      else
        expect(new Set(checked.map((row) => JSON.stringify(row))), what).toEqual(
          new Set(filtered.map((row) => JSON.stringify(row))),
        );
    }
    found += filtered.length;
  }
  return found;
}

const TEXTS = ['', 'a', 'ab', 'abcd', 'é', "it's", 'home', 'p3', LONG];

describe('a condition on a text', () => {
  it('finds the same rows as IN in memory, in segments and in both', async () => {
    await fill(0, 700);
    for (const text of TEXTS) expect(await compareForms(text, 's')).toBeGreaterThan(20);
    await database.compact({});
    await fill(700, ROWS);
    for (const text of TEXTS) await compareForms(text, 's');
    await run('DELETE FROM T WHERE n % 5 = 1');
    await run("UPDATE T SET kind = 'ab' WHERE n = 7");
    for (const text of ['', 'ab', 'home']) await compareForms(text, 's');
    await database.compact({});
    await database.createIndex('T', 'n');
    for (const text of ['', 'ab', 'home']) await compareForms(text, 's');
  }, 60_000);

  it('sees what its transaction has staged, and the state at its begin', async () => {
    await fill(0, 1200);
    await database.compact({});
    await fill(1200, 1500);
    await run('BEGIN', {}, 'mine');
    await run("UPDATE T SET kind = 'new' WHERE kind = 'abc' AND n < 25", {}, 'mine');
    await run("DELETE FROM T WHERE kind = 'é'", {}, 'mine');
    await run(
      "INSERT INTO T (event_ts, members, kind, place) VALUES (1, [1], 'abc', 'new'), (9999, [2], 'new', NULL)",
      {},
      'mine',
    );
    await run("UPDATE T SET kind = 'later' WHERE kind = 'ab'");
    for (const text of ['abc', 'new', 'é', 'ab', 'later', 'home']) await compareForms(text, 'mine');
    const count = async (text: string, session: string) =>
      (await run(`MATCH (t:T) WHERE t.kind = '${text}' RETURN COUNT(*) AS c`, {}, session))[0].c;
    expect(await count('é', 'mine')).toBe(0);
    expect(await count('new', 's')).toBe(0);
    expect(await count('new', 'mine')).toBeGreaterThan(10);
    expect(await count('later', 'mine')).toBe(0);
    expect(await count('later', 's')).toBeGreaterThan(10);
    expect(await count('ab', 'mine')).toBe(await count('later', 's'));
    await run('ROLLBACK', {}, 'mine');
  });

  it('uses the default of a column that was added later, and the values of a snapshot', async () => {
    await fill(0, 500);
    await database.compact({});
    await run('BEGIN', {}, 'old');
    await run('MATCH (t:T) RETURN COUNT(*) AS c', {}, 'old');
    await run("ALTER TABLE T ADD COLUMN more TEXT DEFAULT 'x'");
    await run('ALTER TABLE T ADD COLUMN less TEXT');
    await fill(500, 700);
    await run("UPDATE T SET more = 'y', less = 'x' WHERE n = 3");
    const counts = async (session: string) => {
      const found: number[] = [];
      for (const condition of ["t.more = 'x'", "t.more = 'y'", "t.more = ''", "t.less = 'x'", "t.less = ''"])
        found.push((await run(`MATCH (t:T) WHERE ${condition} RETURN COUNT(*) AS c`, {}, session))[0].c);
      const listed = await run("MATCH (t:T) WHERE t.more = 'x' RETURN t.id", {}, session);
      expect(listed.length).toBe(found[0]);
      return found;
    };
    const wanted = [686, 14, 0, 14, 0];
    expect(await counts('s')).toEqual(wanted);
    expect(await counts('old')).toEqual([500, 0, 0, 0, 0]);
    await database.compact({});
    expect(await counts('s')).toEqual(wanted);
    await run('ROLLBACK', {}, 'old');
  });

  it.each([
    ['ALTER TABLE T DROP COLUMN kind', undefined],
    ['ALTER TABLE T RENAME COLUMN kind TO other', "ALTER TABLE T ADD COLUMN kind TEXT DEFAULT 'ab'"],
  ])('reads the column of its snapshot after %s', async (alter, then) => {
    await fill(0, 2000);
    await database.compact({});
    const text =
      "MATCH (a:T), (b:T) WHERE a.kind = 'ab' AND b.kind = 'ab' AND a.n = b.n AND a.event_ts < 400 RETURN COUNT(*) AS c";
    const [{ c }] = await run(text);
    expect(c).toBeGreaterThan(100);
    const result = statements.read(statements.prepare(text), {}, 's', undefined)! as StatementResult;
    await run(alter);
    if (then !== undefined) await run(then);
    let value: unknown;
    for (const chunk of result.steps) if (chunk !== null) value = valueAt(chunk.items[0]!, 0);
    expect(value).toBe(c);
  });

  it('finds the rows that UPDATE and DELETE change, also if the table is altered meanwhile', async () => {
    await fill(0, ROWS);
    await database.compact({});
    const count = async (condition: string) => (await run(`MATCH (t:T) WHERE ${condition} RETURN COUNT(*) AS c`))[0].c;
    for (const [text, alter] of [
      ['ab', "ALTER TABLE T ADD COLUMN more TEXT DEFAULT 'x'"],
      ['abc', 'ALTER TABLE T DROP COLUMN more'],
      ['é', 'ALTER TABLE T RENAME COLUMN place TO where_it_is'],
    ] as const) {
      const all = await count(`t.kind IN ['${text}']`);
      expect(all).toBeGreaterThan(100);
      let isAltered = false;
      const slices: RunSteps = async (step) => {
        while (step()) {
          if (!isAltered) await run(alter);
          isAltered = true;
        }
      };
      const [changed] = await run(`UPDATE T SET kind = '${text}2' WHERE kind = '${text}'`, {}, 's', slices);
      expect(changed).toMatchObject({ rows_affected: all });
      expect([await count(`t.kind = '${text}'`), await count(`t.kind = '${text}2'`)]).toEqual([0, all]);
      const [deleted] = await run('DELETE FROM T WHERE kind = $kind', { kind: `${text}2` });
      expect(deleted).toMatchObject({ rows_affected: all });
      expect(await count(`t.kind IN ['${text}2']`)).toBe(0);
    }
  });

  it('finds nothing for NULL and texts that cannot be stored, and long texts like others', async () => {
    await fill(0, 1000);
    await database.compact({});
    await fill(1000, 1200);
    const text = 'MATCH (t:T) WHERE t.kind = $text RETURN COUNT(*) AS c';
    for (const [value, least] of [
      [null, 0],
      ['x'.repeat(70_000), 0],
      [LONG, 1],
      ['ab', 1],
      ['', 1],
    ] as const) {
      const [{ c }] = await run(text, { text: value });
      expect(c > 0, JSON.stringify(value)?.slice(0, 20)).toBe(least > 0);
    }
    await expect(run(text, { text: '\ud800' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(run("MATCH (t:T) WHERE t.kind = '\ud800' RETURN t.id")).rejects.toMatchObject({ status: 400 });
    await expect(run('MATCH (t:T) WHERE t.kind = 5 RETURN t.id')).rejects.toMatchObject({ status: 400 });
    await expect(run(text, { text: 5 })).rejects.toMatchObject({ status: 400 });
  });

  it('is shown as a filter, with the strategy of the scan', async () => {
    await fill(0, 1000);
    await database.compact({});
    const planOf = async (where: string) => {
      const [row] = await run(`EXPLAIN MATCH (t:T) WHERE ${where} RETURN t.id`);
      const [, filter] = /"filter":(\[[^\]]*\])/.exec(JSON.stringify(row.plan))!;
      return [row.strategy, row.estimated_rows, JSON.parse(filter!)];
    };
    expect(await planOf("t.kind = 'a'")).toEqual(['FULL_SCAN', 1000, ["t.kind = 'a'"]]);
    expect(await planOf("t.n <> 3 AND t.event_ts < 100 AND 'a' = t.kind")).toEqual([
      'TPI_BUCKET_PUSHDOWN',
      100,
      ["'a' = t.kind", 't.n <> 3'],
    ]);
    expect((await planOf("3 IN t.members AND t.kind = 'a'"))[0]).toBe('FMI_LOOKUP');
  });
});

describe('a condition on a text of a node', () => {
  beforeEach(async () => {
    const columns = [
      { name: 'city', type: 'TEXT' as const },
      { name: 'id', type: 'TEXT' as const },
    ];
    const nodes = await database.nodes.createTable({ name: 'Human', key: { name: 'name', type: 'TEXT' }, columns });
    const table = await database.createTable({
      name: 'calls',
      memberTables: ['Human'],
      columns: [{ name: 'kind', type: 'TEXT' }],
    });
    const transaction = database.begin();
    for (let i = 0; i < 1000; i++)
      transaction.insertNode(nodes, { name: `h${i}`, city: i % 10 === 0 ? null : `c${i % 10}`, id: `i${i % 4}` });
    await transaction.commit();
    const bulk = table.bulk();
    for (let i = 0; i < 3000; i++)
      bulk.add({
        event_ts: i,
        members: [`h${i % 997}`, `h${(i * 7) % 991}`],
        properties: { kind: KINDS[i % 8] ?? null },
      });
    await bulk.commit();
  });

  it('finds the same nodes and edges as IN', async () => {
    const forms = [
      'MATCH (h:Human) WHERE h.city @ RETURN h.name',
      'MATCH (h:Human) WHERE h.city @ RETURN h',
      'MATCH (h:Human) WHERE h.id @ RETURN h.name, h.city',
      'MATCH (h:Human) WHERE h.city @ RETURN COUNT(*) AS c',
      'MATCH (h:Human) WHERE h.name @ RETURN h.city',
      "MATCH (h:Human) WHERE h.name = 'h3' AND h.city @ RETURN h.id",
      'MATCH (h:Human), (c:calls) WHERE h IN c.members AND h.city @ RETURN h.name, COUNT(*) AS c ORDER BY h.name',
      "MATCH (h:Human), (c:calls) WHERE h IN c.members AND h.city @ AND c.kind = 'ab' RETURN h.name, COUNT(*) AS c ORDER BY h.name",
      "MATCH (h:Human), (c:calls) WHERE h IN c.members AND h.city @ AND c.kind = 'ab' RETURN h.name, c.id ORDER BY h.name, c.id",
      'MATCH (h:Human), (c:calls) WHERE h IN c.members AND c.event_ts < 5 AND h.city @ RETURN h.name, c.id ORDER BY h.name, c.id',
      'MATCH (h:Human) WHERE EXISTS ((c:calls) WHERE h IN c.members AND c.kind @) RETURN h.name',
    ];
    let found = 0;
    for (const isCompact of [false, true]) {
      if (isCompact) await database.compact({});
      for (const form of forms)
        for (const text of ['c3', 'c', '', 'i2', 'h3', 'ab']) {
          const rows = await run(form.replaceAll('@', `IN ['${text}']`));
          expect(await run(form.replaceAll('@', `= '${text}'`)), `${form} ${text}`).toEqual(rows);
          found += rows.length;
        }
    }
    expect(found).toBeGreaterThan(1000);
    const [plan] = await run("EXPLAIN MATCH (h:Human) WHERE h.name = 'h3' AND h.city = 'c3' RETURN h.id");
    expect(plan.strategy).toBe('NODE_LOOKUP');
  });

  it('finds the nodes that UPDATE and DELETE change', async () => {
    await database.compact({});
    expect(await run("UPDATE Human SET city = 'new' WHERE city = 'c3'")).toMatchObject([{ rows_affected: 100 }]);
    expect(await run("MATCH (h:Human) WHERE h.city = 'new' RETURN COUNT(*) AS c")).toEqual([{ c: 100 }]);
    expect(await run("MATCH (h:Human) WHERE h.city = 'c3' RETURN COUNT(*) AS c")).toEqual([{ c: 0 }]);
    expect(await run("DELETE FROM calls WHERE kind = 'ab'")).toMatchObject([{ rows_affected: 375 }]);
    expect(await run("MATCH (c:calls) WHERE c.kind = 'ab' RETURN c.id")).toEqual([]);
  });
});
