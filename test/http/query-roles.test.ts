// Runs every kind of statement in every spelling with every role, through /v1/query and in a batch.
// The kind decides which role is needed, and a refusal changes nothing.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DISGUISES, NO_STATEMENTS, STATEMENTS, type StatementCase } from './statement-cases.ts';
import { type Answer, send, startServer, type TestRole, type TestServer } from './support.ts';

/** The spellings in which statements are also executed. Refusals are tested in every spelling. */
const CARRIED_OUT = ['in letters of all sizes', 'with comments for spaces', 'with a semicolon and a comment'];
const ROLES: readonly TestRole[] = ['readonly', 'readwrite', 'admin'];
const copyRoot = mkdtempSync(join(tmpdir(), 'hedgerow-roles-'));
let server: TestServer;

beforeAll(async () => {
  server = await startServer({ auth: true, copyRoot });
});

afterAll(async () => {
  await server.close();
  rmSync(copyRoot, { recursive: true });
});

beforeEach(setStage);

/** Makes what the statements use: a table with rows, columns and an index, and a file. */
async function setStage(): Promise<void> {
  const { database } = server;
  for (const { name } of database.tables()) if (name !== database.primaryTable) await database.dropTable(name);
  await database.createTable({
    name: 'stage',
    columns: [
      { name: 'n', type: 'INTEGER' },
      { name: 'extra', type: 'TEXT' },
    ],
  });
  await database.createIndex('stage', 'weight');
  await database.createTable({ name: 'texts', columns: [{ name: 'note', type: 'TEXT' }] });
  await database.textIndexes.create('texts', { columns: ['note'] });
  for (const { name } of database.nodes.tables()) await database.nodes.dropTable(name);
  await database.nodes.createTable({
    name: 'Kind',
    key: { name: 'label', type: 'TEXT' },
    columns: [{ name: 'extra', type: 'TEXT' }],
  });
  for (let i = 0; i < 3; i++) await database.table('stage').insert({ event_ts: i, members: [1, i + 2] });
  for (const file of readdirSync(copyRoot)) rmSync(join(copyRoot, file));
  writeFileSync(join(copyRoot, 'in.csv'), 'event_ts,members\n70,3;4\n');
}

/** Returns everything that a statement can change. */
async function state(): Promise<unknown> {
  const { database } = server;
  const rows = await query('admin', 'MATCH (s:stage) RETURN * ORDER BY s.id').catch(() => undefined);
  return {
    lsn: database.lastLsn,
    catalog: database.catalogVersion,
    tables: database.tables().map(({ name, columns }) => [name, columns.columns.map((column) => column.name)]),
    nodeTables: database.nodes.tables().map((table) => database.nodes.item(table)),
    indexes: database.indexes(),
    wal: database.wal(),
    rows: rows?.json.rows,
    files: readdirSync(copyRoot).map((name) => [name, readFileSync(join(copyRoot, name), 'utf8')]),
  };
}

type Parameters = StatementCase['parameters'];

function query(role: TestRole, text: string, parameters: Parameters = {}, session = role as string): Promise<Answer> {
  const headers = { 'x-api-key': server.keys[role], 'x-session-id': session };
  return send(server, 'POST', '/v1/query', { query: text, parameters }, headers);
}

/** Sends the statement as the second operation of a batch, after a write. */
function batch(role: TestRole, text: string, parameters: Parameters = {}): Promise<Answer> {
  const operations = [
    { type: 'insert', table: 'stage', event_ts: 99, members: [99] },
    { type: 'query', cypher: text, parameters },
  ];
  return send(server, 'POST', '/v1/batch', { operations }, { 'x-api-key': server.keys[role] });
}

function includes(role: TestRole, needed: TestRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

function expectRefused(answer: Answer, needed: TestRole, where: string): void {
  expect([where, answer.status, answer.json.code]).toEqual([where, 403, 'forbidden']);
  expect(answer.json.detail).toContain(needed);
}

/**
 * Ends a transaction that is still open, and opens one if the statement is a COMMIT or ROLLBACK.
 */
async function prepareSession({ kind }: StatementCase, role: TestRole): Promise<void> {
  await query(role, 'ROLLBACK');
  if (kind === 'commit' || kind === 'rollback') expect((await query(role, 'BEGIN')).status).toBe(200);
}

describe.each(STATEMENTS)('$text', (one) => {
  const { text, role: needed, parameters, effect } = one;

  test('needs its documented role through /v1/query', async () => {
    const before = await state();
    for (const role of ROLES.filter((role) => !includes(role, needed))) {
      for (const [how, disguise] of Object.entries(DISGUISES))
        expectRefused(await query(role, disguise(text), parameters), needed, `${role}, ${how}`);
      // The role is checked before names are.
      expectRefused(await query(role, text.replace('stage', 'nowhere'), parameters), needed, `${role}, nowhere`);
    }
    expect(await state()).toEqual(before);
    for (const role of ROLES.filter((role) => includes(role, needed))) await runsFor(role, text, 'as it is');
    for (const how of CARRIED_OUT) await runsFor(needed, DISGUISES[how]!(text), how);
  });

  async function runsFor(role: TestRole, written: string, how: string): Promise<void> {
    if (effect !== 'reads') await setStage();
    await prepareSession(one, role);
    const before = await state();
    const answer = await query(role, written, parameters);
    expect([role, how, answer.status, answer.text]).toEqual([role, how, 200, answer.text]);
    if (effect === 'reads') expect(await state()).toEqual(before);
    else if (effect === 'writes' || needed === 'admin') expect(await state()).not.toEqual(before);
    if (one.kind === 'begin') expect((await query(role, 'ROLLBACK')).status).toBe(200);
  }

  test('needs its documented role in a batch', async () => {
    const before = await state();
    for (const disguise of Object.values(DISGUISES))
      expectRefused(await batch('readonly', disguise(text), parameters), 'readwrite', text);
    for (const role of ROLES.slice(1)) {
      for (const [how, disguise] of Object.entries(DISGUISES)) {
        if (effect !== 'defines' && how !== 'as it is' && role === 'admin') continue;
        const answer = await batch(role, disguise(text), parameters);
        const where = `${role}, ${how}: ${answer.text}`;
        expect([where, answer.status, answer.json.committed]).toEqual([where, 200, effect !== 'defines']);
        if (!includes(role, needed)) expect(answer.json.error).toContain(needed);
      }
    }
    if (effect === 'defines') expect(await state()).toEqual(before);
  });

  test('is only planned by EXPLAIN, which any role may use', async () => {
    const before = await state();
    for (const word of ['EXPLAIN ', 'explain\n', '/* x */ Explain // y\n', 'EXPLAIN/**/']) {
      for (const role of ROLES) {
        const answer = await query(role, word + text, parameters);
        expect([word, role, answer.status, answer.text]).toEqual([word, role, 200, answer.text]);
        expect(answer.json.rows[0]).toHaveProperty('plan');
      }
    }
    expect(await state()).toEqual(before);
    const inBatch = await batch('readwrite', `EXPLAIN ${text}`, parameters);
    expect([inBatch.status, inBatch.json.committed]).toEqual([200, true]);
    await send(
      server,
      'DELETE',
      '/v1/hyperedges',
      { table: 'stage', event_ts: 99, members: [99] },
      {
        'x-api-key': server.keys.admin,
      },
    );
    expect((await state()) as { rows: unknown }).toMatchObject({ rows: (before as { rows: unknown }).rows });
    const [table] = server.database.tables().filter(({ name }) => name === 'stage');
    expect(table).toBeDefined();
  });

  test('needs the same role with ANALYZE, which runs only reads', async () => {
    const before = await state();
    for (const word of ['ANALYZE ', ' analyze\n', '/* x */ Analyze // y\n'])
      for (const role of ROLES) {
        const answer = await query(role, word + text, parameters);
        if (!includes(role, needed)) expectRefused(answer, needed, `${role} ${word}`);
        else expect([word, role, answer.status]).toEqual([word, role, one.kind === 'match' ? 200 : 400]);
      }
    expect(await state()).toEqual(before);
    for (const role of ROLES.slice(1)) {
      if (one.kind === 'match') continue;
      const answer = await batch(role, `ANALYZE ${text}`, parameters);
      expect([role, answer.status, answer.json.committed]).toEqual([role, 200, false]);
    }
    expect(await state()).toEqual(before);
  });
});

test('text that is not a statement is refused for every role and does nothing', async () => {
  const before = await state();
  const parameters = { statement: 'DROP HYPEREDGE TABLE stage' };
  for (const text of NO_STATEMENTS) {
    for (const role of ROLES) {
      const answer = await query(role, text, parameters);
      expect([text, role, answer.status, answer.json.code]).toEqual([text, role, 400, 'syntax_error']);
    }
    const inBatch = await batch('admin', text, parameters);
    expect([text, inBatch.status, inBatch.json.committed]).toEqual([text, 200, false]);
  }
  expect(await state()).toEqual(before);
});

test('a parameter value is never interpreted as part of the statement', async () => {
  const before = await state();
  const bad = "x'); DROP HYPEREDGE TABLE stage; //";
  for (const role of ROLES) {
    const texts = ['MATCH (s:stage) WHERE s.extra = $v RETURN s', "MATCH (s:stage) WHERE s.extra = '$v' RETURN s"];
    for (const text of texts) {
      const { status, json } = await query(role, text, { v: bad });
      expect([status, json.rows]).toEqual([200, []]);
    }
    expect((await query(role, 'MATCH (s:$v) RETURN s', { v: 'stage' })).status).toBe(400);
  }
  expect(await state()).toEqual(before);
});
