// Tests stored answers: how they are made with a write, and kept in memory and in files.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Committer } from '../../src/engine/commit/committer.ts';
import { IdempotencyStore, REPLAY_LIMITS } from '../../src/engine/idempotency/idempotency-store.ts';
import type { AnswerToKeep, Attach, Database, EngineOptions } from '../../src/engine/index.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf } from '../support/sim-tables.ts';

const HOUR_MS = 3600 * 1000;
const DIR = '/db/replays';

let fs: SimFs;
let db: Database;
let nowMs: number;

const LIMITS = { fileBytes: 600 };

function open(more: Partial<EngineOptions> = {}): Promise<Database> {
  return openSim(fs, { now: () => nowMs, core: 'release', replayLimits: LIMITS, ...more });
}

beforeEach(async () => {
  nowMs = 1_000_000_000_000;
  fs = simDisk();
  db = await open();
});

async function crash(more: Partial<EngineOptions> = {}): Promise<void> {
  fs = fs.crash();
  db = await open(more);
}

function entry(id: string, body = `{"of":"${id}"}`): AnswerToKeep {
  return { id, bodyHash: `hash of ${id}`, status: 201, contentType: 'application/json', body, at: nowMs };
}

/** Returns a function that makes the stored answer from the outcome of a write. */
function keep<T>(id: string): Attach<T> {
  return (outcome) => entry(id, JSON.stringify(outcome ?? null));
}

function found(id: string): unknown {
  const body = db.replays.find(id)?.body;
  return body === undefined || body === null ? body : JSON.parse(body);
}

function replayFiles(): string[] {
  return fs.exists(DIR) ? fs.list(DIR) : [];
}

/** Moves the contents of the log into segments and files. */
async function checkpoint(): Promise<void> {
  await db.table().insert({ event_ts: 77, members: [1] });
  await db.compact({});
}

describe('an answer stored with a write', () => {
  test('equals the answer of the write, for every kind of write', async () => {
    const table = db.table();
    const insert = await table.insert({ event_ts: 1, members: [2, 1, 2], properties: { weight: 0.5 } }, keep('insert'));
    expect(found('insert')).toEqual({ row: insert.row });
    const bulk = table.bulk();
    for (let i = 0; i < 3; i++) bulk.add({ event_ts: 1, members: [1, 2] });
    const { lsn: _, ...bulkAnswer } = await bulk.commit(keep('bulk'));
    expect(found('bulk')).toEqual(bulkAnswer);
    const deleted = await table.delete(1, [1, 2, 1], keep('delete'));
    expect(deleted.matched).toBe(4);
    expect(found('delete')).toEqual({ matched: 4, event_ts: 1, members: [1, 2] });
    expect((await table.delete(1, [1, 2], keep('again'))).matched).toBe(0);
    expect(found('again')).toMatchObject({ matched: 0 });
    const made = await db.createTable({ name: 'Made', bucketSeconds: 5 }, keep('create'));
    expect(found('create')).toEqual(made.item());
    await db.setCompactThreshold(9, undefined, keep('threshold'));
    expect(found('threshold')).toBeNull();
    expect(db.tables().map((each) => each.definition.compactThreshold)).toEqual([9, 9]);
    await db.dropTable('made', keep('drop'));
    expect(found('drop')).toEqual({ name: 'Made' });
    await db.begin().commit(keep('nothing'));
    expect(found('nothing')).toEqual({ results: [] });
    await db.replays.store(entry('alone'));
    expect(db.replays.find('alone')).toEqual({ ...entry('alone'), lsn: db.lastLsn });
    expect(found('unknown')).toBeUndefined();
  });

  test('has the same counts of deleted rows as the answer of the commit, for random transactions', async () => {
    const random = new Random(3);
    const other = await db.createTable({ name: 'other' });
    const edge = () => ({ event_ts: random.below(3) - 1, members: [random.below(2), 5] });
    let deletes = 0;
    for (let round = 0; round < 150; round++) {
      const transaction = db.begin();
      for (let i = random.below(8); i >= 0; i--) {
        const table = random.chance(0.7) ? db.table() : other;
        const { event_ts, members } = edge();
        if (random.chance(0.6)) transaction.insert(table, { event_ts, members });
        else transaction.delete(table, event_ts === 0 && random.chance(0.5) ? -0 : event_ts, [...members].reverse());
      }
      // The table changes between staging and commit.
      if (random.chance(0.5)) await db.table().insert(edge());
      if (random.chance(0.3)) await db.table().delete(edge().event_ts, edge().members);
      if (random.chance(0.2)) await db.compact({});
      const { results } = await transaction.commit(keep(`t${round}`));
      expect(found(`t${round}`)).toEqual({ results: results.map(({ lsn: _, ...rest }) => rest) });
      deletes += results.filter((result) => 'matched' in result && result.matched > 0).length;
    }
    expect(deletes).toBeGreaterThan(50);
  });

  test('makes its write fail without a trace if the answer cannot be made', async () => {
    const table = db.table();
    await table.insert({ event_ts: 5, members: [5] });
    const before = { lsn: db.lastLsn, nextId: table.nextId, rows: rowsOf(table), definition: table.definition };
    const fail = (): never => {
      throw new Error('no answer');
    };
    const bulk = table.bulk();
    bulk.add({ event_ts: 1, members: [1] });
    const deletes = db.begin();
    deletes.delete(table, 5, [5]);
    const writes = [
      table.insert({ event_ts: 1, members: [1] }, fail),
      table.delete(5, [5], fail),
      bulk.commit(fail),
      deletes.commit(fail),
      db.begin().commit(fail),
      db.createTable({ name: 'made' }, fail),
      db.setCompactThreshold(3, undefined, fail),
    ];
    for (const write of writes) expect(await codeOf(write)).toBe('no answer');
    await db.createTable({ name: 'stays' });
    expect(await codeOf(db.dropTable('stays', fail))).toBe('no answer');
    expect(db.tables().map(({ name }) => name)).toEqual(['hyperedges', 'stays']);
    expect(db.lastLsn).toBe(before.lsn + 1);
    expect(rowsOf(table)).toEqual(before.rows);
    expect(table.definition).toEqual(before.definition);
    expect((await table.insert({ event_ts: 1, members: [1] })).row.id).toBe(before.nextId);
    await crash();
    expect(rowsOf(db.table())).toHaveLength(2);
  });

  test('is not requested when the write is refused', async () => {
    const never = (): never => {
      throw new Error('asked');
    };
    expect(await codeOf(db.table().insert({ event_ts: 0.5, members: [1] }, never))).toBe('invalid_input');
    expect(await codeOf(db.table().delete(1, [], never))).toBe('empty_members');
    expect(await codeOf(db.table().bulk().commit(never))).toBe('invalid_input');
    expect(await codeOf(db.createTable({ name: 'hyperedges' }, never))).toBe('table_exists');
    expect(await codeOf(db.dropTable('hyperedges', never))).toBe('primary_table');
    expect(await codeOf(db.setCompactThreshold(1, 'nobody', never))).toBe('table_not_found');
  });

  test('is found only when it is durable', async () => {
    const done = db.table().insert({ event_ts: 1, members: [1] }, keep('a'));
    expect(found('a')).toBeUndefined();
    await done;
    expect(found('a')).toBeDefined();
    fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
    expect(await codeOf(db.table().insert({ event_ts: 1, members: [1] }, keep('b')))).toBe('log_failed');
    expect(found('b')).toBeUndefined();
  });
});

describe('stored answers', () => {
  test('outlive compaction, truncation of the log and restarts', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 30; i++) {
        ids.push(`${round}.${i}`);
        await db.table().insert({ event_ts: i, members: [i, 1000 + round] }, keep(ids.at(-1)!));
      }
      await db.compact({});
      if (round % 2 === 1) await crash();
    }
    expect(fs.list('/db/log')[0]! > 'log-0000000000000004').toBe(true);
    expect(replayFiles().length).toBeGreaterThan(10);
    await db.close();
    db = await open();
    expect(ids.filter((id) => found(id) === undefined)).toEqual([]);
    expect(db.replays.find('0.7')).toMatchObject(entry('0.7', db.replays.find('0.7')!.body!));
    expect(found('0.7')).toMatchObject({ row: { event_ts: 7, members: [7, 1000] } });
  });

  test('make a checkpoint write only the new ones', async () => {
    await db.close();
    db = await open({ replayLimits: { fileBytes: 2 ** 20 } });
    const writes = async (): Promise<{ bytes: number; opens: number }> => {
      const size = () => replayFiles().reduce((sum, name) => sum + fs.open(`${DIR}/${name}`, 'read').size(), 0);
      const before = size();
      let opens = 0;
      fs.schedule = ({ kind, path }) => {
        if (kind === 'write' && path.startsWith(DIR)) opens++;
        return undefined;
      };
      await checkpoint();
      fs.schedule = () => undefined;
      return { bytes: size() - before, opens };
    };
    for (let i = 0; i < 50; i++) await db.replays.store(entry(`first ${i}`));
    const first = await writes();
    expect(first.bytes).toBeGreaterThan(50 * 100);
    expect(await writes()).toEqual({ bytes: 0, opens: 0 });
    await db.replays.store(entry('one more'));
    const second = await writes();
    expect(second.opens).toBe(1);
    expect(second.bytes).toBeLessThan(first.bytes / 40);
  });

  test('expire after 24 hours, together with their files', async () => {
    for (let i = 0; i < 20; i++) await db.replays.store(entry(`old ${i}`));
    await checkpoint();
    nowMs += 23 * HOUR_MS;
    await db.replays.store(entry('young'));
    await checkpoint();
    const files = replayFiles();
    expect(files.length).toBeGreaterThan(3);
    expect(found('old 0')).toBeDefined();
    nowMs += HOUR_MS;
    expect(found('old 0')).toBeDefined();
    nowMs += 1;
    expect(found('old 0')).toBeUndefined();
    expect(found('young')).toBeDefined();
    await crash();
    expect(found('old 19')).toBeUndefined();
    expect(found('young')).toBeDefined();
    await checkpoint();
    expect(replayFiles()).toEqual([files.at(-1)]);
    nowMs += 24 * HOUR_MS;
    await checkpoint();
    expect(replayFiles()).toEqual([]);
    await crash();
    await db.replays.store(entry('later'));
    await checkpoint();
    expect(replayFiles()).toHaveLength(1);
    expect(files).not.toContain(replayFiles()[0]);
    await crash();
    expect(found('later')).toBeDefined();
  });

  test('never exceed the limit, and the oldest are removed first', async () => {
    const replayLimits = { entries: 10, fileBytes: 300 };
    await db.close();
    db = await open({ replayLimits });
    const here = (): string[] => Array.from({ length: 40 }, (_, i) => `${i}`).filter((id) => db.replays.find(id));
    for (let i = 0; i < 25; i++) {
      await db.replays.store(entry(`${i}`, '"e"'));
      if (i % 4 === 3) await checkpoint();
    }
    const lastTen = ['15', '16', '17', '18', '19', '20', '21', '22', '23', '24'];
    expect(here()).toEqual(lastTen);
    await checkpoint();
    expect(replayFiles().length).toBeLessThan(8);
    await crash({ replayLimits });
    expect(here()).toEqual(lastTen);
  });

  test('are replaced by newer ones with the same id, in memory and after a restart', async () => {
    for (const body of ['1', '2', '3']) {
      await db.replays.store(entry('same', body));
      if (body === '2') await checkpoint();
      expect(found('same')).toBe(Number(body));
    }
    await crash();
    expect(found('same')).toBe(3);
    nowMs += 24 * HOUR_MS + 1;
    await db.replays.store(entry('same', '4'));
    expect(found('same')).toBe(4);
    await checkpoint();
    await crash();
    expect(found('same')).toBe(4);
  });

  test('do not include bytes after the listed ones, or files that no manifest lists', async () => {
    for (let i = 0; i < 6; i++) await db.replays.store(entry(`e${i}`));
    await checkpoint();
    await db.close();
    const tail = fs.open(`${DIR}/${replayFiles().at(-1)!}`, 'write');
    await tail.write(Buffer.from('a torn record'), tail.size());
    tail.close();
    fs.open(`${DIR}/replays-000000ff`, 'create').close();
    db = await open();
    expect([db.replays.damagedUntil, found('e0'), found('e5')]).toEqual([null, { of: 'e0' }, { of: 'e5' }]);
    expect(replayFiles()).not.toContain('replays-000000ff');
    await db.replays.store(entry('next'));
    await checkpoint();
    await crash();
    expect(found('next')).toBeDefined();
  });

  test('stop the checkpoint if a file cannot be written, and none is lost', async () => {
    await db.replays.store(entry('a'));
    await checkpoint();
    await db.replays.store(entry('b'));
    fs.schedule = ({ kind, path }) => (kind === 'sync' && path.startsWith(DIR) ? { code: 'ENOSPC' } : undefined);
    expect(await codeOf(checkpoint())).toBe('disk_full');
    // Nothing was changed, so writes continue.
    expect(await codeOf(db.replays.store(entry('c')))).toBe('none');
    expect(found('b')).toBeDefined();
    fs.schedule = () => undefined;
    await crash();
    for (const id of ['a', 'b', 'c']) expect(found(id)).toBeDefined();
    await checkpoint();
    await crash();
    for (const id of ['a', 'b', 'c']) expect(found(id)).toBeDefined();
  });

  test('count once if they are both in a file and still in the log', async () => {
    const replayLimits = { ...LIMITS, entries: 10 };
    await db.close();
    db = await open({ replayLimits });
    const held = await db.createTable({ name: 'held' });
    for (let i = 0; i < 5; i++) await db.replays.store(entry(`e${i}`));
    await db.compact({});
    // The row that stays pending in `held` keeps the log from here on.
    await held.insert({ event_ts: 1, members: [1] });
    for (let i = 5; i < 10; i++) await db.replays.store(entry(`e${i}`));
    await db.compact({ table: 'hyperedges' });
    await crash({ replayLimits });
    for (let i = 0; i < 10; i++) expect(found(`e${i}`), `e${i}`).toBeDefined();
  });

  test('keep the files that a manifest on the disk may list, until the next manifest is durable', async () => {
    const replayLimits = { fileBytes: 200, entries: 2 };
    const options = { core: 'release', replayLimits } as const;
    for (let seed = 1; seed < 40; seed++) {
      fs = simDisk(seed);
      const database = await openSim(fs, options);
      for (let i = 0; i < 3; i++) await database.replays.store(entry(`old ${i}`));
      await database.compact({});
      for (let i = 0; i < 3; i++) await database.replays.store(entry(`new ${i}`));
      let renamed = false;
      fs.schedule = (operation) => {
        if (operation.kind === 'rename' && operation.path.endsWith('manifest.tmp')) renamed = true;
        return renamed && operation.kind === 'syncDir' ? 'crash' : undefined;
      };
      database.compact({}).catch(() => undefined);
      await fs.whenStopped;
      fs = fs.kill();
      await openSim(fs, options);
      fs = fs.crash();
      db = await openSim(fs, options);
      for (const id of ['new 1', 'new 2']) expect(found(id), `seed ${seed}`).toBeDefined();
    }
  });
});

describe('writing the files of stored answers', () => {
  const options = {
    dir: DIR,
    crc32c,
    now: () => 0,
    committer: { visibleLsn: Infinity } as Committer,
    committed: () => {},
  };
  const limits = { ...REPLAY_LIMITS, fileBytes: 100 };
  const make = (): IdempotencyStore => new IdempotencyStore({ ...options, fs, limits });
  const answer = (id: string): AnswerToKeep => ({ ...entry(id), at: 0 });

  test('continues after a failure without writing anything twice', async () => {
    const replays = make();
    replays.load({ lsn: 0, next: 1, files: [] });
    for (let lsn = 1; lsn <= 6; lsn++) replays.add(answer(`e${lsn}`), lsn);
    let syncs = 0;
    fs.schedule = ({ kind }) => (kind === 'sync' && ++syncs === 4 ? { code: 'EIO' } : undefined);
    expect(await codeOf(replays.write(6))).toBe('EIO');
    const stored = await replays.write(6);
    expect(stored.files.length).toBe(6);
    const again = make();
    again.load(stored);
    for (let lsn = 1; lsn <= 6; lsn++) expect(again.find(`e${lsn}`)).toEqual({ ...answer(`e${lsn}`), lsn });
  });

  test('does not reuse the number of a file left by a crash', async () => {
    const first = make();
    first.load({ lsn: 0, next: 1, files: [] });
    first.add(answer('a'), 1);
    const stored = await first.write(1);
    first.add(answer('b'), 2);
    await first.write(2);
    const second = make();
    second.load(stored);
    expect(second.orphans).toEqual({ unlisted: [`${DIR}/replays-00000002`], replaced: [] });
    second.add(answer('c'), 2);
    expect((await second.write(2)).files.map(({ number }) => number)).toEqual([1, 3]);
  });
});
