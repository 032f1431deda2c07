import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDuckDb } from '../support/duckdb.ts';
import { CopyPlace } from './copy-place.ts';

const FILES = ['.csv', '.csv.gz', '.ndjson', '.parquet'];
const KEYS = ['Ada', 'a;b', '[x]', '"q"', "O'Hara", 'ada', '😀', 'comma, here', ' padded '];

const duckdb = await openDuckDb();
let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
});
afterAll(async () => {
  duckdb?.close();
  await place.close();
});

const rowsOf = async (text: string) => JSON.parse(JSON.stringify((await place.run(text)).rows)) as unknown;

test('a named table and a node table come back from files of every format', async () => {
  await place.run("CREATE NODE TABLE P (name TEXT) PROPERTIES (n INTEGER, city TEXT DEFAULT 'Rome', ok BOOLEAN)");
  await place.run('CREATE NODE TABLE R (id INTEGER)');
  await place.run('CREATE HYPEREDGE TABLE one (P)');
  await place.run('CREATE HYPEREDGE TABLE numbered (R)');
  await place.run('CREATE HYPEREDGE TABLE both (P, R)');
  for (const [n, name] of KEYS.entries())
    await place.run(`INSERT INTO P (name, n, city, ok) VALUES ($name, ${n}, null, ${n % 2 === 0})`, { name });
  await place.run('INSERT INTO one (event_ts, members) VALUES (1, $k)', { k: KEYS });
  for (const k of KEYS) await place.run('INSERT INTO one (event_ts, members) VALUES (2, [$k])', { k });
  await place.run('INSERT INTO numbered (event_ts, members) VALUES (1, [5, -7]), (2, [9])');
  await place.run("INSERT INTO both (event_ts, members) VALUES (1, [node(P, 'a;b'), node(R, -7)])");
  for (const [index, file] of FILES.entries()) {
    for (const table of ['one', 'numbered', 'both']) {
      await place.run(`COPY ${table} TO '${table}${file}'`);
      await place.run(`CREATE HYPEREDGE TABLE ${table}${index} (${{ one: 'P', numbered: 'R', both: 'P, R' }[table]})`);
      await place.run(`COPY ${table}${index} FROM '${table}${file}'`);
      const all = (name: string) => rowsOf(`MATCH (e:${name}) RETURN e.event_ts, e.members ORDER BY e.event_ts`);
      expect(await all(`${table}${index}`)).toEqual(await all(table));
    }
    await place.run(`COPY P TO 'P${file}'`);
    await place.run(
      `CREATE NODE TABLE P${index} (name TEXT) PROPERTIES (n INTEGER, city TEXT DEFAULT 'Rome', ok BOOLEAN)`,
    );
    await place.run(`INSERT INTO P${index} (name, n) VALUES ('Ada', 77)`);
    expect((await place.run(`COPY P${index} FROM 'P${file}'`)).rows).toMatchObject([{ rows_affected: KEYS.length }]);
    expect(await rowsOf(`MATCH (p:P${index}) RETURN p ORDER BY p.name`)).toEqual(
      await rowsOf('MATCH (p:P) RETURN p ORDER BY p.name'),
    );
  }
  expect(String(place.read('one.csv'))).toContain('"[""Ada"",""a;b""');
  expect(String(place.read('numbered.csv'))).toContain('1,1,5;-7,');
});

/** Returns a row that DuckDB read from a file, with lists in place of their texts. */
function asRead(row: readonly unknown[]): unknown[] {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value === 'bigint') return Number(value);
    return value === '' ? null : value;
  };
  const listOf = (value: unknown): unknown => {
    if (typeof value !== 'string') return plain(value);
    return value.startsWith('[') ? JSON.parse(value) : value.split(';').map(Number);
  };
  return row.map((value, place) => (place >= 2 && place <= 4 ? listOf(value) : plain(value)));
}

test('roles and ends come back from files of every format, and other programs read the same', async () => {
  await place.run('CREATE NODE TABLE Q (name TEXT)');
  await place.run('CREATE NODE TABLE S (id INTEGER)');
  const tables = { mail: '(Q)', moves: '(Q, S)', ranks: '(S)' };
  const clauses = 'ROLES (sender, Recipient) INTERVALS PROPERTIES (subject TEXT)';
  for (const [name, kinds] of Object.entries(tables))
    await place.run(`CREATE HYPEREDGE TABLE ${name} ${kinds} ${clauses}`);
  const insert = (table: string, values: string, parameters = {}) =>
    place.run(
      `INSERT INTO ${table} (event_ts, members, sender, recipient, end_ts, subject) VALUES ${values}`,
      parameters,
    );
  await insert(
    'mail',
    "(-5, $k, $k, [], null, 'a;b'), (2, [], ['a;b'], ['[x]', 'a;b'], 2, ''), (3, ['z'], [], [], 9, null)",
    {
      k: KEYS,
    },
  );
  for (const k of KEYS) await insert('mail', "(4, [], [$k], ['Ada'], 1000, $k)", { k });
  await insert('moves', "(1, [node(S, 0)], [node(Q, 'a;b')], [node(S, -7), node(Q, '[x]')], null, 'x,y')");
  await insert('ranks', "(1, [9007199254740991], [-7], [5, -7], 4, null), (2, [5], [], [], null, 'x')");
  const read = 'RETURN e.event_ts, e.end_ts, e.members, e.sender, e.recipient, e.subject ORDER BY e.id';
  for (const [index, file] of FILES.entries()) {
    for (const [name, kinds] of Object.entries(tables)) {
      await place.run(`COPY ${name} TO '${name}${file}'`);
      await place.run(`CREATE HYPEREDGE TABLE ${name}${index} ${kinds} ${clauses}`);
      await place.run(`COPY ${name}${index} FROM '${name}${file}'`);
      const rows = await rowsOf(`MATCH (e:${name}) ${read}`);
      expect(await rowsOf(`MATCH (e:${name}${index}) ${read}`), `${name}${file}`).toEqual(rows);
      if (duckdb === undefined || file === '.ndjson') continue;
      const seen = await duckdb.rows(
        `select event_ts, end_ts, members, sender, Recipient, subject from '${join(place.root, name + file)}' order by id`,
      );
      expect(seen.map(asRead), `${name}${file}`).toEqual(
        (rows as object[]).map((row) => Object.values(row).map((value) => (value === '' ? null : value))),
      );
    }
  }
});

test('rows of files are refused with their place, and nothing is changed', async () => {
  await place.run('CREATE NODE TABLE F (name TEXT) PROPERTIES (n INTEGER)');
  await place.run('CREATE HYPEREDGE TABLE g (F) CREATE_NODES false');
  const refused = async (file: string, text: string, table: string) => {
    place.file(file, text);
    return place.run(`COPY ${table} FROM '${file}'`).then(
      () => undefined,
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );
  };
  expect(await refused('a.csv', 'name,n\nAda,1\n,2\n', 'F')).toContain('Line 3: name is missing');
  expect(await refused('b.csv', 'n\n1\n', 'F')).toContain('name');
  expect(await refused('c.csv', 'name,weight\nAda,1\n', 'F')).toContain('has no column "weight"');
  expect(await refused('d.csv', 'event_ts,members\n1,Ada\n', 'g')).toContain('unknown_node: Line 2');
  expect((await place.run('MATCH (p:F) RETURN p')).rows).toEqual([]);
  await place.run("INSERT INTO F (name) VALUES ('Ada'), ('B')");
  place.file('e.csv', 'event_ts,members\n1,Ada;B\n2,"[""B""]"\n');
  await place.run("COPY g FROM 'e.csv'");
  expect((await place.run('MATCH (e:g) RETURN e.members')).rows).toEqual([
    { members: ['Ada', 'B'] },
    { members: ['B'] },
  ]);
});
