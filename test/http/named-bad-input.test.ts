// What named tables refuse, and the keys that look odd but are not refused, at every door at which
// edges come in: statements, single inserts, lines, batches and files of COPY. Each door is given a
// good edge with a new node before the bad one, which must not be written either.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, NDJSON, send, startServer, type TestServer } from './support.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hedgerow-bad-')));
let server: TestServer;

beforeAll(async () => {
  server = await startServer({ copyRoot: root });
  for (const text of [
    "CREATE NODE TABLE Person (name TEXT) PROPERTIES (city TEXT DEFAULT 'Rome')",
    'CREATE NODE TABLE Room (id INTEGER)',
    'CREATE HYPEREDGE TABLE calls (Person) ROLES (sender, recipient) INTERVALS',
    'CREATE HYPEREDGE TABLE meetings (Person, Room)',
    'CREATE HYPEREDGE TABLE rooms (Room)',
    'CREATE HYPEREDGE TABLE strict (Person) CREATE_NODES false',
    "INSERT INTO calls (event_ts, sender) VALUES (1, ['Ada'])",
  ])
    expect((await query(text)).status, text).toBe(200);
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

const query = (text: string, parameters?: object): Promise<Answer> =>
  send(server, 'POST', '/v1/query', { query: text, parameters });

/** An edge as a statement, as the body of a request, and as a row of a file. */
interface Edge {
  /** The columns and the values of an INSERT. */
  readonly columns: string;
  readonly values: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Bad extends Edge {
  readonly table: string;
  /** The columns of a good edge and its values, with the key `new`. */
  readonly good: Edge;
  /** What the message must say. */
  readonly says: RegExp;
}

const LONG = 'x'.repeat(513);
const person: Edge = { columns: 'members', values: "['new']", body: { members: ['new'] } };
const sender: Edge = { columns: 'sender', values: "['new']", body: { members: { sender: ['new'] } } };
const ended: Edge = {
  columns: 'members, end_ts',
  values: "['new'], 9",
  body: { members: ['new'], properties: { end_ts: 9 } },
};
const room: Edge = { columns: 'members', values: '[77]', body: { members: [77] } };
const meeting: Edge = {
  columns: 'members',
  values: "[node(Person, 'new')]",
  body: { members: [{ kind: 'Person', key: 'new' }] },
};

const BAD: Readonly<Record<string, Bad>> = {
  'an unknown kind': {
    table: 'meetings',
    good: meeting,
    columns: 'members',
    values: "[node(Dog, 'Rex')]",
    body: { members: [{ kind: 'Dog', key: 'Rex' }] },
    says: /Dog.*(Person|Room)|(Person|Room).*Dog/,
  },
  'a text as key of a kind with integers': {
    table: 'rooms',
    good: room,
    columns: 'members',
    values: "['five']",
    body: { members: ['five'] },
    says: /integer/i,
  },
  'a number with a fraction as key': {
    table: 'rooms',
    good: room,
    columns: 'members',
    values: '[1.5]',
    body: { members: [1.5] },
    says: /integer/i,
  },
  'a key that is too long': {
    table: 'calls',
    good: person,
    columns: 'members',
    values: `['${LONG}']`,
    body: { members: [LONG] },
    says: /512 bytes/,
  },
  'a key with a control character': {
    table: 'calls',
    good: person,
    columns: 'members',
    values: "['a\\u0007b']",
    body: { members: ['a\u0007b'] },
    says: /control character/,
  },
  'an empty key': {
    table: 'calls',
    good: person,
    columns: 'members',
    values: "['']",
    body: { members: [''] },
    says: /empty|1 to 512 bytes/,
  },
  'a role that nobody declared': {
    table: 'calls',
    good: sender,
    columns: 'boss',
    values: "['Ada']",
    body: { members: { boss: ['Ada'] } },
    says: /boss/,
  },
  'a key that is too long in a role': {
    table: 'calls',
    good: sender,
    columns: 'sender',
    values: `['${LONG}']`,
    body: { members: { sender: [LONG] } },
    says: /512 bytes/,
  },
  'an end before the beginning': {
    table: 'calls',
    good: ended,
    columns: 'members, end_ts',
    values: "['Ada'], 4",
    body: { members: ['Ada'], properties: { end_ts: 4 } },
    says: /end_ts/,
  },
  'a bare key in a table with several kinds': {
    table: 'meetings',
    good: meeting,
    columns: 'members',
    values: "['Ada']",
    body: { members: ['Ada'] },
    says: /kind/,
  },
  'a node that does not exist, in a table that creates none': {
    table: 'strict',
    good: { columns: 'members', values: "['Ada']", body: { members: ['Ada'] } },
    columns: 'members',
    values: "['Nobody']",
    body: { members: ['Nobody'] },
    says: /Nobody/,
  },
};

/** Returns the rows of all tables and the position of the log. */
async function state(): Promise<unknown> {
  const rows = [];
  for (const table of ['Person', 'Room', 'calls', 'meetings', 'rooms', 'strict'])
    rows.push((await query(`MATCH (x:${table}) RETURN x`)).json.rows);
  return { rows, lsn: server.database.headLsn };
}

describe.each(Object.entries(BAD))('%s', (_, { table, good, says, ...bad }) => {
  let before: unknown;

  async function expectRefused(answer: Answer): Promise<void> {
    expect([answer.status, JSON.stringify(answer.json)]).toEqual([400, expect.stringMatching(says)]);
    expect(await state()).toEqual(before);
  }

  beforeAll(async () => {
    before = await state();
  });

  test('is refused in a statement', async () => {
    const columns = good.columns === bad.columns ? [bad.columns] : [good.columns, bad.columns];
    const row = (values: string, isGood: boolean) =>
      columns.length === 1 ? `(5, ${values})` : isGood ? `(5, ${values}, [])` : `(5, [], ${values})`;
    const rows = `${row(good.values, true)}, ${row(bad.values, false)}`;
    await expectRefused(await query(`INSERT INTO ${table} (event_ts, ${columns.join(', ')}) VALUES ${rows}`));
  });

  // The other tables have no edge that could be updated.
  test.skipIf(table !== 'calls')('is refused in an UPDATE', async () => {
    const sets = bad.columns === 'members, end_ts' ? 'end_ts = -4' : `${bad.columns} = ${bad.values}`;
    await expectRefused(await query(`UPDATE ${table} SET ${sets}`));
  });

  test('is refused as the body of a request', async () => {
    await expectRefused(await send(server, 'POST', '/v1/hyperedges', { table, event_ts: 5, ...bad.body }));
  });

  test('is refused as a line among others', async () => {
    const lines = [good.body, bad.body].map((body) => JSON.stringify({ event_ts: 5, ...body })).join('\n');
    const answer = await send(server, 'POST', `/v1/hyperedges?table=${table}`, lines, NDJSON);
    expect(answer.json.line).toBe(2);
    await expectRefused(answer);
  });

  test('rolls a batch back', async () => {
    const operations = [good.body, bad.body].map((body) => ({ type: 'insert', table, event_ts: 5, ...body }));
    const { status, json } = await send(server, 'POST', '/v1/batch', { operations });
    expect(status === 200 ? json.committed : false).toBe(false);
    expect(JSON.stringify(json)).toMatch(says);
    expect(await state()).toEqual(before);
  });

  test('is refused in files', async () => {
    const lines = [good.body, bad.body].map(({ properties, ...body }) =>
      JSON.stringify({ event_ts: 5, ...body, ...(properties as object) }),
    );
    writeFileSync(join(root, 'bad.ndjson'), `${lines.join('\n')}\n`);
    await expectRefused(await query(`COPY ${table} FROM 'bad.ndjson'`));
    writeFileSync(join(root, 'bad.csv'), csvOf([good.body, bad.body]));
    await expectRefused(await query(`COPY ${table} FROM 'bad.csv'`));
  });
});

/** Returns a CSV in which every list of members is a JSON list. */
function csvOf(bodies: readonly Edge['body'][]): string {
  const rows = bodies.map(({ members, properties }) => ({
    event_ts: 5,
    ...(Array.isArray(members) ? { members } : (members as object)),
    ...(properties as object),
  }));
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value: unknown) =>
    Array.isArray(value) ? `"${JSON.stringify(value).replaceAll('"', '""')}"` : String(value ?? '');
  const lines = rows.map((row) => columns.map((name) => cell((row as Record<string, unknown>)[name])).join(','));
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

describe('other bad input', () => {
  test('a mixture of kinds in member_tables is refused in a statement and in a request', async () => {
    const before = await state();
    const written = await query('CREATE HYPEREDGE TABLE mixed (Person, Nothing)');
    expect([written.status, written.json.detail]).toEqual([400, expect.stringMatching(/Nothing/)]);
    const sent = await send(server, 'POST', '/v1/tables', { name: 'mixed', member_tables: ['Person', 'Nothing'] });
    expect([sent.status, sent.json.detail]).toEqual([400, expect.stringMatching(/Nothing/)]);
    expect((await send(server, 'GET', '/v1/tables/mixed')).status).toBe(404);
    expect(await state()).toEqual(before);
  });

  test('a node that an edge holds is not deleted, alone or among others', async () => {
    await query("INSERT INTO Person (name) VALUES ('Free')");
    const before = await state();
    const answers = [
      await query("DELETE FROM Person WHERE name = 'Ada'"),
      await query('DELETE FROM Person'),
      await send(server, 'DELETE', '/v1/nodes/Person/Ada'),
    ];
    for (const { status, json } of answers) {
      expect([status, json.code]).toEqual([409, 'node_in_use']);
      expect(json.detail).toMatch(/Ada/);
    }
    expect(await state()).toEqual(before);
    expect((await query("DELETE FROM Person WHERE name = 'Free'")).json.rows[0].rows_affected).toBe(1);
  });

  test('node tables refuse the same keys', async () => {
    const before = await state();
    for (const key of ['', LONG, 'a\u0007b', 5, null]) {
      const text = 'INSERT INTO Person (name) VALUES ($good), ($key)';
      expect((await query(text, { good: 'new', key })).status, String(key)).toBe(400);
      const lines = ['new', key].map((name) => JSON.stringify({ name })).join('\n');
      expect((await send(server, 'POST', '/v1/nodes/Person', lines, NDJSON)).status, String(key)).toBe(400);
      expect(await state()).toEqual(before);
    }
  });
});

test('keys that differ by case or form, and keys with odd characters, are kept at every door', async () => {
  const keys = [
    'a/b',
    '../x',
    '"q"',
    "O'Hara",
    '\\',
    '😀',
    '\u200fשלום',
    '\u202eabc',
    'ada',
    'ADA',
    'é',
    'e\u0301',
    '%2F',
    ';',
    '[1]',
    'ﬁ',
    'fi',
  ];
  await query('CREATE NODE TABLE Odd (name TEXT)');
  await query('CREATE HYPEREDGE TABLE odds (Odd)');
  const literal = (key: string) => `'${key.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
  const edges = keys.map((key) => ({ event_ts: 5, members: [key] }));
  const doors: (() => Promise<Answer>)[] = [
    () =>
      query(`INSERT INTO odds (event_ts, members) VALUES ${keys.map((key) => `(5, [${literal(key)}])`).join(', ')}`),
    () =>
      query(
        `INSERT INTO odds (event_ts, members) VALUES ${keys.map((_, place) => `(5, [$k${place}])`).join(', ')}`,
        Object.fromEntries(keys.map((key, place) => [`k${place}`, key])),
      ),
    async () => {
      for (const edge of edges.slice(1)) await send(server, 'POST', '/v1/hyperedges', { table: 'odds', ...edge });
      return send(server, 'POST', '/v1/hyperedges', { table: 'odds', ...edges[0] });
    },
    () =>
      send(server, 'POST', '/v1/hyperedges?table=odds', edges.map((edge) => JSON.stringify(edge)).join('\n'), NDJSON),
    () =>
      send(server, 'POST', '/v1/batch', {
        operations: edges.map((edge) => ({ type: 'insert', table: 'odds', ...edge })),
      }),
    () => {
      writeFileSync(join(root, 'odd.csv'), csvOf(edges));
      return query("COPY odds FROM 'odd.csv'");
    },
  ];
  for (const [place, door] of doors.entries()) {
    expect((await door()).status).toBeLessThan(300);
    expect((await query('MATCH (p:Odd) RETURN COUNT(*) AS n')).json.rows).toEqual([{ n: keys.length }]);
    for (const key of keys) {
      const found = await query('MATCH (c:odds) WHERE $key IN c.members RETURN c.members', { key });
      expect(found.json.rows).toEqual(Array.from({ length: place + 1 }, () => ({ members: [key] })));
      const written = await query(
        `MATCH (p:Odd), (c:odds) WHERE p IN c.members AND p.name = ${literal(key)} RETURN COUNT(*) AS n`,
      );
      expect(written.json.rows).toEqual([{ n: place + 1 }]);
      const path = `/v1/hyperedges/node/${encodeURIComponent(key)}?table=odds`;
      expect((await send(server, 'GET', path)).json.num_tuples).toBe(place + 1);
    }
  }
});
