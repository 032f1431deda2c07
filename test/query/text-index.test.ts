// Tests the life of a text index: how it is made, shown, used with other conditions, changed with
// its columns, dropped, verified, backed up, restored and followed.

import { describe, expect, test } from 'vitest';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { type Database, restoreBackup, verifyDirectory } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { SimFollower } from '../support/follower.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

type Rows = Record<string, unknown>[];

function runnerOf(database: Database) {
  const embedded = new EmbeddedStatements({ database });
  return async (text: string, parameters = {}, options = {}): Promise<Rows> =>
    (await embedded.run(text, parameters, options)).rows;
}

const NOTES = [
  "CREATE HYPEREDGE TABLE notes () ROLES (author) PROPERTIES (title TEXT DEFAULT 'untitled note', body TEXT, n INTEGER)",
  "INSERT INTO notes (event_ts, members, title, body, n) VALUES (10, [1, 2], 'Travel', 'The travel budgets of May', 1), (20, [2, 3], 'Plan', 'Costs of travel, planned', 2), (30, [3], 'Draft', NULL, 3)",
  "INSERT INTO notes (event_ts, members, body, n) VALUES (40, [1], 'A budget for Z\u00fcrich', 4)",
];

async function notes(fs: SimFs = simDisk(), more = {}) {
  const database = await openSim(fs, more);
  const run = runnerOf(database);
  for (const text of NOTES) await run(text);
  await run('CREATE TEXT INDEX ON notes (title, body) LANGUAGE english');
  const found = async (query: string, rest = ''): Promise<unknown[]> =>
    (await run(`MATCH (c:notes) WHERE search(c, $query) ${rest} RETURN c.n AS n ORDER BY c.n`, { query })).map(
      ({ n }) => n,
    );
  return { database, run, found };
}

const tagsOf = (database: Database): (number | undefined)[] =>
  database.table('notes').version.segments.map(({ facts }) => facts.textTag);

async function problemsOf(fs: SimFs): Promise<string[]> {
  const core = loadCore('release');
  const tools = { fs, core, crc32c: makeChecksum(core.instantiate()) };
  return (await verifyDirectory(tools, '/db', async () => {})).problems.map(({ what }) => what);
}

describe('a text index', () => {
  test('finds stems, phrases, defaults and folded words, from segments and memory', async () => {
    const { database, run, found } = await notes();
    for (const state of ['in segments and memory', 'compacted', 'with later rows']) {
      expect(await found('budget'), state).toEqual([1, 4]);
      expect(await found('plans'), state).toEqual([2]);
      expect(await found('"travel budget"'), state).toEqual([1]);
      expect(await found('may-costs'), state).toEqual([1, 2]);
      expect(await found('"travel the"'), state).toEqual([]);
      expect(await found('zurich'), state).toEqual([4]);
      expect(await found('untitled'), state).toEqual([4]);
      expect(await found('+travel -plan'), state).toEqual([1]);
      expect(await found('trav* dra*'), state).toEqual([1, 2, 3]);
      if (state === 'in segments and memory') await database.compact({});
      else await run("INSERT INTO notes (event_ts, members, title, body, n) VALUES (5, [9], 'Late', 'other words', 5)");
    }
    expect(await found('words')).toEqual([5, 5]);
    expect(tagsOf(database).every((tag) => tag !== undefined)).toBe(true);
  });

  test('works with times, nodes, ranges, joins, EXISTS, OR, NOT, aggregates, and in changes', async () => {
    const { database, run, found } = await notes();
    for (const isCompacted of [false, true]) {
      if (isCompacted) await database.compact({});
      expect(await found('travel budget', 'AND c.event_ts < 20')).toEqual([1]);
      expect(await found('travel budget', 'AND 1 IN c.members')).toEqual([1, 4]);
      expect(await found('travel budget', 'AND c.n > 1')).toEqual([2, 4]);
      expect(await found('travel budget', "AND c.title = 'Plan'")).toEqual([2]);
      const pairs = await run(
        "MATCH (a:notes), (b:notes) WHERE search(a, 'budget') AND search(b, 'travel') AND shared(a, b) >= 1 AND a.n <> b.n RETURN a.n AS a, b.n AS b ORDER BY a.n, b.n",
      );
      expect(pairs).toEqual([
        { a: 1, b: 2 },
        { a: 4, b: 1 },
      ]);
      const beside = await run(
        "MATCH (a:notes) WHERE EXISTS ((b:notes) WHERE search(b, 'zurich') AND shared(a, b) >= 1) RETURN a.n AS n ORDER BY a.n",
      );
      expect(beside).toEqual([{ n: 1 }, { n: 4 }]);
      expect(await run("MATCH (c:notes) WHERE NOT search(c, 'travel') RETURN c.n AS n ORDER BY c.n")).toEqual([
        { n: 3 },
        { n: 4 },
      ]);
      const [{ n, best }] = (await run(
        "MATCH (c:notes) WHERE search(c, 'travel') RETURN COUNT(*) AS n, MAX(score(c)) AS best",
      )) as [{ n: number; best: number }];
      expect([n, best > 0.3]).toEqual([2, true]);
    }
    await run("UPDATE notes SET body = 'nothing left' WHERE search(notes, 'zurich')");
    expect([await found('zurich'), await found('left')]).toEqual([[], [4]]);
    await run("DELETE FROM notes WHERE search(notes, 'left')");
    expect(await found('left untitled')).toEqual([]);
    await database.compact({});
    expect(await found('left untitled budget')).toEqual([1]);
  });

  test('is seen by a transaction with its own writes, and scored in its snapshot', async () => {
    const { run } = await notes();
    const own = { session: 'own' };
    const scores = async (options = {}) =>
      (await run(
        "MATCH (c:notes) WHERE search(c, 'budget') RETURN c.n AS n, score(c) AS score ORDER BY c.n",
        {},
        options,
      )) as {
        n: number;
        score: number;
      }[];
    await run('BEGIN', {}, own);
    const before = await scores(own);
    await run("INSERT INTO notes (event_ts, members, body, n) VALUES (50, [1], 'more travel', 6)");
    expect(await scores(own)).toEqual(before);
    expect((await scores()).map(({ score }) => score)).not.toEqual(before.map(({ score }) => score));
    await run("INSERT INTO notes (event_ts, members, body, n) VALUES (51, [1], 'my budget', 7)", {}, own);
    expect((await scores(own)).map(({ n }) => n)).toEqual([1, 4, 7]);
    expect((await scores()).map(({ n }) => n)).toEqual([1, 4]);
    await run('ROLLBACK', {}, own);
  });

  test('is shown, explained, refused where it cannot be, and dropped', async () => {
    const { database, run } = await notes();
    await database.compact({});
    expect(await run('SHOW INDEXES ON notes')).toEqual([
      {
        table: 'notes',
        kind: 'text',
        column: null,
        columns: ['title', 'body'],
        language: 'english',
        created_at: expect.any(Number),
      },
    ]);
    const [plan] = await run("EXPLAIN MATCH (c:notes) WHERE search(c, 'travel') AND c.n > 1 RETURN score(c)");
    expect(plan).toMatchObject({ strategy: 'TEXT_SEARCH', index_type: 'TEXT' });
    expect(JSON.stringify(plan)).toContain("search(c, 'travel')");
    // The scan returns rows that match, so the search is no filter, unless it is one of several.
    expect(JSON.stringify(plan)).not.toContain('"filter"');
    const [second] = await run("EXPLAIN MATCH (c:notes) WHERE search(c, 'travel') AND search(c, 'plan') RETURN c.n");
    expect(second!.plan).toMatchObject({
      children: [{ search: "search(c, 'travel')", filter: ["search(c, 'plan')"] }],
    });
    for (const [text, detail] of [
      ["MATCH (c:notes) WHERE search(c, '') RETURN c", 'at least one word'],
      ["MATCH (c:notes) WHERE search(c, '-a -b') RETURN c", 'only words with'],
      ['MATCH (c:notes) WHERE search(c, 5) RETURN c', 'not integer'],
      ["MATCH (c:notes) WHERE search(c.title, 'a') RETURN c", 'alias'],
      ["MATCH (c:notes) WHERE search(d, 'a') RETURN c", 'not an alias'],
      ['MATCH (c:notes) RETURN score(c)', 'needs a search'],
      ["MATCH (c:notes) WHERE search(c, 'a') AND search(c, 'b') RETURN score(c)", 'one search'],
      [
        "MATCH (c:notes) WHERE EXISTS ((d:notes) WHERE search(c, 'a') AND shared(c, d) >= 1) RETURN score(c)",
        'needs a search in WHERE',
      ],
      ["MATCH (c:hyperedges) WHERE search(c, 'a') RETURN c", 'CREATE TEXT INDEX ON hyperedges'],
      ['CREATE TEXT INDEX ON notes (body)', 'text index already'],
      ['CREATE TEXT INDEX ON hyperedges (formation, Formation)', 'named twice'],
      ['CREATE TEXT INDEX ON hyperedges (weight)', 'TEXT column'],
      ['CREATE TEXT INDEX ON hyperedges (nothing)', 'no column'],
      ['CREATE TEXT INDEX ON hyperedges (formation) LANGUAGE latin', 'no language'],
      ['DROP TEXT INDEX ON hyperedges', 'no text index'],
    ] as const)
      await expect(run(text), text).rejects.toThrow(detail);
    for (const text of [
      'MATCH (c:notes) WHERE c.n > 1 AND search(c, $q) RETURN c',
      'EXPLAIN MATCH (c:notes) WHERE c.n > 1 AND search(c, $q) RETURN c',
      'DELETE FROM notes WHERE n > 1000 AND       NOT search(notes, $q)',
      'MATCH (d:notes) WHERE d.n > 1 AND EXISTS ((c:notes) WHERE search(c, $q) AND shared(c, d) >= 1) RETURN d',
    ]) {
      const refused = run(text, { q: ' ' });
      await expect(refused, text).rejects.toThrow(`Line 1, column ${text.indexOf('$q') + 1}: `);
      await expect(refused, text).rejects.toThrow('at least one word');
    }
    expect(await run('DROP TEXT INDEX ON notes')).toEqual([{ table: 'notes', kind: 'text', dropped: true }]);
    await expect(run("MATCH (c:notes) WHERE search(c, 'a') RETURN c")).rejects.toThrow('no text index');
    expect(await run('SHOW INDEXES ON notes')).toEqual([]);
  });

  test('follows its columns: renamed, dropped, added; and is built again for another language', async () => {
    const { database, run, found } = await notes();
    await run('ALTER TABLE notes RENAME COLUMN body TO content');
    await run('ALTER TABLE notes RENAME TO notes2');
    await run('ALTER TABLE notes2 RENAME TO notes');
    expect(await found('budget')).toEqual([1, 4]);
    const [before] = tagsOf(database);
    await run('DROP TEXT INDEX ON notes');
    await run('CREATE TEXT INDEX ON notes (content)');
    expect(tagsOf(database)).toEqual([expect.any(Number)]);
    expect(tagsOf(database)[0]).not.toBe(before);
    expect([await found('budget'), await found('budgets'), await found('untitled')]).toEqual([[4], [1], []]);
    await run('ALTER TABLE notes DROP COLUMN content');
    await expect(found('budget')).rejects.toThrow('no text index');
    await run('ALTER TABLE notes ADD COLUMN content TEXT');
    await run('CREATE TEXT INDEX ON notes (content, title)');
    expect(await found('travel budget')).toEqual([1]);
  });

  test('is verified, backed up and restored', async () => {
    const fs = simDisk();
    const { database } = await notes(fs);
    await database.compact({});
    expect(await problemsOf(fs)).toEqual([]);
    const { path } = await database.backup({ dir: '/backups', compactFirst: false });
    await database.close();
    const core = loadCore('release');
    const idle = { progress: () => undefined, checkStopped: () => undefined };
    const crc32c = makeChecksum(core.instantiate());
    await restoreBackup({ fs, crc32c, core, file: path, dir: '/backups/restored', ...idle });
    const restored = await openSim(fs, { dir: '/backups/restored' });
    expect(restored.textIndexes.list()).toMatchObject([
      { table: 'notes', columns: ['title', 'body'], language: 'english' },
    ]);
    expect(await runnerOf(restored)("MATCH (c:notes) WHERE search(c, 'budgets') RETURN c.n AS n ORDER BY c.n")).toEqual(
      [{ n: 1 }, { n: 4 }],
    );
    await restored.close();
  });

  test('is made and dropped by a follower', async () => {
    const fs = simDisk();
    const { FOLLOWED } = await import('../support/follower.ts');
    const { database, run } = await notes(fs, FOLLOWED);
    const follower = await SimFollower.start(database, fs, 7);
    await run('DROP TEXT INDEX ON notes');
    await run('CREATE TEXT INDEX ON notes (body)');
    await follower.follow(database);
    const there = runnerOf(follower.database);
    expect(follower.database.textIndexes.list()).toEqual(database.textIndexes.list());
    expect(await there("MATCH (c:notes) WHERE search(c, 'budgets') RETURN c.n AS n")).toEqual([{ n: 1 }]);
  });
});
