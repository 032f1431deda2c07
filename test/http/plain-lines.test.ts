// Bulk inserts whose lines are read by the core, by JSON.parse, or in turns by both: the edges, the
// errors and their line numbers are the same.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../core/support/random.ts';
import { startServer, type TestServer } from './support.ts';

let server: TestServer;
let tables = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function makeTable(): Promise<string> {
  const name = `t${++tables}`;
  const columns = [
    { name: 'kind', type: 'TEXT' as const },
    { name: 'score', type: 'INTEGER' as const },
  ];
  await server.database.createTable({ name, columns });
  return name;
}

async function post(
  table: string,
  body: string | Buffer,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await fetch(`${server.url}/v1/hyperedges?table=${table}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Returns all rows of a table as text, one in each line. */
async function rowsOf(table: string): Promise<string> {
  const response = await fetch(
    `${server.url}/v1/hyperedges?table=${table}&start_ts=-9007199254740991&end_ts=9007199254740991`,
    {
      headers: { Accept: 'application/x-ndjson' },
    },
  );
  return response.text();
}

const plain = (n: number) =>
  `{"event_ts":${n},"members":[${n},${n + 1}],"weight":${n / 4},"kind":"k${n % 7}","score":${n}}`;
/** The same edge in forms that only JSON.parse reads. */
const OTHERS: readonly ((n: number) => string)[] = [
  (n) => plain(n).replace('"kind"', '"\\u006bind"'),
  (n) => plain(n).replace('"weight"', '"unknown":[1],"weight"'),
  (n) => plain(n).replace(/"weight":([\d.]+),(.*)\}/, '"properties":{"weight":$1,$2}}'),
  (n) => plain(n).replace('"score":', '"score":1,"score":'),
];

describe('lines of a bulk insert', () => {
  test.each([0, 1, 2, 5, 40, 100])('are inserted in order when %d in a hundred are not plain', async (share) => {
    const random = randomFrom(share);
    const count = 3000;
    const lines = Array.from({ length: count }, (_, n) =>
      random.below(100) < share ? OTHERS[random.below(OTHERS.length)]!(n) : plain(n),
    );
    const [mixed, expected] = [await makeTable(), await makeTable()];
    const ends = ['\n', '\r\n', '\n\n', '\n \n'];
    const body = lines.map((line, n) => line + (n % 50 === 0 ? ends[random.below(4)] : '\n')).join('');
    expect(await post(mixed, body.trimEnd())).toMatchObject({
      status: 201,
      answer: { inserted: count, first_id: 1, last_id: count },
    });
    for (let n = 0; n < count; n++) {
      const { kind, score, weight } = JSON.parse(plain(n)) as Record<string, never>;
      await server.database
        .table(expected)
        .insert({ event_ts: n, members: [n, n + 1], properties: { kind, score, weight } });
    }
    expect(await rowsOf(mixed)).toBe(await rowsOf(expected));
  });

  test.each([
    ['an invalid value', '{"event_ts":1,"members":[1],"score":1.5}', 'invalid_input'],
    ['no members', '{"event_ts":1,"members":[]}', 'empty_members'],
    ['too many members', `{"event_ts":1,"members":[${Array.from({ length: 65 }, (_, i) => i)}]}`, 'too_many_members'],
    ['invalid JSON', '{"event_ts":1,"members":[1]', 'invalid_json'],
  ])('are all refused for %s, with the number of the line', async (_name, wrong, code) => {
    const table = await makeTable();
    for (const before of [0, 1, 700, 2500]) {
      const lines = Array.from({ length: before }, (_, n) => plain(n));
      const { status, answer } = await post(table, [...lines, wrong, plain(1)].join('\n'));
      expect([status, answer.code, answer.line]).toEqual([400, code, before + 1]);
    }
    expect(await rowsOf(table)).toBe('');
  });

  test('go to the tables that they name, after plain lines too', async () => {
    const [own, other] = [await makeTable(), await makeTable()];
    const lines = Array.from({ length: 500 }, (_, n) =>
      n === 400 ? `{"table":"${other}",${plain(n).slice(1)}` : plain(n),
    );
    expect(await post(own, lines.join('\n'))).toMatchObject({ status: 201, answer: { inserted: 500 } });
    expect((await rowsOf(own)).split('\n').length - 1).toBe(499);
    expect((await rowsOf(other)).split('\n').length - 1).toBe(1);
  });

  test('may be longer than what is read at once, and not UTF-8 in one place', async () => {
    const table = await makeTable();
    const long = `{"event_ts":5,"members":[1],"note":"${'x'.repeat(200_000)}"}`;
    expect(await post(table, [plain(1), long, plain(2)].join('\n'))).toMatchObject({
      status: 201,
      answer: { inserted: 3 },
    });
    const wrong = Buffer.concat([
      Buffer.from(`${plain(3)}\n{"event_ts":1,"members":[1],"kind":"`),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ]);
    expect(await post(table, wrong)).toMatchObject({ status: 400, answer: { code: 'invalid_json', line: 2 } });
    expect((await rowsOf(table)).split('\n').length - 1).toBe(3);
  });

  test.each([
    ['are refused', () => `${plain(1)}\n{"event_ts":1}`, 400],
    ['name another table', (other: string) => `${plain(1)}\n{"table":"${other}",${plain(2).slice(1)}`, 201],
  ])('give the memory for reading them back when they %s', async (_name, bodyFor, status) => {
    const [own, other] = [await makeTable(), await makeTable()];
    const table = server.database.table(own);
    const batch = table.batches.take();
    table.batches.give(batch);
    expect((await post(own, bodyFor(other))).status).toBe(status);
    expect(table.batches.take()).toBe(batch);
  });

  test('that an export wrote are inserted again as they were', async () => {
    const [from, to] = [await makeTable(), await makeTable()];
    await post(from, Array.from({ length: 1000 }, (_, n) => plain(n * 3)).join('\n'));
    const exported = await rowsOf(from);
    expect(await post(to, exported)).toMatchObject({ status: 201, answer: { inserted: 1000 } });
    expect(await rowsOf(to)).toBe(exported);
  });
});
