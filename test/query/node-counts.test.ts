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
