// Tests statements that count the edges of nodes without making pairs. The judge is the same
// statement with one more condition over both patterns, which is always true: it is then answered
// by a join.

import { expect, test } from 'vitest';
import { Random } from '../support/random.ts';
import { namedWorld } from './named-world.ts';

const PEOPLE = 300;
const CITIES = ['Rome', 'Oslo', 'Lima', 'Bonn'];

async function town(seed: number) {
  const random = new Random(seed);
  const world = await namedWorld([
    'CREATE NODE TABLE Person (name TEXT) PROPERTIES (city TEXT, born INTEGER)',
    'CREATE HYPEREDGE TABLE calls (Person) ROLES (caller, callee) PROPERTIES (place TEXT)',
  ]);
  const name = (person: number) => `'n${person}'`;
  for (let person = 0; person < PEOPLE; person++) {
    const city = random.below(5) === 0 ? 'NULL' : `'${CITIES[person % CITIES.length]}'`;
    const born = random.below(7) === 0 ? 'NULL' : 1900 + random.below(40);
    await world.run(`INSERT INTO Person (name, city, born) VALUES (${name(person)}, ${city}, ${born})`);
  }
  const edges = async (count: number) => {
    const bulk = world.database.table('calls').bulk();
    for (let i = 0; i < count; i++) {
      const [caller, callee] = [`n${random.below(PEOPLE / 2)}`, `n${random.below(PEOPLE / 3)}`];
      bulk.add({
        event_ts: random.below(1000),
        members: [],
        roles: { caller: [caller], callee: random.below(4) === 0 ? [caller, callee] : [callee] },
        properties: { place: `p${random.below(3)}` },
      });
    }
    await bulk.commit();
  };
  return { ...world, random, edges };
}

const CONDITIONS = [
  'p IN c.members',
  "p IN c.members AND p.city = 'Rome'",
  "p IN c.members AND p.name = 'n7'",
  "p IN c.members AND p.name = 'nobody'",
  "p IN c.members AND p.name IN ['n1', 'n99', 'n299']",
  "p IN c.callee AND p.name IN ['n149', 'n2', 'nobody']",
  "p IN c.members AND p.name IN ['n1', 'n149'] AND c.place = 'p0'",
  'p IN c.members AND p.born = 1907 AND c.event_ts < 700',
  "p IN c.members AND (p.city = 'Oslo' OR p.name = 'n3') AND c.event_ts >= 200 AND c.event_ts < 700",
  "p IN c.members AND c.place = 'p1'",
  'p IN c.members AND c.event_ts > 5000',
  'p IN c.caller',
  "p IN c.callee AND p.city <> 'Rome' AND c.event_ts < 500",
  'p IN c.members AND p.born < 1910',
  "p IN c.members AND p.city CONTAINS 'o' AND p.born IS NOT NULL",
];
const RETURNS = [
  'p.name, COUNT(*) AS n',
  'p.city, COUNT(*) AS n, COUNT(p.born) AS b, SUM(p.born) AS s, MIN(p.born) AS l, MAX(p.name) AS g, AVG(p.born) AS a',
  'COUNT(*) AS n, COUNT(DISTINCT p.city) AS c, COUNT(c.id) AS i',
  'p.city, p.born, COUNT(c.event_ts) AS n',
  'p.name, p.born + 1 AS next, COUNT(*) AS n',
];

test.each([1, 2])('edges are counted as a join counts them, in every state, seed %i', async (seed) => {
  const { run, database, random, edges } = await town(seed);
  const check = async (state: string) => {
    for (const where of CONDITIONS)
      for (const items of RETURNS) {
        const rows = async (more: string) =>
          (await run(`MATCH (p:Person), (c:calls) WHERE ${where}${more} RETURN ${items}`))
            .map((row) => JSON.stringify(row))
            .sort();
        const joined = await rows(' AND (c.event_ts >= 0 OR p.born = 0)');
        expect(await rows(''), `${state}: ${where} RETURN ${items}`).toEqual(joined);
      }
  };
  await edges(600);
  expect(await run('MATCH (p:Person), (c:calls) WHERE p IN c.caller RETURN COUNT(*) AS n')).toEqual([{ n: 600 }]);
  await check('in memory');
  await database.compact({});
  await check('compacted');
  await edges(100);
  await check('both');
  await run(`DELETE FROM calls WHERE event_ts >= ${random.below(500)} AND event_ts < 600`);
  await run("UPDATE Person SET city = 'Rome' WHERE born > 1920");
  await check('with deleted edges and changed nodes');
  await database.compact({});
  await check('compacted again');
  await database.close();
});

test('EXPLAIN says whether the edges are counted or joined', async () => {
  const { run, database, edges } = await town(4);
  await edges(3000);
  const planOf = async (where: string, items: string) =>
    JSON.stringify((await run(`EXPLAIN MATCH (p:Person), (c:calls) WHERE ${where} RETURN ${items}`))[0]!.plan);
  const counted = CONDITIONS.filter((where) => !where.endsWith('> 5000'));
  for (const where of counted) expect(await planOf(where, 'p.city, COUNT(*)'), where).toContain('GroupByEdgesPerNode');
  for (const items of [
    'c.place, COUNT(*)',
    'p.city, MAX(c.event_ts)',
    'p.city, COUNT(DISTINCT c.id)',
    'COLLECT(p.name)',
  ])
    expect(await planOf('p IN c.members', items), items).not.toContain('GroupByEdgesPerNode');
  expect(await planOf('p IN c.members AND c.event_ts >= p.born', 'COUNT(*)')).not.toContain('GroupByEdgesPerNode');
  await database.close();
});

test('many nodes, each of which is a group of its own', async () => {
  const { run, database } = await namedWorld([
    'CREATE NODE TABLE Person (name TEXT) PROPERTIES (born INTEGER)',
    'CREATE HYPEREDGE TABLE calls (Person)',
  ]);
  const random = new Random(3);
  // More than one step counts.
  const count = 70_000;
  const persons = database.nodes.table('Person');
  const transaction = database.begin();
  for (let n = 0; n < count; n++)
    transaction.insertNode(persons, { name: `n${n}`, born: n % 5 === 0 ? null : 1900 + (n % 40) });
  await transaction.commit();
  const known = new Map<string, number>();
  for (let batch = 0; batch < 3; batch++) {
    const bulk = database.table('calls').bulk();
    for (let i = 0; i < 9000; i++) {
      const members = [...new Set([0, 1].map(() => `n${random.below(count)}`))];
      for (const name of members) known.set(name, (known.get(name) ?? 0) + 1);
      bulk.add({ event_ts: random.below(1000), members });
    }
    await bulk.commit();
    // The last batch stays in memory.
    if (batch < 2) await database.compact({});
  }
  const bornOf = (name: string) => (Number(name.slice(1)) % 5 === 0 ? null : 1900 + (Number(name.slice(1)) % 40));
  const expected = [...known].map(([name, n]) => [name, bornOf(name), n].join()).sort();
  const text = 'MATCH (p:Person), (c:calls) WHERE p IN c.members';
  const rows = await run(`${text} RETURN p.name AS name, p.born AS born, COUNT(*) AS n`);
  expect(rows.map(({ name, born, n }) => [name, born, n].join()).sort()).toEqual(expected);
  const odd = await run(
    `${text} RETURN p.name AS name, p.born + 1 AS next, COUNT(*) + COUNT(p.born) AS n ORDER BY name`,
  );
  expect(odd).toHaveLength(expected.length);
  for (const { name, next, n } of odd) {
    const born = bornOf(name as string);
    const times = known.get(name as string)!;
    expect([next, n]).toEqual([born === null ? null : born + 1, born === null ? times : 2 * times]);
  }
  const most = Math.max(...known.values());
  const [first] = await run(`${text} RETURN p.name AS name, COUNT(*) AS n ORDER BY n DESC LIMIT 1`);
  expect([first!.n, known.get(first!.name as string)]).toEqual([most, most]);
});
