// Tests that a statement finds a node by its key as its snapshot shows it: a node that another
// commit has deleted, or deleted and created again, since the snapshot was taken.

import { describe, expect, test } from 'vitest';
import { type NamedWorld, namedWorld, TOWN } from './named-world.ts';

/** Every form in which a statement names Ada. */
const NAMED: readonly string[] = [
  "MATCH (p:Person) WHERE p.name = 'Ada' RETURN p.born",
  "MATCH (p:Person) WHERE p.name IN ['Ada', 'Nobody'] RETURN p.born",
  "MATCH (p:Person) WHERE p.name = 'Ada' OR p.name = 'Nobody' RETURN p.born",
  "MATCH (c:calls) WHERE 'Ada' IN c.members RETURN c.event_ts",
  "MATCH (c:calls) MEMBERS ['Ada'] RETURN c.event_ts",
  "MATCH (c:calls) WHERE 'Ada' IN c.members OR c.cost > 9 RETURN c.event_ts",
  "MATCH (v:visits) WHERE node(Person, 'Ada') IN v.members RETURN v.event_ts",
  "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.name = 'Ada' RETURN p.born, c.event_ts",
  "MATCH (x:plain) WHERE EXISTS ((v:visits) WHERE node(Person, 'Ada') IN v.members) RETURN x.kind",
  // The key is computed for each row.
  'MATCH (x:plain), (c:calls) WHERE x.kind IN c.members RETURN c.event_ts',
];

const DELETE = [
  "DELETE FROM calls WHERE 'Ada' IN members",
  "DELETE FROM visits WHERE node(Person, 'Ada') IN members",
  "DELETE FROM Person WHERE name = 'Ada'",
];
const CREATE = [
  "INSERT INTO Person (name, born) VALUES ('Ada', 2000)",
  "INSERT INTO calls (event_ts, members) VALUES (70, ['Ada'])",
];

async function town(): Promise<NamedWorld & { all: (statements: readonly string[]) => Promise<void> }> {
  const world = await namedWorld([...TOWN, "UPDATE plain SET kind = 'Ada'"]);
  const all = async (statements: readonly string[]) => {
    for (const text of statements) await world.run(text);
  };
  return { ...world, all };
}

/** Returns the one row in which each form finds Ada. */
async function answers({ run }: NamedWorld): Promise<Map<string, readonly Record<string, unknown>[]>> {
  const rows = new Map<string, readonly Record<string, unknown>[]>();
  for (const text of NAMED) rows.set(text, await run(text));
  for (const [text, found] of rows) expect(found.length, text).toBe(1);
  return rows;
}

describe('keys in an older snapshot', () => {
  const old = { session: 'old' };

  test('a node that another commit has deleted is found by its key', async () => {
    const world = await town();
    const { run, all } = world;
    const before = await answers(world);
    await run('BEGIN', {}, old);
    await all(DELETE);
    for (const [text, rows] of before) {
      expect(await run(text, {}, old), text).toEqual(rows);
      expect(await run(text), text).toEqual([]);
    }
    await run('ROLLBACK', {}, old);
  });

  test('a node that was deleted and created again is found as it was', async () => {
    const world = await town();
    const { run, all } = world;
    const before = await answers(world);
    await run('BEGIN', {}, old);
    await all([...DELETE, ...CREATE]);
    for (const [text, rows] of before) expect(await run(text, {}, old), text).toEqual(rows);
    await run('BEGIN', {}, { session: 'between' });
    const between = await run(
      "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.name = 'Ada' RETURN p.born AS born",
      {},
      {
        session: 'between',
      },
    );
    expect(between).toEqual([{ born: 2000 }]);
    await all([DELETE[0]!, DELETE[2]!, "INSERT INTO Person (name, born) VALUES ('Ada', 3000)"]);
    for (const [text, rows] of before) expect(await run(text, {}, old), text).toEqual(rows);
    const born = async (options = {}) =>
      await run("MATCH (p:Person) WHERE p.name = 'Ada' RETURN p.born AS born", {}, options);
    expect(await born({ session: 'between' })).toEqual([{ born: 2000 }]);
    expect(await born()).toEqual([{ born: 3000 }]);
  });

  test('a node that did not exist yet is not found, though it was created and deleted since', async () => {
    const { run, all } = await town();
    await run('BEGIN', {}, old);
    await all(["INSERT INTO Person (name) VALUES ('Zoe')", "DELETE FROM Person WHERE name = 'Zoe'"]);
    expect(await run("MATCH (p:Person) WHERE p.name = 'Zoe' RETURN p.name", {}, old)).toEqual([]);
    await all(["INSERT INTO Person (name) VALUES ('Zoe')"]);
    expect(await run("MATCH (p:Person) WHERE p.name = 'Zoe' RETURN p.name", {}, old)).toEqual([]);
  });

  test('many deletions are remembered', async () => {
    const { run, database } = await town();
    const many = Array.from({ length: 5000 }, (_, i) => `n${i}`);
    const insert = async () => {
      const nodes = database.begin();
      for (const name of many) nodes.insertNode(database.nodes.table('Person'), { name });
      await nodes.commit();
    };
    await insert();
    await run('BEGIN', {}, old);
    for (let round = 0; round < 2; round++) {
      await run("DELETE FROM Person WHERE name STARTS WITH 'n'");
      if (round === 0) await insert();
    }
    const found = await run(
      'MATCH (p:Person) WHERE p.name IN $names RETURN COUNT(*) AS n',
      { names: many.slice(0, 900) },
      old,
    );
    expect(found).toEqual([{ n: 900 }]);
    await run('ROLLBACK', {}, old);
    await run("INSERT INTO Person (name) VALUES ('Last')");
    await run("DELETE FROM Person WHERE name = 'Last'");
    expect(await run("MATCH (p:Person) WHERE p.name = 'n1' RETURN p.name")).toEqual([]);
  });

  test('a transaction does not write a node that another commit has deleted', async () => {
    const { run, all, refused } = await town();
    await run('BEGIN', {}, old);
    await all(DELETE);
    for (const text of [
      "INSERT INTO Person (name) VALUES ('Ada')",
      "INSERT INTO calls (event_ts, members) VALUES (9, ['Ada'])",
      "UPDATE Person SET born = 1 WHERE name = 'Ada'",
    ]) {
      const mine = { session: 'old' };
      const outcome = await refused(text, {}, mine).catch(() => undefined);
      if (outcome === undefined) expect(await refused('COMMIT', {}, mine), text).toMatchObject({ code: 'conflict' });
      else expect(outcome, text).toMatchObject({ code: 'conflict' });
      await run('ROLLBACK', {}, mine).catch(() => undefined);
      await run("INSERT INTO Person (name) VALUES ('Ada')");
      await run('BEGIN', {}, mine);
      await run("DELETE FROM Person WHERE name = 'Ada'");
    }
  });
});
