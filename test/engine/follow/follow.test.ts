// Followers of a database: they hold the same rows, tables, documents and answers as their leader
// at the same LSN, whatever is written, and after restarts and crashes of either.

import { describe, expect, test } from 'vitest';
import { MOST_LATE } from '../../../src/engine/catalog/expiration.ts';
import type { Database, LogFrame } from '../../../src/engine/index.ts';
import { DatabaseWriter } from '../../support/database-writer.ts';
import { FOLLOWED, SimFollower } from '../../support/follower.ts';
import { Random } from '../../support/random.ts';
import { openSim, PausingRunner, rowsOf, simDisk, turn } from '../../support/sim-engine.ts';
import type { SimFs } from '../../support/sim-fs.ts';

function stateOf(database: Database): unknown {
  const tables = database.tables().map((table) => ({
    definition: table.definition,
    rowCount: table.rowCount,
    rows: rowsOf(table),
    nextId: table.nextId,
  }));
  return { lsn: database.lastLsn, tables, documents: database.documents.entries('things') };
}

async function framesOf(database: Database, fromLsn: number): Promise<LogFrame[]> {
  const reader = await database.frames.read(fromLsn);
  const frames: LogFrame[] = [];
  for (let some = await reader.next(); some.length > 0; some = await reader.next())
    frames.push(...some.map((frame) => ({ ...frame, payload: Uint8Array.from(frame.payload) })));
  reader.close();
  return frames;
}

async function changesOf(database: Database, fromLsn: number): Promise<string[]> {
  const reader = database.changes.read(fromLsn);
  const texts: string[] = [];
  for (let some = await reader.next(100); some.length > 0; some = await reader.next(100))
    texts.push(...some.map(({ text }) => text));
  reader.close();
  return texts;
}

/** HEDGEROW_FOLLOWED_HISTORIES sets the number of random histories, 1000 for a long run. */
const SEEDS = Array.from({ length: Number(process.env.HEDGEROW_FOLLOWED_HISTORIES ?? 8) }, (_, place) => place + 1);

describe('a follower', () => {
  test.each(SEEDS)('holds what its leader holds (history %i)', async (seed) => {
    const random = new Random(seed);
    let fs: SimFs = simDisk(seed);
    const sizes = { slicedOperations: seed % 2 === 0 ? 3 : 4096 };
    let leader = await openSim(fs, { ...FOLLOWED, ...sizes });
    const writer = new DatabaseWriter(random);
    for (let step = 0; step < 20; step++) await writer.step(leader);
    const follower = await SimFollower.start(leader, fs, seed + 100, sizes);
    const startLsn = follower.database.lastLsn;
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    for (let round = 0; round < 8; round++) {
      for (let step = 0; step < 20; step++) {
        await writer.step(leader);
        if (random.chance(0.2)) await follower.follow(leader, random);
        if (random.chance(0.1))
          await leader.documents.change([
            { store: 'things', id: `${random.below(5)}`, value: random.below(9) || null },
          ]);
        if (random.chance(0.05)) await follower.database.compact();
      }
      if (round % 2 === 1) await follower.restart(random.chance(0.5) ? 'kill' : 'crash');
      if (round === 4) await follower.restart('close');
      await follower.follow(leader);
      expect(stateOf(follower.database)).toEqual(stateOf(leader));
      if (round === 5) {
        fs = fs.crash();
        leader = await openSim(fs, { ...FOLLOWED, ...sizes });
      }
    }
    // The follower's log is as good a feed as the leader's.
    expect(await changesOf(follower.database, startLsn)).toEqual(await changesOf(leader, startLsn));
    await follower.database.close();
    await leader.close();
  });

  test('drops what a TTL has dropped, and rows that arrived while it was dropped', async () => {
    const fs = simDisk();
    let late = () => Promise.resolve();
    const runner = new PausingRunner(fs, async (step) => {
      if (step === 'part') await late();
    });
    const leader = await openSim(fs, { ...FOLLOWED, runner });
    const table = leader.table();
    for (let eventTs = 0; eventTs < 30; eventTs++) await table.insert({ event_ts: eventTs, members: [1] });
    const follower = await SimFollower.start(leader, fs, 2);
    // The times of rows are far in the past; all of them before 999,999,980 are too old.
    await table.insert({ event_ts: 999_999_990, members: [1] });
    late = async () => {
      late = () => Promise.resolve();
      await table.insert({ event_ts: 3, members: [2] });
      await table.insert({ event_ts: 999_999_995, members: [2] });
    };
    await leader.compact({ ttlSeconds: 20 });
    expect(rowsOf(table).map((row) => row.event_ts)).toEqual([999_999_990, 999_999_995]);
    await follower.follow(leader);
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    const changes = await changesOf(leader, leader.lastLsn - 2);
    expect(changes.map((text) => JSON.parse(text).op)).toEqual(['delete', 'buckets_dropped']);
    await follower.database.close();
    await leader.close();
  });

  /** A leader that has dropped rows by a TTL, and a follower that has not yet. */
  async function withDrop(seed: number): Promise<{ leader: Database; follower: SimFollower }> {
    const fs = simDisk(seed);
    const leader = await openSim(fs, FOLLOWED);
    for (let n = 0; n < 40; n++) await leader.table().insert({ event_ts: 999_999_960 + n, members: [n % 3] });
    const follower = await SimFollower.start(leader, fs, seed + 1);
    await leader.compact({ ttlSeconds: 20 });
    await leader.table().insert({ event_ts: 5, members: [1] });
    return { leader, follower };
  }

  test('drops very many rows that arrived while a TTL dropped others', async () => {
    const fs = simDisk();
    let late = () => Promise.resolve();
    const runner = new PausingRunner(fs, async (step) => {
      if (step === 'part') await late();
    });
    const leader = await openSim(fs, { ...FOLLOWED, runner, segmentRows: 65_536, logFileBytes: 2 ** 20 });
    const table = leader.table();
    for (const eventTs of [1, 999_999_990]) await table.insert({ event_ts: eventTs, members: [1] });
    const follower = await SimFollower.start(leader, fs, 2, { segmentRows: 65_536 });
    late = async () => {
      late = () => Promise.resolve();
      const bulk = table.bulk();
      for (let n = 0; n < 2 * MOST_LATE + 1; n++) bulk.add({ event_ts: n % 900, members: [n] });
      await bulk.commit();
    };
    await leader.compact({ ttlSeconds: 20 });
    expect(rowsOf(table)).toHaveLength(1);
    await follower.follow(leader);
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    await follower.database.close();
    await leader.close();
  });

  test('shows the LSN of a drop only when the rows are gone', async () => {
    const { leader, follower } = await withDrop(1);
    const { database } = follower;
    const dropLsn = leader.lastLsn - 1;
    const before = database.lastLsn;
    let isOver = false;
    const following = follower.follow(leader).finally(() => {
      isOver = true;
    });
    let looks = 0;
    while (!isOver) {
      if (database.lastLsn >= dropLsn) expect(rowsOf(database.table(), { startTs: 999_999_000 })).toHaveLength(20);
      else looks++;
      await turn();
    }
    await following;
    expect(before).toBeLessThan(dropLsn);
    expect(looks).toBeGreaterThan(0);
    expect(stateOf(database)).toEqual(stateOf(leader));
    await database.close();
    await leader.close();
  });

  test('drops what its leader has dropped, wherever it dies meanwhile', async () => {
    let deaths = 0;
    for (let at = 1; ; at++) {
      const { leader, follower } = await withDrop(at);
      const first = follower.fs.operations;
      follower.fs.schedule = ({ index }) => (index === first + at ? 'crash' : undefined);
      const following = follower.follow(leader);
      following.catch(() => undefined);
      const died = await Promise.race([
        following.then(
          () => false,
          () => true,
        ),
        follower.fs.whenStopped.then(() => true),
      ]);
      follower.fs.schedule = () => undefined;
      if (died) {
        deaths++;
        await follower.restart(at % 2 === 0 ? 'kill' : 'crash');
        await follower.follow(leader);
      }
      expect(stateOf(follower.database)).toEqual(stateOf(leader));
      await follower.database.close();
      await leader.close();
      if (!died) break;
    }
    expect(deaths).toBeGreaterThan(10);
  });

  test('drops what its leader has dropped, wherever the leader dies meanwhile', async () => {
    let deaths = 0;
    for (let at = 1; ; at++) {
      let fs = simDisk(at);
      let leader = await openSim(fs, FOLLOWED);
      for (let n = 0; n < 40; n++) await leader.table().insert({ event_ts: 999_999_960 + n, members: [n % 3] });
      const follower = await SimFollower.start(leader, fs, at + 1);
      const first = fs.operations;
      fs.schedule = ({ index }) => (index === first + at ? 'crash' : undefined);
      const dropping = leader.compact({ ttlSeconds: 20 }).then(
        () => false,
        () => true,
      );
      const died = await Promise.race([dropping, fs.whenStopped.then(() => true)]);
      fs.schedule = () => undefined;
      if (died) {
        deaths++;
        fs = at % 2 === 0 ? fs.kill() : fs.crash();
        leader = await openSim(fs, FOLLOWED);
      }
      await follower.follow(leader);
      expect(stateOf(follower.database), `death at operation ${at}`).toEqual(stateOf(leader));
      await follower.database.close();
      await leader.close();
      if (!died) break;
    }
    expect(deaths).toBeGreaterThan(10);
  });

  test.each(['close', 'kill'] as const)(
    'keeps rows that came after a drop when it becomes the leader (%s)',
    async (how) => {
      const { leader, follower } = await withDrop(1);
      await follower.follow(leader);
      await follower.restart('kill');
      await leader.table().insert({ event_ts: 6, members: [1] });
      await follower.follow(leader);
      await follower.restart(how, { follows: false });
      expect(stateOf(follower.database)).toEqual(stateOf(leader));
      await follower.database.close();
      await leader.close();
    },
  );

  test('refuses every write, and says that it has a leader', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, FOLLOWED);
    const follower = await SimFollower.start(leader, fs, 2);
    const { database } = follower;
    const table = database.table();
    const refused = { code: 'not_leader' };
    await expect(table.insert({ event_ts: 1, members: [1] })).rejects.toMatchObject(refused);
    await expect(table.delete(1, [1])).rejects.toMatchObject(refused);
    expect(() => table.bulk()).toThrow(expect.objectContaining(refused));
    expect(() => database.begin()).toThrow(expect.objectContaining(refused));
    await expect(database.createTable({ name: 'more' })).rejects.toMatchObject(refused);
    await expect(database.alterTable('hyperedges', { kind: 'renameTable', to: 'x' })).rejects.toBeDefined();
    await expect(database.setCompactThreshold(5)).rejects.toMatchObject(refused);
    await expect(database.createIndex('hyperedges', 'weight')).rejects.toMatchObject(refused);
    await expect(database.documents.change([{ store: 'things', id: '1', value: 1 }])).rejects.toMatchObject(refused);
    await expect(database.compact({ ttlSeconds: 5 })).rejects.toMatchObject(refused);
    expect(database.headLsn).toBe(leader.headLsn);
    await database.compact();
    await leader.table().insert({ event_ts: 7, members: [1] });
    await follower.follow(leader);
    expect(stateOf(database)).toEqual(stateOf(leader));
    await database.close();
    await leader.close();
  });

  test('follows from a snapshot whose last commit is large', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, FOLLOWED);
    const bulk = leader.table().bulk();
    for (let n = 0; n < 100; n++) bulk.add({ event_ts: n, members: [n], properties: { formation: 'x'.repeat(2000) } });
    await bulk.commit();
    const follower = await SimFollower.start(leader, fs, 2);
    await leader.table().insert({ event_ts: 1, members: [1] });
    await follower.follow(leader);
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    expect(await changesOf(follower.database, leader.lastLsn - 2)).toEqual(await changesOf(leader, leader.lastLsn - 2));
    await follower.database.close();
    await leader.close();
  });

  test('can be checked against a commit that is leaving the history', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, { history: { seconds: 1e9, bytes: 0 } });
    for (let n = 0; n < 200; n++) await leader.table().insert({ event_ts: n, members: [7, 8] });
    const { log } = leader.table().context.committer;
    const flush = log.flush.bind(log);
    log.flush = async () => {
      log.flush = flush;
      await leader.compact();
      await flush();
    };
    expect(leader.frames.oldestLsn).toBe(0);
    await expect(leader.frames.read(3, 1)).rejects.toMatchObject({ code: 'lsn_gone' });
    await leader.close();
  });

  test('is told when it has another history than its leader', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, FOLLOWED);
    const follower = await SimFollower.start(leader, fs, 2);
    const other = await SimFollower.start(leader, fs, 3);
    await leader.table().insert({ event_ts: 1, members: [1] });
    await follower.follow(leader);
    await leader.close();
    // As if the leader had been restored from a backup that lacks the last write.
    await other.restart('close', { follows: false });
    await expect(follower.follow(other.database)).rejects.toMatchObject({ code: 'lsn_ahead' });
    await other.database.table().insert({ event_ts: 2, members: [1] });
    await other.database.table().insert({ event_ts: 3, members: [1] });
    await expect(follower.follow(other.database)).rejects.toMatchObject({ code: 'log_diverged' });
    await follower.database.close();
    await other.database.close();
  });

  test('is told when it has been away for too long, and when its leader keeps no changes', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, { history: { seconds: 1e9, bytes: 10_000 }, memoryBudgetBytes: 2 ** 22 });
    const follower = await SimFollower.start(leader, fs, 2);
    for (let count = 0; count < 400; count++) await leader.table().insert({ event_ts: count, members: [7, 8] });
    await leader.compact();
    const oldest = leader.frames.oldestLsn;
    expect(oldest).toBeGreaterThan(follower.database.lastLsn);
    await expect(follower.follow(leader)).rejects.toMatchObject({ code: 'lsn_gone', fields: { oldest_lsn: oldest } });
    await follower.database.close();
    await leader.close();
    const silent = await openSim(fs, { history: null });
    await expect(silent.frames.read(silent.lastLsn)).rejects.toMatchObject({ code: 'invalid_input' });
    await silent.close();
  });

  test('refuses frames that are damaged, unknown or not the next, and goes on with good ones', async () => {
    const fs = simDisk();
    const leader = await openSim(fs, FOLLOWED);
    const follower = await SimFollower.start(leader, fs, 2);
    await leader.table().insert({ event_ts: 1, members: [1, 2] });
    await leader.createTable({ name: 'more' });
    const frames = await framesOf(leader, follower.database.lastLsn);
    const { applier } = follower.database;
    const before = stateOf(follower.database);
    const [insert, create] = frames as [LogFrame, LogFrame];
    await expect(applier!.apply([create])).rejects.toMatchObject({ code: 'corrupt' });
    for (const [at, value] of [
      [0, 99],
      [16, 0],
      [16, 200],
      [8, 2],
    ] as const) {
      const payload = insert.payload.slice();
      payload[at] = value;
      await expect(applier!.apply([{ ...insert, payload }])).rejects.toMatchObject({ code: 'corrupt' });
    }
    expect(stateOf(follower.database)).toEqual(before);
    await applier!.apply([insert]);
    const unknown = Buffer.from(
      Buffer.from(create.payload).toString('latin1').replace('create_table', 'create_label'),
      'latin1',
    );
    await expect(applier!.apply([{ ...create, payload: unknown }])).rejects.toMatchObject({ code: 'corrupt' });
    await applier!.apply([insert, create]);
    await follower.database.whenVisible(leader.lastLsn, 1000);
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    await follower.database.close();
    await leader.close();
  });
});
