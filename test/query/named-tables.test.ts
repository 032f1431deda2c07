// Tests node tables in statements: definitions, patterns, keys in conditions and results, writes,
// transactions and refusals.

import { describe, expect, test } from 'vitest';
import { type NamedWorld, namedWorld, TOWN } from './named-world.ts';

const town = () => namedWorld(TOWN);
const column = async (world: NamedWorld, text: string, parameters?: Record<string, unknown>) =>
  (await world.run(text, parameters)).map((row) => Object.values(row)[0]);

describe('definitions', () => {
  test('a node table is created, shown, altered and dropped', async () => {
    const world = await namedWorld();
    const { run, refused } = world;
    const item = {
      name: 'Person',
      key: { name: 'name', type: 'TEXT' },
      columns: [
        { name: 'born', type: 'INTEGER' },
        { name: 'city', type: 'TEXT' },
      ],
      row_count: 0,
    };
    const create = "(name TEXT) PROPERTIES (born INTEGER, city TEXT DEFAULT 'Rome')";
    expect(await run(`CREATE NODE TABLE Person ${create}`)).toMatchObject([item]);
    expect(await run(`create node table if not exists person ${create};`)).toMatchObject([item]);
    expect(await refused(`CREATE NODE TABLE PERSON ${create}`)).toMatchObject({ code: 'table_exists', status: 409 });
    await run('ALTER NODE TABLE Person ADD COLUMN email TEXT');
    await run('ALTER NODE TABLE Person ADD COLUMN rank INTEGER DEFAULT 3');
    await run('ALTER NODE TABLE Person RENAME COLUMN email TO mail');
    await run('ALTER NODE TABLE Person DROP COLUMN born');
    await run('ALTER NODE TABLE Person RENAME COLUMN name TO label');
    await run('ALTER NODE TABLE Person RENAME TO People');
    await run("INSERT INTO People (label) VALUES ('Ada')");
    expect(await run('MATCH (p:People) RETURN *')).toEqual([{ label: 'Ada', city: 'Rome', mail: null, rank: 3 }]);
    expect((await run('SHOW NODE TABLES')).map(({ name }) => name)).toEqual(['People']);
    expect((await run('SHOW TABLES')).map(({ name }) => name)).toEqual(['hyperedges']);
    expect((await refused('ALTER NODE TABLE People DROP COLUMN label')).status).toBe(400);
    expect(await run('DROP NODE TABLE People')).toEqual([{ name: 'People', dropped: true }]);
    expect(await run('DROP NODE TABLE IF EXISTS People')).toEqual([{ name: 'People', dropped: false }]);
    expect(await refused('DROP NODE TABLE People')).toMatchObject({ code: 'table_not_found', status: 404 });
  });

  test('a statement of the other sort of table is refused by the right name', async () => {
    const { refused, run } = await town();
    for (const [text, advice] of [
      ['DROP HYPEREDGE TABLE Person', 'write DROP NODE TABLE Person'],
      ['DROP HYPEREDGE TABLE IF EXISTS Person', 'write DROP NODE TABLE Person'],
      ['DROP NODE TABLE calls', 'write DROP HYPEREDGE TABLE calls'],
      ['ALTER TABLE Person ADD COLUMN x TEXT', 'write ALTER NODE TABLE Person'],
      ['ALTER NODE TABLE calls ADD COLUMN x TEXT', 'write ALTER TABLE calls'],
      ['CREATE HYPEREDGE TABLE IF NOT EXISTS Person ()', 'Person exists and is a node table'],
      ['CREATE NODE TABLE IF NOT EXISTS calls (a TEXT)', 'calls exists and is a hyperedge table'],
    ] as const)
      expect(await refused(text), text).toMatchObject({ status: 400, message: expect.stringContaining(advice) });
    expect(await refused('DROP NODE TABLE Person')).toMatchObject({ code: 'table_in_use', status: 409 });
    expect(await refused('COMPACT Person')).toMatchObject({ status: 404 });
    expect(await refused('CREATE NODE TABLE x (a REAL)')).toMatchObject({ status: 400, code: 'invalid_statement' });
    expect(await refused('CREATE NODE TABLE x (a TEXT) PROPERTIES (A TEXT)')).toMatchObject({ code: 'column_exists' });
    expect(await refused('CREATE NODE TABLE x (a TEXT, b TEXT)')).toMatchObject({ code: 'syntax_error' });
    expect(await refused("CREATE NODE TABLE x (a TEXT) PROPERTIES (n INTEGER DEFAULT 'x')")).toMatchObject({
      status: 400,
    });
    expect(await refused('CREATE HYPEREDGE TABLE x (Person, Nobody)')).toMatchObject({ status: 400 });
    expect(await run('EXPLAIN CREATE NODE TABLE x (a TEXT)')).toMatchObject([
      { plan: { operator: 'CreateNodeTable' } },
    ]);
    expect((await run('SHOW NODE TABLES')).length).toBe(2);
  });

  test('CREATE_NODES stands among the clauses in any order, once', async () => {
    const { run, refused } = await town();
    await run('CREATE HYPEREDGE TABLE a (Person) CREATE_NODES false BUCKET_SECONDS 5 PROPERTIES (n INTEGER DEFAULT 4)');
    await run('CREATE HYPEREDGE TABLE b (Person) PROPERTIES (n INTEGER) CREATE_NODES true');
    expect(await refused("INSERT INTO a (event_ts, members) VALUES (1, ['Nobody'])")).toMatchObject({
      code: 'unknown_node',
      status: 400,
    });
    expect(await run("MATCH (p:Person) WHERE p.name = 'Nobody' RETURN p")).toEqual([]);
    await run("INSERT INTO a (event_ts, members) VALUES (1, ['Ada'])");
    expect(await run('MATCH (e:a) RETURN e.n, e.members')).toEqual([{ n: 4, members: ['Ada'] }]);
    expect(await refused('CREATE HYPEREDGE TABLE c (Person) CREATE_NODES false CREATE_NODES true')).toMatchObject({
      code: 'syntax_error',
    });
    expect(await refused('CREATE HYPEREDGE TABLE c (Person) CREATE_NODES maybe')).toMatchObject({
      code: 'syntax_error',
    });
  });

  test('indexes on attributes are made, listed, used and dropped', async () => {
    const { run, refused } = await town();
    await run('CREATE INDEX ON Person (born)');
    expect(await run('SHOW INDEXES')).toMatchObject([{ table: 'Person', column: 'born' }]);
    expect(await run('SHOW INDEXES ON Person')).toHaveLength(1);
    expect(await run('MATCH (p:Person) WHERE p.born > 1850 RETURN p.name')).toEqual([{ name: 'Grace' }]);
    expect((await refused('CREATE INDEX ON Person (city)')).status).toBe(400);
    await run('DROP INDEX ON Person (born)');
    expect(await run('SHOW INDEXES')).toEqual([]);
  });
});

describe('patterns', () => {
  test('(p:Person) has the key and the attributes, and nothing else', async () => {
    const world = await town();
    const { run, refused } = world;
    const ada = { name: 'Ada', born: 1815, city: 'London' };
    expect(await run("MATCH (p:Person) WHERE p.name = 'Ada' RETURN *")).toEqual([ada]);
    expect(await run('MATCH (p:Person) WHERE p.name = $k RETURN p', { k: 'Ada' })).toEqual([{ p: ada }]);
    expect(await column(world, "MATCH (p:Person) WHERE p.name IN ['Emmy', 'Ada', 'x'] RETURN p.name")).toEqual([
      'Ada',
      'Emmy',
    ]);
    for (const name of ['id', 'event_ts', 'members', 'weight'])
      expect(await refused(`MATCH (p:Person) RETURN p.${name}`), name).toMatchObject({ code: 'unknown_column' });
    // Columns of a node table may have these names.
    await run('INSERT INTO Room (id, event_ts) VALUES (-3, 77), (40, null)');
    expect(await run('MATCH (r:Room) WHERE r.id < 8 AND r.id > -4 RETURN r ORDER BY r.id')).toEqual([
      { r: { id: -3, event_ts: 77 } },
      { r: { id: 7, event_ts: null } },
    ]);
    expect(await run('MATCH (r:Room) WHERE r.event_ts >= 77 RETURN *')).toEqual([{ id: -3, event_ts: 77 }]);
    expect(await run('MATCH (r:Room) RETURN COUNT(*) AS n, MAX(r.event_ts) AS m, COUNT(DISTINCT r) AS d')).toEqual([
      { n: 3, m: 77, d: 3 },
    ]);
  });

  test('the types of columns are known, and times inside nodes stay numbers', async () => {
    const { database } = await town();
    const { EmbeddedStatements } = await import('../../src/query/embedded.ts');
    const statements = new EmbeddedStatements({ database });
    const { columnTypes, rows } = await statements.run(
      'MATCH (r:Room), (v:visits) WHERE r IN v.members RETURN r, v, v.members, r.id LIMIT 1',
      {},
      { times: 'iso' },
    );
    expect(columnTypes).toEqual(['NODE', 'EDGE', 'NODES', 'INTEGER']);
    expect(rows[0]).toMatchObject({
      r: { id: 7, event_ts: null },
      v: {
        event_ts: '1970-01-01T00:00:05Z',
        members: [
          { kind: 'Person', key: 'Ada' },
          { kind: 'Room', key: 7 },
        ],
      },
    });
  });

  test('p IN c.members ties nodes to edges, also below NOT and OR', async () => {
    const world = await town();
    const { run } = world;
    const tied = (where: string) =>
      run(`MATCH (p:Person), (c:calls) WHERE ${where} RETURN p.name AS p, c.event_ts AS t ORDER BY t, p`);
    const all = [
      ['Ada', 1],
      ['Grace', 1],
      ['Emmy', 2],
      ['Grace', 2],
      ['ada', 2],
      ['Emmy', 3],
    ].map(([p, t]) => ({ p, t }));
    expect(await tied('p IN c.members')).toEqual(all);
    expect(await tied('p.name IN c.members')).toEqual(all);
    expect((await tied('NOT p IN c.members')).length).toBe(4 * 3 - all.length);
    expect((await tied("p IN c.members OR p.name = 'Ada'")).length).toBe(all.length + 2);
    expect(await tied("p IN c.members AND p.city = 'London'")).toEqual([{ p: 'Ada', t: 1 }]);
    // A node in several edges.
    expect(
      await run(
        'MATCH (p:Person), (a:calls), (b:calls) WHERE p IN a.members AND p IN b.members AND a.id < b.id RETURN p.name, a.event_ts AS a, b.event_ts AS b ORDER BY a',
      ),
    ).toEqual([
      { 'p.name': 'Grace', a: 1, b: 2 },
      { 'p.name': 'Emmy', a: 2, b: 3 },
    ]);
    expect(
      await run('MATCH (p:Person), (v:visits), (r:Room) WHERE p IN v.members AND r IN v.members RETURN p.name, r.id'),
    ).toEqual([
      { 'p.name': 'Ada', 'r.id': 7 },
      { 'p.name': 'Emmy', 'r.id': 7 },
    ]);
  });

  test('nodes and keys stand inside EXISTS, and in UPDATE and DELETE', async () => {
    const world = await town();
    const { run } = world;
    const names = (where: string) => column(world, `MATCH (p:Person) WHERE ${where} RETURN p.name ORDER BY p.name`);
    expect(await names('EXISTS ((c:calls) WHERE p IN c.members)')).toEqual(['Ada', 'Emmy', 'Grace', 'ada']);
    expect(await names('NOT EXISTS ((v:visits) WHERE p IN v.members)')).toEqual(['Grace', 'ada']);
    expect(await names("EXISTS ((c:calls) WHERE p.name IN c.members AND 'Ada' IN c.members)")).toEqual([
      'Ada',
      'Grace',
    ]);
    expect(
      await column(
        world,
        "MATCH (c:calls) WHERE EXISTS ((p:Person) WHERE p IN c.members AND p.city = 'London') RETURN c.event_ts",
      ),
    ).toEqual([1]);
    await run("UPDATE calls SET cost = 9 WHERE EXISTS ((p:Person) WHERE p IN members AND p.city = 'London')");
    expect(await column(world, 'MATCH (c:calls) WHERE c.cost = 9 RETURN c.event_ts')).toEqual([1]);
    await run('DELETE FROM calls WHERE NOT EXISTS ((p:Person) WHERE p IN members AND p.born > 0)');
    expect(await column(world, 'MATCH (c:calls) RETURN c.event_ts')).toEqual([1, 2]);
  });

  test('roles of named tables take and show keys', async () => {
    const world = await town();
    const { run } = world;
    await run('CREATE HYPEREDGE TABLE mail (Person) ROLES (sender, recipient) PROPERTIES (subject TEXT)');
    await run("INSERT INTO mail (event_ts, sender, recipient) VALUES (1, ['Ada'], ['Grace', 'Zoe'])");
    await run("INSERT INTO mail (event_ts, members, sender) VALUES (2, ['Zoe', 'Ada'], [node(Person, 'Zoe')])");
    const all = 'MATCH (m:mail) RETURN m.sender, m.recipient, m.members ORDER BY m.event_ts';
    expect(await run(all)).toEqual([
      { sender: ['Ada'], recipient: ['Grace', 'Zoe'], members: ['Ada', 'Grace', 'Zoe'] },
      { sender: ['Zoe'], recipient: [], members: ['Ada', 'Zoe'] },
    ]);
    expect(await run('MATCH (m:mail) WHERE m.event_ts = 1 RETURN m')).toMatchObject([
      { m: { members: ['Ada', 'Grace', 'Zoe'], roles: { sender: ['Ada'], recipient: ['Grace', 'Zoe'] } } },
    ]);
    expect(await column(world, "MATCH (m:mail) WHERE 'Ada' IN m.sender RETURN m.event_ts")).toEqual([1]);
    expect(await column(world, "MATCH (m:mail) WHERE 'x' IN m.sender RETURN m.event_ts")).toEqual([]);
    expect(await column(world, "MATCH (m:mail) WHERE m.sender = ['Zoe'] RETURN m.event_ts")).toEqual([2]);
    expect(
      await run('MATCH (p:Person), (m:mail) WHERE p IN m.recipient RETURN p.name, m.event_ts ORDER BY p.name'),
    ).toEqual([
      { 'p.name': 'Grace', 'm.event_ts': 1 },
      { 'p.name': 'Zoe', 'm.event_ts': 1 },
    ]);
    await run("UPDATE mail SET subject = 'x'");
    await run("UPDATE mail SET recipient = ['Emmy'] WHERE 'Ada' IN sender");
    expect(await run(all)).toEqual([
      { sender: ['Ada'], recipient: ['Emmy'], members: ['Ada', 'Grace', 'Emmy', 'Zoe'] },
      { sender: ['Zoe'], recipient: [], members: ['Ada', 'Zoe'] },
    ]);
  });

  test('node is still a name of tables, columns and aliases', async () => {
    const { run } = await namedWorld(['CREATE NODE TABLE node (node TEXT)', 'CREATE HYPEREDGE TABLE tables (node)']);
    await run("INSERT INTO node (node) VALUES ('x')");
    await run("INSERT INTO tables (event_ts, members) VALUES (1, [node(node, 'x')])");
    expect(await run('MATCH (node:node), (t:tables) WHERE node IN t.members RETURN node.node')).toEqual([
      { 'node.node': 'x' },
    ]);
  });
});

describe('keys', () => {
  test('conditions on keys find what they name, whenever it was created', async () => {
    const world = await town();
    const { run } = world;
    const texts = [
      "MATCH (c:calls) WHERE 'Zoe' IN c.members RETURN c.event_ts",
      'MATCH (c:calls) WHERE $k IN c.members RETURN c.event_ts',
      "MATCH (c:calls) WHERE node(Person, 'Zoe') IN c.members RETURN c.event_ts",
      'MATCH (c:calls) MEMBERS [$k] RETURN c.event_ts',
      'MATCH (c:calls) MEMBERS $list RETURN c.event_ts',
      "MATCH (c:calls) WHERE c.members = ['Zoe'] RETURN c.event_ts",
      'MATCH (c:calls) WHERE c.members = $list RETURN c.event_ts',
      "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.name = 'Zoe' RETURN c.event_ts",
    ];
    const parameters = { k: 'Zoe', list: ['Zoe'] };
    for (let round = 0; round < 3; round++)
      for (const text of texts) expect(await column(world, text, parameters), text).toEqual([]);
    await run("INSERT INTO calls (event_ts, members) VALUES (9, ['Zoe'])");
    for (const text of texts) expect(await column(world, text, parameters), text).toEqual([9]);
    expect(await column(world, "MATCH (c:calls) WHERE c.members <> ['Zoe'] RETURN c.event_ts")).toEqual([1, 2, 3]);
    expect(await column(world, "MATCH (c:calls) WHERE NOT 'Zoe' IN c.members RETURN c.event_ts")).toEqual([1, 2, 3]);
    await run('DELETE FROM calls WHERE event_ts = 9');
    await run("DELETE FROM Person WHERE name = 'Zoe'");
    for (const text of texts) expect(await column(world, text, parameters), text).toEqual([]);
    await run("INSERT INTO calls (event_ts, members) VALUES (10, ['Zoe'])");
    for (const text of texts) expect(await column(world, text, parameters), text).toEqual([10]);
  });

  test('odd keys are told apart and come back as they are', async () => {
    const keys = ["O'Hara", '"', '\\', 'ada', 'Ada', 'ADA', '😀', 'é', 'e\u0301', ' ', '1', 'null', '[x]', '{}', '$k'];
    const world = await namedWorld(TOWN.slice(0, 3));
    for (const [t, k] of keys.entries())
      await world.run('INSERT INTO calls (event_ts, members) VALUES ($t, [$k])', { t, k });
    for (const [t, k] of keys.entries()) {
      expect(await world.run('MATCH (c:calls) WHERE $k IN c.members RETURN c.event_ts, c.members', { k })).toEqual([
        { event_ts: t, members: [k] },
      ]);
      expect(await world.run('MATCH (p:Person) WHERE p.name = $k RETURN p.name', { k })).toEqual([{ name: k }]);
    }
    expect(await column(world, "MATCH (c:calls) WHERE 'O''Hara' IN c.members RETURN c.event_ts")).toEqual([0]);
    for (const k of ['', 'x'.repeat(600), 'a\u0000b', null])
      expect(await column(world, 'MATCH (c:calls) WHERE $k IN c.members RETURN c.event_ts', { k })).toEqual([]);
    expect(await world.refused("INSERT INTO calls (event_ts, members) VALUES (1, [''])")).toMatchObject({
      status: 400,
    });
  });

  test('members are shown as keys, as objects or as numbers, in every place', async () => {
    const { run } = await town();
    const text =
      'MATCH (c:calls) WHERE c.event_ts = 1 RETURN c.members AS m, c AS row, COLLECT(c.members) AS ms, COLLECT(c) AS rows';
    const shown = async (members?: 'numbers' | 'objects') => {
      const [row] = (await run(text, {}, { members })) as unknown as [
        { m: unknown; row: { members: unknown }; ms: unknown[]; rows: { members: unknown }[] },
      ];
      expect([row.row.members, row.ms[0], row.rows[0]!.members]).toEqual([row.m, row.m, row.m]);
      return row.m;
    };
    expect(await shown()).toEqual(['Ada', 'Grace']);
    expect(await shown('numbers')).toEqual([1, 2]);
    expect(await shown('objects')).toEqual([
      { kind: 'Person', key: 'Ada' },
      { kind: 'Person', key: 'Grace' },
    ]);
    expect(
      await run('MATCH (c:calls) RETURN DISTINCT c.members, size(c.members) AS n ORDER BY n DESC LIMIT 1'),
    ).toEqual([{ members: ['Grace', 'Emmy', 'ada'], n: 3 }]);
  });

  test('conditions that cannot be meant are refused with advice', async () => {
    const { refused } = await town();
    for (const [text, advice] of [
      ['MATCH (c:calls) WHERE 1 IN c.members RETURN c', 'the keys of Person are texts'],
      ["MATCH (v:visits) WHERE 'Ada' IN v.members RETURN v", "write node(Person, 'Ada')"],
      ['MATCH (v:visits) WHERE node(Person, 1) IN v.members RETURN v', 'the keys of Person are texts'],
      ['MATCH (v:visits) WHERE node(Nobody, 1) IN v.members RETURN v', 'never of kind "Nobody"'],
      ['MATCH (c:calls) WHERE node(Room, 1) IN c.members RETURN c', 'never of kind "Room"'],
      ['MATCH (c:calls) WHERE node(Person) IN c.members RETURN c', 'node(Kind'],
      ["MATCH (c:calls) RETURN node(Person, 'Ada')", 'node(Kind'],
      ['MATCH (r:Room), (c:calls) WHERE r IN c.members RETURN c', 'never true'],
      ['MATCH (p:Person), (c:plain) WHERE p IN c.members RETURN c', 'plain numbers'],
      ["MATCH (c:plain) WHERE node(Person, 'Ada') IN c.members RETURN c", 'plain numbers'],
      ['MATCH (a:calls), (b:calls) WHERE a IN b.members RETURN a', 'a whole edge'],
      ['MATCH (a:calls), (b:plain) WHERE intersects(a, b) RETURN a', 'cannot be compared'],
      ['MATCH (a:calls), (b:plain) WHERE a.members = b.members RETURN a', 'cannot be compared'],
      ['MATCH (a:plain), (b:calls) WHERE a.members <> b.members RETURN a', 'cannot be compared'],
      ['MATCH (c:calls) WHERE c.members = [1, 2] RETURN c', 'the keys of Person are texts'],
      ["MATCH (v:visits) WHERE v.members = ['Ada'] RETURN v", 'of several kinds'],
      ['MATCH (c:calls) MEMBERS [] RETURN c', 'at least one key'],
      ['MATCH (c:calls) MEMBERS [1] RETURN c', 'the keys of Person are texts'],
      ["MATCH (p:Person) MEMBERS ['Ada'] RETURN p", 'MEMBERS belongs to edges'],
      ['MATCH (p:Person), (c:calls) WHERE shared(p, c) = 1 RETURN c', 'p IN alias.members'],
      ['MATCH (p:Person), (c:calls) WHERE overlaps(p, c, 5) RETURN c', 'takes edges'],
      ['MATCH (p:Person) RETURN bucket(p)', 'takes edges'],
      ['MATCH (p:Person) RETURN SUM(p)', 'p.name'],
      ['MATCH (x:Persn) RETURN x', 'Did you mean Person'],
    ] as const)
      expect(await refused(text), text).toMatchObject({
        status: text.includes('Persn') ? 404 : 400,
        message: expect.stringContaining(advice),
      });
  });
});

describe('writes', () => {
  test('nodes are inserted, changed and deleted', async () => {
    const world = await town();
    const { run, refused } = world;
    expect(await run("INSERT INTO Person (born, name) VALUES (1, 'A'), (2, 'B')")).toEqual([
      { operation: 'INSERT', rows_affected: 2 },
    ]);
    expect(await refused("INSERT INTO Person (name) VALUES ('New'), ('A')")).toMatchObject({
      code: 'node_exists',
      status: 409,
    });
    expect(await run("MATCH (p:Person) WHERE p.name = 'New' RETURN p")).toEqual([]);
    expect((await refused('INSERT INTO Person (born) VALUES (1)')).message).toContain('INSERT must name name');
    expect((await refused('INSERT INTO Person (name, id) VALUES ($n, 1)', { n: 'x' })).code).toBe('unknown_column');
    expect(await run("UPDATE Person SET born = born + 1, city = null WHERE name IN ['A', 'B']")).toMatchObject([
      { rows_affected: 2 },
    ]);
    expect(await run("MATCH (p:Person) WHERE p.name IN ['A', 'B'] RETURN p.born, p.city ORDER BY p.born")).toEqual([
      { born: 2, city: null },
      { born: 3, city: null },
    ]);
    expect((await refused("UPDATE Person SET name = 'C' WHERE name = 'A'")).message).toContain('cannot be changed');
    expect(await refused("DELETE FROM Person WHERE name = 'Emmy'")).toMatchObject({ code: 'node_in_use', status: 409 });
    expect(await run("DELETE FROM Person WHERE name = 'A'")).toMatchObject([{ rows_affected: 1 }]);
    expect(await column(world, 'MATCH (p:Person) WHERE p.born < 100 RETURN p.name')).toEqual(['B']);
  });

  test('edges are written with keys, and updates keep the members that they do not set', async () => {
    const world = await town();
    const { run, refused } = world;
    const members = (id: number) => run('MATCH (c:calls) WHERE c.id = $id RETURN c.members, c.cost', { id });
    await run('UPDATE calls SET cost = 2 WHERE id = 1');
    expect(await members(1)).toEqual([{ members: ['Ada', 'Grace'], cost: 2 }]);
    await run("UPDATE calls SET members = ['New', $k] WHERE 'Ada' IN members", { k: 'Ada' });
    expect(await members(1)).toEqual([{ members: ['Ada', 'New'], cost: 2 }]);
    await run('UPDATE calls SET members = members, event_ts = event_ts + 1 WHERE id = 1');
    await run('UPDATE calls SET members = $list WHERE id = 2', { list: ['Emmy'] });
    expect(await members(1)).toEqual([{ members: ['Ada', 'New'], cost: 2 }]);
    expect(await members(2)).toEqual([{ members: ['Emmy'], cost: 0.5 }]);
    await run("UPDATE visits SET members = [node(Room, 8), node(Person, 'New')] WHERE event_ts = 5");
    expect(await run('MATCH (v:visits) WHERE v.event_ts = 5 RETURN v.members')).toEqual([
      {
        members: [
          { kind: 'Person', key: 'New' },
          { kind: 'Room', key: 8 },
        ],
      },
    ]);
    for (const text of [
      'INSERT INTO calls (event_ts, members) VALUES (1, [1])',
      "INSERT INTO visits (event_ts, members) VALUES (1, ['Ada'])",
      'INSERT INTO calls (event_ts, members) VALUES (1, null)',
      'INSERT INTO calls (event_ts, members) VALUES (1, [])',
      'UPDATE calls SET members = [2]',
      "INSERT INTO plain (event_ts, members) VALUES (1, ['Ada'])",
      "INSERT INTO plain (event_ts, members) VALUES (1, [node(Person, 'Ada')])",
    ])
      expect((await refused(text)).status, text).toBe(400);
  });

  test('a transaction sees its own nodes, and nobody else does before its commit', async () => {
    const world = await town();
    const { run, refused } = world;
    const own = { session: 'own' };
    const found = async (session?: string) =>
      (await run("MATCH (c:calls) WHERE 'Own' IN c.members RETURN c.members", {}, { session })).length;
    await run('BEGIN', {}, own);
    await run("INSERT INTO calls (event_ts, members) VALUES (50, ['Own', 'Ada'])", {}, own);
    await run("INSERT INTO Person (name, city) VALUES ('Alone', 'Oslo')", {}, own);
    await run("UPDATE Person SET city = 'Paris' WHERE name = 'Own'", {}, own);
    expect(await found('own')).toBe(1);
    expect(await found()).toBe(0);
    expect(
      await run(
        "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.name = 'Own' RETURN p.city, c.members",
        {},
        own,
      ),
    ).toEqual([{ 'p.city': 'Paris', 'c.members': ['Ada', 'Own'] }]);
    expect(await run("MATCH (p:Person) WHERE p.name IN ['Own', 'Alone'] RETURN p.name")).toEqual([]);
    expect(await refused("INSERT INTO Person (name) VALUES ('Own')", {}, own)).toMatchObject({ code: 'node_exists' });
    await run('ROLLBACK', {}, own);
    expect(await found('own')).toBe(0);
    await run('BEGIN', {}, own);
    await run("INSERT INTO calls (event_ts, members) VALUES (50, ['Own'])", {}, own);
    await run("INSERT INTO calls (event_ts, members) VALUES (51, ['Own'])");
    await run('COMMIT', {}, own);
    expect(await found()).toBe(2);
    expect(await run("MATCH (p:Person) WHERE p.name = 'Own' RETURN COUNT(*) AS n")).toEqual([{ n: 1 }]);
  });
});

describe('plans', () => {
  test('start from nodes where that reads less', async () => {
    const { run, database } = await namedWorld(TOWN.slice(0, 3));
    const bulk = database.table('calls').bulk();
    const nodes = 3000;
    for (let i = 0; i < 20_000; i++)
      bulk.add({ event_ts: i, members: [`n${(i * 7) % nodes}`, `n${(i * 13 + 1) % nodes}`] });
    await bulk.commit();
    await run("UPDATE Person SET city = 'Oslo' WHERE name IN ['n1', 'n2', 'n14', 'n8']");
    const select = (where: string, items = 'p.name, COUNT(*) AS n') =>
      `MATCH (p:Person), (c:calls) WHERE p IN c.members AND ${where} RETURN ${items} ORDER BY p.name`;
    const strategyOf = async (text: string) => (await run(`EXPLAIN ${text}`))[0]!.strategy;
    const expected = (names: readonly string[]) =>
      names.map((name) => {
        let n = 0;
        for (let i = 0; i < 20_000; i++)
          if (name === `n${(i * 7) % nodes}` || name === `n${(i * 13 + 1) % nodes}`) n += 1;
        return { 'p.name': name, n };
      });
    for (let round = 0; round < 2; round++) {
      expect(await strategyOf(select("p.city = 'Oslo'"))).toBe('NODE_LOOKUP');
      expect(await run(select("p.city = 'Oslo'"))).toEqual(expected(['n1', 'n14', 'n2', 'n8']));
      expect(await run(select("p.name = 'n14'"))).toEqual(expected(['n14']));
      expect(await run(select('c.event_ts = 7', 'p.name'))).toEqual([{ 'p.name': 'n49' }, { 'p.name': 'n92' }]);
      const both = await run(select("p.city = 'Oslo' AND c.event_ts < 100 AND c.event_ts > 1", 'p.name, c.event_ts'));
      expect(both).toEqual(
        [1, 14, 2, 8].flatMap((name) =>
          Array.from({ length: 98 }, (_, i) => i + 2)
            .filter((i) => (i * 7) % nodes === name || (i * 13 + 1) % nodes === name)
            .map((t) => ({ 'p.name': `n${name}`, 'c.event_ts': t })),
        ),
      );
      expect((await run(`ANALYZE ${select("p.city = 'Oslo'")}`))[0]).toMatchObject({ strategy: 'NODE_LOOKUP' });
      expect((await run(`ANALYZE ${select("p.city <> 'x'")}`))[0]).toMatchObject({ strategy: 'MEMBER_JOIN' });
      await database.compact({});
    }
    expect(await strategyOf("MATCH (p:Person) WHERE p.name = 'n5' RETURN p")).toBe('NODE_LOOKUP');
    expect(await strategyOf('MATCH (p:Person) RETURN p')).toBe('FULL_SCAN');
  });
});
