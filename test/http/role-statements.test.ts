// Tests statements on a table with roles: columns of roles in every kind of statement, plans, and
// files that COPY writes and reads.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from './support.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hedgerow-roles-')));
let server: TestServer;
let name: string;
let tables = 0;
beforeAll(async () => {
  server = await startServer({ copyRoot: root });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});
beforeEach(async () => {
  name = `mail${tables++}`;
  await rows(`CREATE HYPEREDGE TABLE ${name} () ROLES (sender, Recipient) PROPERTIES (subject TEXT)`);
  await rows(
    `INSERT INTO ${name} (event_ts, sender, recipient, members, subject) VALUES (1, [1], [2, 3], [9], 'a'), (2, [2], [1], [], null), (3, [], [5], [5, 6], 'c')`,
  );
});

const query = (text: string, parameters?: object): Promise<Answer> =>
  send(server, 'POST', '/v1/query', { query: text, parameters });

async function rows(text: string, parameters?: object): Promise<Record<string, unknown>[]> {
  const { status, json } = await query(text, parameters);
  expect([status, json.detail]).toEqual([200, undefined]);
  return json.rows;
}

/** Returns members and roles of all edges, in order of their times. */
async function edges(): Promise<unknown[]> {
  const found = await rows(
    `MATCH (c:${name}) RETURN c.members AS m, c.sender AS s, c.recipient AS r ORDER BY c.event_ts`,
  );
  return found.map(({ m, s, r }) => [m, s, r]);
}

const FIRST = [[1, 2, 3, 9], [1], [2, 3]];
const SECOND = [[1, 2], [2], [1]];
const THIRD = [[5, 6], [], [5]];

describe('INSERT', () => {
  test('takes roles with members and without', async () => {
    expect(await edges()).toEqual([FIRST, SECOND, THIRD]);
    await rows(`INSERT INTO ${name} (event_ts, Sender) VALUES (4, $list)`, { list: [7, 7] });
    expect((await edges())[3]).toEqual([[7], [7], []]);
  });

  test('refuses an edge without members, and values that are no lists of nodes', async () => {
    const insert = (text: string) => query(`INSERT INTO ${name} ${text}`);
    expect((await insert('(event_ts) VALUES (1)')).json.detail).toMatch(/members or a role \(sender, Recipient\)/);
    expect((await insert('(event_ts, sender) VALUES (1, [])')).json.code).toBe('empty_members');
    expect((await insert('(event_ts, sender) VALUES (1, 5)')).json.detail).toMatch(/takes a list of integers/);
    expect((await insert("(event_ts, sender) VALUES (1, ['x'])")).json.detail).toMatch(/takes a list of integers/);
    expect((await insert('(event_ts, sender) VALUES (1, null)')).json.detail).toMatch(/takes a list of integers/);
    expect((await insert('(event_ts, sender, SENDER) VALUES (1, [1], [2])')).json.detail).toMatch(/twice/);
    expect((await insert('(event_ts, members, cc) VALUES (1, [1], [2])')).json.code).toBe('unknown_column');
    expect(await edges()).toHaveLength(3);
  });
});

describe('MATCH', () => {
  test('reads roles as lists of nodes, before and after a compaction', async () => {
    const read = async () => [
      await rows(`MATCH (c:${name}) RETURN * ORDER BY c.id LIMIT 1`),
      await rows(`MATCH (c:${name}) WHERE c.event_ts = 1 RETURN c`),
      await rows(`MATCH (c:${name}) WHERE 1 IN c.sender OR 1 IN c.recipient RETURN c.event_ts AS t ORDER BY t`),
      await rows(`MATCH (c:${name}) WHERE $k IN c.RECIPIENT RETURN c.subject`, { k: 5 }),
      await rows(`MATCH (c:${name}) WHERE size(c.sender) = 0 RETURN c.event_ts`),
      await rows(`MATCH (c:${name}) WHERE c.recipient = [3, 2] RETURN c.event_ts`),
      await rows(
        `MATCH (a:${name}), (b:${name}) WHERE intersects(a.recipient, b.sender) RETURN a.event_ts, b.event_ts ORDER BY a.id`,
      ),
      await rows(`MATCH (a:${name}) RETURN shared(a.sender, a.members) AS n, shared(a, a) AS m ORDER BY a.id`),
      await rows(`MATCH (c:${name}) WHERE NOT 5 IN c.sender RETURN COUNT(*) AS n, COUNT(DISTINCT c.sender) AS d`),
    ];
    const answers = await read();
    const row = { id: 1, event_ts: 1, members: [1, 2, 3, 9] };
    const rest = { weight: null, mean_dist_m: null, formation: null, subject: 'a' };
    expect(answers).toEqual([
      [{ ...row, sender: [1], Recipient: [2, 3], ...rest }],
      [{ c: { ...row, roles: { sender: [1], Recipient: [2, 3] }, ...rest } }],
      [{ t: 1 }, { t: 2 }],
      [{ subject: 'c' }],
      [{ event_ts: 3 }],
      [{ event_ts: 1 }],
      [
        { 'a.event_ts': 1, 'b.event_ts': 2 },
        { 'a.event_ts': 2, 'b.event_ts': 1 },
      ],
      [
        { n: 1, m: 4 },
        { n: 1, m: 2 },
        { n: 0, m: 2 },
      ],
      [{ n: 3, d: 3 }],
    ]);
    expect(Object.keys((answers[1]![0] as { c: object }).c).slice(0, 4)).toEqual([
      'id',
      'event_ts',
      'members',
      'roles',
    ]);
    await rows(`COMPACT ${name}`);
    expect(await read()).toEqual(answers);
    const { json } = await query(`MATCH (c:${name}) RETURN c.sender, c.members`);
    expect(json.column_types).toEqual(['NODES', 'NODES']);
  });

  test('finds a node in a role by the node index', async () => {
    const [plan] = await rows(`EXPLAIN MATCH (c:${name}) WHERE 2 IN c.sender AND c.event_ts > 1 RETURN c.id`);
    expect(plan).toMatchObject({ strategy: 'FMI_LOOKUP' });
    expect(JSON.stringify(plan!.plan)).toContain('"nodes":[2],"roles":["2 IN sender"]');
    const [joined] = await rows(`EXPLAIN MATCH (a:${name}), (b:${name}) WHERE shared(a.sender, b) >= 1 RETURN a.id`);
    expect(joined).toMatchObject({ strategy: 'MEMBER_JOIN' });
  });

  test('lists the roles among the columns that it knows, and takes only nodes for shared', async () => {
    const unknown = await query(`MATCH (c:${name}) RETURN c.cc`);
    expect([unknown.json.code, unknown.json.detail]).toEqual([
      'unknown_column',
      expect.stringMatching(/members, sender, Recipient/),
    ]);
    expect((await query(`MATCH (c:${name}) WHERE shared(c.subject, c) = 1 RETURN c.id`)).json.detail).toMatch(
      /shared takes/,
    );
    expect((await query(`MATCH (c:${name}) RETURN c.id ORDER BY c.sender`)).status).toBe(400);
  });
});

describe('UPDATE', () => {
  test('of another column keeps roles', async () => {
    await rows(`UPDATE ${name} SET subject = 'x', event_ts = event_ts + 10`);
    expect(await edges()).toEqual([FIRST, SECOND, THIRD]);
    await rows(`COMPACT ${name}`);
    await rows(`UPDATE ${name} SET subject = 'y'`);
    expect(await edges()).toEqual([FIRST, SECOND, THIRD]);
  });

  test('of a role gives it to exactly these nodes, and keeps the other members and roles', async () => {
    await rows(`UPDATE ${name} SET sender = [2, 8] WHERE event_ts = 1`);
    expect((await edges())[0]).toEqual([
      [1, 2, 3, 8, 9],
      [2, 8],
      [2, 3],
    ]);
    await rows(`UPDATE ${name} SET sender = recipient, Recipient = sender`);
    expect(await edges()).toEqual([
      [
        [1, 2, 3, 8, 9],
        [2, 3],
        [2, 8],
      ],
      [[1, 2], [1], [2]],
      [[5, 6], [5], []],
    ]);
  });

  test('of members keeps the roles of those that stay', async () => {
    await rows(`UPDATE ${name} SET members = [2, 1, 4] WHERE event_ts = 1`);
    expect((await edges())[0]).toEqual([[1, 2, 4], [1], [2]]);
    await rows(`UPDATE ${name} SET members = [7], sender = [4] WHERE event_ts = 1`);
    expect((await edges())[0]).toEqual([[4, 7], [4], []]);
  });

  test('and DELETE find edges by roles', async () => {
    expect(await rows(`UPDATE ${name} SET subject = 'z' WHERE 1 IN sender`)).toMatchObject([{ rows_affected: 1 }]);
    expect(await rows(`DELETE FROM ${name} WHERE 5 IN recipient OR shared(${name}.sender, ${name}) = 0`)).toMatchObject(
      [{ rows_affected: 1 }],
    );
    expect(await edges()).toEqual([FIRST, SECOND]);
  });

  test('in a transaction shows its own roles to later statements', async () => {
    await rows('BEGIN');
    await rows(`UPDATE ${name} SET sender = [3] WHERE event_ts = 2`);
    expect(await rows(`MATCH (c:${name}) WHERE 3 IN c.sender RETURN c.event_ts`)).toEqual([{ event_ts: 2 }]);
    expect(await rows(`MATCH (c:${name}) WHERE 2 IN c.sender RETURN c.event_ts`)).toEqual([]);
    await rows('ROLLBACK');
    expect(await edges()).toEqual([FIRST, SECOND, THIRD]);
  });
});

describe('COPY', () => {
  test.each(['csv', 'ndjson', 'parquet'])('keeps roles in a file of the format %s', async (format) => {
    const file = `${name}.${format}`;
    await rows(`COPY (MATCH (c:${name}) RETURN *) TO '${file}'`);
    if (format === 'csv') {
      const [head, first] = readFileSync(join(root, file), 'utf8').split('\n');
      expect(head).toMatch(/^"?id"?,"?event_ts"?,"?members"?,"?sender"?,"?Recipient"?/);
      expect(first).toContain('1;2;3;9');
    }
    const before = await edges();
    await rows(`DELETE FROM ${name}`);
    await rows(`COPY ${name} FROM '${file}'`);
    expect(await edges()).toEqual(before);
  });

  test('reads rows as they are answered, and every form of members', async () => {
    const lines = [
      { event_ts: 1, members: [1, 2], roles: { sender: [1] } },
      { event_ts: 2, members: { sender: [4], recipient: [5] } },
      { event_ts: 3, members: [{ node: 6, role: 'recipient' }, 7] },
      { event_ts: 4, recipient: [8] },
      { event_ts: 5, members: [1], roles: { sender: [2] }, recipient: [3] },
    ];
    writeFileSync(join(root, `${name}.ndjson`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await rows(`DELETE FROM ${name}`);
    await rows(`COPY ${name} FROM '${name}.ndjson'`);
    expect(await edges()).toEqual([
      [[1, 2], [1], []],
      [[4, 5], [4], [5]],
      [[6, 7], [], [6]],
      [[8], [], [8]],
      [[1, 2, 3], [2], [3]],
    ]);
  });

  test('refuses a file without members and roles', async () => {
    writeFileSync(join(root, `${name}.csv`), 'event_ts,subject\n1,x\n');
    expect((await query(`COPY ${name} FROM '${name}.csv'`)).json.detail).toMatch(/no column members/);
  });
});
