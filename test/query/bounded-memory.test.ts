// Tests the memory limits for a statement: concatenated texts are limited like stored texts, every
// operator counts its bytes, and all running statements share a budget.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { MemoryPool } from '../../src/query/executor/memory.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { CopyPlace } from './copy-place.ts';
import { runDoor, WITH_TURNS } from './door.ts';

const MB = 2 ** 20;
const LONG = 'x'.repeat(60_000);

let place: CopyPlace;
let plain: Statements;
const opened: Statements[] = [];
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('three');
  await place.table('t');
  const edgesOf = (count: number) =>
    Array.from({ length: count }, (_, row) => ({
      event_ts: row,
      members: [row % 7, 100 + (row % 11)],
      properties: { n: row % 50, place: `p${row}` },
    }));
  await place.insert('three', edgesOf(3));
  await place.insert('t', edgesOf(400));
  plain = statementsOf(new MemoryPool({ statementBytes: 512 * MB, totalBytes: 1024 * MB }));
});
afterAll(async () => {
  for (const statements of opened) statements.close();
  await place.close();
});

function statementsOf(memory: MemoryPool): Statements {
  const statements = new Statements({
    database: place.database,
    now: () => 0,
    nowUs: () => 0,
    newId: () => 'id',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
    memory,
  });
  opened.push(statements);
  return statements;
}

const refusal = (code: string) => expect.objectContaining({ code, message: expect.stringMatching(/.{30}/) });

describe('large tables of numbers', () => {
  const ROWS = 20_000;
  /** Working memory of a batch, plus garbage that has not been collected yet. */
  const SLACK = 24 * MB;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const columns = (count: number, of: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => of(i)).join(', ');

  beforeAll(async () => {
    await place.table('numbers');
    const edges = Array.from({ length: ROWS }, (_, row) => ({
      event_ts: row,
      members: [row % 7, 100],
      properties: { n: row * 3 },
    }));
    await place.insert('numbers', edges);
  });

  test.each([
    ['DISTINCT', `RETURN DISTINCT ${columns(80, (i) => `e.n * ${i + 1} AS c${i}`)}`],
    ['groups', `RETURN ${columns(80, (i) => `e.n * ${i + 1} AS c${i}`)}, COUNT(*) AS z`],
    ['COUNT(DISTINCT ..)', `RETURN ${columns(160, (i) => `COUNT(DISTINCT e.n * ${i + 1}) AS c${i}`)}`],
    ['COUNT(DISTINCT ..) of groups', `RETURN e.n AS g, ${columns(80, (i) => `COUNT(DISTINCT e.n * ${i}) AS c${i}`)}`],
    ['AVG of groups', `RETURN e.n AS g, ${columns(200, (i) => `AVG(e.n * ${i}) AS c${i}`)}`],
  ])('take no more memory than is counted for %s, and are refused when that is too much', async (_, items) => {
    const memory = new MemoryPool({ statementBytes: 64 * MB, totalBytes: 1024 * MB });
    const statements = statementsOf(memory);
    const result = await statements.execute(statements.prepare(`MATCH (e:numbers) ${items}`), {
      parameters: {},
      session: 's',
      slices: WITH_TURNS,
    });
    collect();
    const before = process.memoryUsage().arrayBuffers;
    let beyond = 0;
    const runOut = () => {
      for (let step = 1; result.steps.next().done !== true; step++) {
        if (step % 40 !== 0) continue;
        collect();
        beyond = Math.max(beyond, process.memoryUsage().arrayBuffers - before - memory.usedBytes);
      }
    };
    expect(runOut).toThrow(refusal('query_too_large'));
    expect(beyond).toBeLessThan(SLACK);
    expect(memory.usedBytes).toBe(0);
  });
});

test.each([
  ['many texts', Array.from({ length: 100_000 }, (_, i) => `t${i}`)],
  ['many numbers', Array.from({ length: 100_000 }, (_, i) => i * 7)],
  ['long texts', Array.from({ length: 300 }, (_, i) => `${i}`.padStart(17_000, 'x'))],
])('a list of %s is prepared for IN in steps, and its memory is counted', async (_, list) => {
  const memory = new MemoryPool({ statementBytes: 512 * MB, totalBytes: 1024 * MB });
  const statements = statementsOf(memory);
  const column = typeof list[0] === 'number' ? 'e.n' : 'e.place';
  const run = async (parameter: ParameterValues[string]) => {
    const result = await statements.execute(
      statements.prepare(`MATCH (e:three) WHERE NOT (${column} + ${column} IN $l) RETURN COUNT(*) AS c`),
      { parameters: { l: parameter }, session: 's', slices: WITH_TURNS },
    );
    let steps = 0;
    let used = 0;
    for (let step = result.steps.next(); step.done !== true; step = result.steps.next()) {
      steps++;
      used = Math.max(used, memory.usedBytes);
    }
    return { steps, used };
  };
  const [few, many] = [await run(list.slice(0, 10)), await run(list)];
  expect(many.steps - few.steps).toBeGreaterThan(3);
  expect(many.used - few.used).toBeGreaterThan(list.length * 40);
});

describe('a concatenated text', () => {
  const joined = (one: string, two: string) =>
    runDoor(plain, 'MATCH (e:three) RETURN $one + $two AS t, size(e.members) AS s LIMIT 1', { one, two });

  test('has at most 64 KB of UTF-8', async () => {
    expect((await joined('x'.repeat(65_535), 'y')).rows[0].t.length).toBe(65_536);
    await expect(joined('x'.repeat(65_535), 'yz')).rejects.toThrow(refusal('invalid_statement'));
    expect((await joined('é'.repeat(32_767), 'éé'.slice(0, 1))).rows[0].t.length).toBe(32_768);
    await expect(joined('é'.repeat(32_768), 'y')).rejects.toThrow(refusal('invalid_statement'));
    expect((await joined('😀'.repeat(16_383), '😀')).rows[0].t.length).toBe(32_768);
    await expect(joined('😀'.repeat(16_384), 'y')).rejects.toThrow(refusal('invalid_statement'));
  });

  test.each([
    'RETURN count(e.place + $p + $p) AS n',
    'RETURN e.id ORDER BY e.place + $p + $p',
    "WHERE e.place + $p + $p = 'x' RETURN e.id",
    'WHERE size(e.members) > 99 OR $p + $p = e.place RETURN e.id',
    'RETURN DISTINCT e.place + ($p + (e.place + $p)) AS t',
  ])('is limited wherever it occurs: %s', async (rest) => {
    const run = runDoor(plain, `MATCH (e:three) ${rest}`, { p: LONG });
    await expect(run).rejects.toThrow(refusal('invalid_statement'));
  });

  test('may be too long if no row needs it', async () => {
    const { rows } = await runDoor(plain, "MATCH (e:three) WHERE e.id < 0 AND e.place + $p + $p = 'x' RETURN e", {
      p: LONG,
    });
    expect(rows).toEqual([]);
  });

  test('is null if a part is null, and is formed from left to right', async () => {
    const { rows } = await runDoor(
      plain,
      "MATCH (e:three) RETURN e.place + ('-' + $p) + e.place AS t, e.place + e.formation AS none, 'a' + $none AS also ORDER BY e.id",
      { p: 'q', none: null },
    );
    expect(rows).toEqual([0, 1, 2].map((row) => ({ t: `p${row}-qp${row}`, none: null, also: null })));
  });
});

describe('a statement limited to 8 MB', () => {
  const PAIRS = 'MATCH (a:t), (b:t)';
  const CASES: [name: string, text: string, parameters?: ParameterValues][] = [
    ['COLLECT of texts', `${PAIRS} RETURN collect(a.place + $p + b.place) AS c`],
    ['COLLECT of rows', `${PAIRS} RETURN collect(a) AS c`],
    ['COLLECT of lists', `${PAIRS} RETURN size(collect([a.id, b.id, a.n])) AS c`],
    ['COLLECT DISTINCT', `${PAIRS} RETURN collect(DISTINCT a.place + $p + b.place) AS c`],
    ['COUNT DISTINCT', `${PAIRS} RETURN count(DISTINCT a.place + $p + b.place) AS c`],
    ['MIN of groups', `${PAIRS} RETURN a.id, b.id, min(a.place + $p) AS c`],
    ['many aggregates of many groups', `${PAIRS} RETURN a.id, b.id, ${list(50, (i) => `sum(a.n + ${i}) AS s${i}`)}`],
    ['groups', `${PAIRS} RETURN a.place + $p + b.place AS g, count(*) AS c`],
    ['DISTINCT', `${PAIRS} RETURN DISTINCT a.place + $p + b.place AS d`],
    ['ORDER BY', `${PAIRS} RETURN a.id ORDER BY a.place + $p + b.place`],
    ['ORDER BY, the first rows', `${PAIRS} RETURN a.id ORDER BY a.place + $p + b.place LIMIT 1000`],
    ['ORDER BY of many keys', `${PAIRS} RETURN a.id ORDER BY ${list(90, (i) => `a.place + b.place + '${i}'`)}`],
    ['rows that are sorted', `${PAIRS} RETURN a.place + $p + b.place AS d ORDER BY a.n`],
    ['a hash join', 'MATCH (a:t), (b:t) WHERE a.place + $p = b.place + $p RETURN count(*) AS n'],
    ['a list that is returned often', `${PAIRS} RETURN [${list(300, () => 'a.id')}] AS l, b.id ORDER BY b.n, a.n`, {}],
    ['what UPDATE sets', 'UPDATE t SET place = place + $p'],
  ];

  test.each(CASES)(
    'is refused for %s, and afterwards no memory is counted',
    async (_, text, parameters = { p: LONG }) => {
      const memory = new MemoryPool({ statementBytes: 8 * MB, totalBytes: 64 * MB });
      const run = runDoor(statementsOf(memory), text, parameters);
      await expect(run).rejects.toThrow(refusal('query_too_large'));
      expect(memory.usedBytes).toBe(0);
    },
  );

  test('is answered if it is small enough, and afterwards no memory is counted', async () => {
    const memory = new MemoryPool({ statementBytes: 8 * MB, totalBytes: 64 * MB });
    const { rows } = await runDoor(statementsOf(memory), 'MATCH (a:t) RETURN a.n, collect(a.place) AS c ORDER BY a.n');
    expect([rows.length, rows[3].c.length]).toEqual([50, 8]);
    expect(memory.usedBytes).toBe(0);
  });

  test('keeps only the long texts of the first rows if it has a LIMIT', async () => {
    const memory = new MemoryPool({ statementBytes: 16 * MB, totalBytes: 64 * MB });
    const text = 'MATCH (a:t), (b:three) RETURN a.id AS a, b.id AS b ORDER BY $p + a.place, b.id LIMIT 3';
    const { rows } = await runDoor(statementsOf(memory), text, { p: LONG });
    expect(rows).toEqual([1, 2, 3].map((b) => ({ a: 1, b })));
  });

  test('is refused if one row is too large', async () => {
    const items = list(700, (i) => `a.place + $p + '${i}' AS i${i}`);
    const run = runDoor(plain, `MATCH (a:three) RETURN ${items}`, { p: LONG });
    await expect(run).rejects.toThrow(refusal('query_too_large'));
  });
});

test('when statements together hold too much, a statement that needs more gets 503 and the others continue', async () => {
  const memory = new MemoryPool({ statementBytes: 6 * MB, totalBytes: 4 * MB });
  const statements = statementsOf(memory);
  const begin = () =>
    statements.execute(
      statements.prepare('MATCH (a:t) WHERE a.id <= 20 RETURN a.place + $p AS x, a.id ORDER BY a.n LIMIT 20'),
      {
        parameters: { p: LONG },
        session: 's',
        slices: WITH_TURNS,
      },
    );
  const [one, two] = [await begin(), await begin()];
  const untilRows = (result: typeof one) => {
    for (let step = result.steps.next(); step.done !== true; step = result.steps.next())
      if (step.value !== null && step.value.count > 0) return step.value.count;
    return 0;
  };
  try {
    expect(untilRows(one)).toBe(20);
    expect(() => untilRows(two)).toThrow(refusal('overloaded'));
    one.close();
    expect(memory.usedBytes).toBe(0);
    const three = await begin();
    expect(untilRows(three)).toBe(20);
    three.close();
  } finally {
    one.close();
    two.close();
  }
  expect(memory.usedBytes).toBe(0);
});

test('the memory of answers that wait for slow clients is counted', async () => {
  const memory = new MemoryPool({ statementBytes: 16 * MB, totalBytes: 24 * MB });
  const statements = statementsOf(memory);
  const waiting: Awaited<ReturnType<Statements['execute']>>[] = [];
  const beginOne = async () => {
    const result = await statements.execute(
      statements.prepare('MATCH (a:t), (b:t) RETURN a.place + $p + b.place AS x'),
      {
        parameters: { p: LONG },
        session: 's',
        slices: WITH_TURNS,
      },
    );
    waiting.push(result);
    for (let step = result.steps.next(); step.done !== true; step = result.steps.next())
      if (step.value !== null) return;
  };
  const many = async () => {
    for (let i = 0; i < 20; i++) await beginOne();
  };
  await expect(many()).rejects.toThrow(refusal('overloaded'));
  expect(waiting.length).toBeGreaterThan(1);
  for (const result of waiting) result.close();
  expect(memory.usedBytes).toBe(0);
});

describe('conditions and lists', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => i);

  test('are refused as too large before they are evaluated', async () => {
    const text = `MATCH (a:t) WHERE ${list(1000, () => '$l = $m', ' AND ')} RETURN a.id`;
    await expect(runDoor(plain, text, { l: items, m: items })).rejects.toThrow(refusal('query_too_large'));
  });

  test('plan the reads for a list of times only once, even if many conditions use the list', async () => {
    const text = `MATCH (a:t) WHERE ${list(500, () => 'a.event_ts IN $l', ' AND ')} RETURN count(*) AS n`;
    const spaced = items.map((item) => 2 * item);
    expect((await runDoor(plain, text, { l: spaced })).rows).toEqual([{ n: 200 }]);
    expect((await runDoor(plain, text, { l: items })).rows).toEqual([{ n: 400 }]);
  });

  test('compare member lists as sets', async () => {
    const equal = async (l: unknown) =>
      (await runDoor(plain, 'MATCH (a:three) WHERE a.members = $l RETURN a.id', { l })).rows.length;
    expect([await equal([100, 0]), await equal([0, 100, 0]), await equal([0]), await equal([0, 100, 5])]).toEqual([
      1, 1, 0, 0,
    ]);
    expect(await equal(items)).toBe(0);
  });

  test.each([
    ['a text', { p: 'x'.repeat(140_000) }],
    ['lists', Object.fromEntries(list5().map((name) => [name, items]))],
    ['names', Object.fromEntries(Array.from({ length: 65_536 }, (_, i) => [`p${i}`, i]))],
  ])('are refused if a parameter is too large: %s', async (_, parameters) => {
    const run = runDoor(plain, 'MATCH (a:three) RETURN a.id, $p AS p', { p: 1, ...parameters });
    await expect(run).rejects.toThrow(refusal('invalid_statement'));
  });
});

function list(count: number, item: (index: number) => string, between = ', '): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(between);
}

function list5(): string[] {
  return ['a', 'b', 'c', 'd', 'e'];
}

describe('an open transaction', () => {
  const insert = (statements: Statements, session: string, first: number, rows = 10) => {
    const values = Array.from({ length: rows }, (_, row) => `(${first + row}, [1], $text)`).join(', ');
    return runDoor(
      statements,
      `INSERT INTO staged (event_ts, members, place) VALUES ${values}`,
      { text: LONG },
      session,
    );
  };
  const count = async (statements: Statements, session: string) =>
    (await runDoor(statements, 'MATCH (e:staged) RETURN count(*) AS n', {}, session)).rows[0].n;

  beforeAll(() => place.table('staged'));

  test('is limited like a statement, and commits what it holds', async () => {
    const memory = new MemoryPool({ statementBytes: 10 * MB, totalBytes: 64 * MB });
    const statements = statementsOf(memory);
    await runDoor(statements, 'BEGIN', {}, 's');
    let staged = 0;
    const grow = async () => {
      for (; staged < 200; staged += 10) await insert(statements, 's', staged);
    };
    await expect(grow()).rejects.toThrow(refusal('query_too_large'));
    expect(staged).toBeGreaterThan(20);
    expect(staged).toBeLessThan(60);
    expect(memory.usedBytes).toBeGreaterThan(3 * MB);
    // Only the refused statement is rolled back.
    expect(await count(statements, 's')).toBe(staged);
    await runDoor(statements, 'COMMIT', {}, 's');
    expect(memory.usedBytes).toBe(0);
    expect(await count(statements, 'other')).toBe(staged);
  });

  test('leaves half of the memory to other statements, and releases its memory when it ends', async () => {
    const memory = new MemoryPool({ statementBytes: 10 * MB, totalBytes: 12 * MB });
    const statements = statementsOf(memory);
    for (const session of ['a', 'b']) await runDoor(statements, 'BEGIN', {}, session);
    await insert(statements, 'a', 1000, 20);
    const before = memory.usedBytes;
    await expect(insert(statements, 'b', 2000, 20)).rejects.toThrow(refusal('overloaded'));
    expect(memory.usedBytes).toBe(before);
    await runDoor(statements, 'ROLLBACK', {}, 'a');
    expect(memory.usedBytes).toBe(0);
    await insert(statements, 'b', 2000, 5);
    statements.close();
    expect(memory.usedBytes).toBe(0);
  });
});
