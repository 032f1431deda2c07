// Tests what is kept of stored answers when they are many or large. Their keys are always kept, up
// to a limit of newer keys. Their bodies are kept within a budget, in memory and in files.

import { beforeEach, describe, expect, test } from 'vitest';
import { decodeReplay, encodeReplay, IdRanges, MAX_KEPT_BODY_BYTES } from '../../src/engine/idempotency/kept-answer.ts';
import type { AnswerToKeep, Database, EngineOptions } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const HOUR_MS = 3600 * 1000;
const DIR = '/db/replays';
/** Size in bytes of the `ids` of an entry as JSON. All entries in this file have the same `ids`. */
const IDS_BYTES = '{"ids":[{"table":"t","first_id":1,"last_id":9}]}'.length;

let fs: SimFs;
let db: Database;
let nowMs: number;
let notices: string[];

beforeEach(() => {
  nowMs = 1_000_000_000_000;
  fs = simDisk();
  notices = [];
});

async function open(replayLimits: EngineOptions['replayLimits']): Promise<void> {
  const notice = (message: string) => void notices.push(message);
  db = await openSim(fs, {
    now: () => nowMs,
    core: 'release',
    logFileBytes: 2 ** 20,
    ...(replayLimits && { replayLimits }),
    notice,
  });
}

function entry(id: string, body: string): AnswerToKeep {
  const at = db.replays.time();
  const written = { ids: [{ table: 't', first_id: 1, last_id: 9 }] };
  return { id, bodyHash: `hash of ${id}`, status: 200, contentType: 'application/json', body, at, written };
}

async function checkpoint(): Promise<void> {
  await db.table().insert({ event_ts: 77, members: [1] });
  await db.compact({});
}

function fileSizes(): number[] {
  return fs.exists(DIR) ? fs.list(DIR).map((name) => fs.open(`${DIR}/${name}`, 'read').size()) : [];
}

const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

describe('answers over the budget', () => {
  const LIMITS = { bodyBytes: 10_000, fileBytes: 4000 };

  /** Returns how many ids are known, and how many of these still have their bodies. */
  const state = (count: number) => {
    const found = Array.from({ length: count }, (_, i) => db.replays.find(`${i}`));
    return {
      known: found.filter(Boolean).length,
      whole: found.filter((each) => typeof each?.body === 'string').length,
    };
  };

  test('lose their bodies, oldest first, but never their keys, hashes, LSNs and ids, also across restarts', async () => {
    await open(LIMITS);
    for (let i = 0; i < 60; i++) {
      await db.replays.store(entry(`${i}`, 'x'.repeat(1000)));
      if (i % 7 === 6) await checkpoint();
      if (i % 13 === 12) {
        fs = fs.crash();
        await open(LIMITS);
      }
      expect(state(i + 1)).toEqual({ known: i + 1, whole: Math.min(i + 1, 10) });
    }
    expect(db.replays.find('59')!.body).toBe('x'.repeat(1000));
    const lost = db.replays.find('3')!;
    expect(lost).toMatchObject({ bodyHash: 'hash of 3', status: 200, body: null, written: entry('', '').written });
    await db.close();
    await open(LIMITS);
    expect(db.replays.find('3')).toEqual(lost);
    expect(state(60)).toEqual({ known: 60, whole: 10 });
  });

  test('also lose their bodies in the files', async () => {
    await open(LIMITS);
    for (let i = 0; i < 400; i++) {
      await db.replays.store(entry(`${i}`, 'x'.repeat(1000)));
      if (i % 20 === 19) await checkpoint();
    }
    // The files contain at most two copies of 400 records of 300 bytes and of ten bodies. With all
    // bodies, one copy would take 520,000 bytes.
    expect(sum(fileSizes())).toBeLessThan(2 * (400 * 300 + 10_000) + LIMITS.fileBytes);
    expect(sum(fileSizes())).toBeGreaterThan(400 * 150);
    expect(fileSizes().length).toBeLessThan((2 * (400 * 300 + 10_000)) / LIMITS.fileBytes + 2);
    fs = fs.crash();
    await open(LIMITS);
    expect(state(400)).toEqual({ known: 400, whole: 10 });
  });

  test('stay whole in the files when a full disk prevents the files from being rewritten', async () => {
    await open(LIMITS);
    for (let i = 0; i < 10; i++) await db.replays.store(entry(`${i}`, 'x'.repeat(1000)));
    await checkpoint();
    for (let i = 10; i < 22; i++) await db.replays.store(entry(`${i}`, 'x'.repeat(1000)));
    const before = fs.list(DIR);
    let writes = 0;
    // New answers take three writes. Any further write is a rewrite.
    fs.schedule = ({ kind, path }) =>
      kind === 'write' && path.startsWith(DIR) && ++writes > 3 ? { code: 'ENOSPC' } : undefined;
    await checkpoint();
    fs.schedule = () => undefined;
    expect(writes).toBe(4);
    expect(notices).toContain('files of stored answers are larger than they need be: the disk is full');
    expect(fs.list(DIR)).toEqual(expect.arrayContaining(before.slice(0, 1)));
    fs = fs.crash();
    await open(LIMITS);
    expect(state(22)).toEqual({ known: 22, whole: 10 });
    await checkpoint();
    fs = fs.crash();
    await open(LIMITS);
    expect(state(22)).toEqual({ known: 22, whole: 10 });
  });

  test('are counted by their size in memory, and small bodies are always kept', async () => {
    await open({ bodyBytes: 2000 });
    await db.replays.store(entry('small', 's'.repeat(256)));
    await db.replays.store(entry('a', 'é'.repeat(500)));
    await db.replays.store(entry('b', 'e'.repeat(1000)));
    expect(['small', 'a', 'b'].map((id) => db.replays.find(id)!.body?.length)).toEqual([256, 500, 1000]);
    expect(db.replays.figures).toEqual({ entries: 3, memoryBytes: 2000 + 256 + 3 * (400 + IDS_BYTES) });
    await db.replays.store(entry('c', 'c'.repeat(257)));
    expect(['small', 'a', 'b', 'c'].map((id) => db.replays.find(id)!.body?.length)).toEqual([
      256,
      undefined,
      1000,
      257,
    ]);
    await db.replays.store(entry('d', 'd'.repeat(2001)));
    expect(['small', 'b', 'c', 'd'].map((id) => db.replays.find(id)!.body?.length)).toEqual([
      256,
      undefined,
      undefined,
      undefined,
    ]);
    expect(db.replays.figures.memoryBytes).toBe(256 + 5 * (400 + IDS_BYTES));
  });

  test('are not kept at all if they exceed 1 MB, not even in the log', async () => {
    await open({});
    const before = db.wal().size_bytes;
    await db.replays.store(entry('large', 'x'.repeat(MAX_KEPT_BODY_BYTES + 1)));
    await db.replays.store(entry('wide', '\u4e2d'.repeat(MAX_KEPT_BODY_BYTES / 3 + 1)));
    expect(db.wal().size_bytes - before).toBeLessThan(2 ** 20);
    await db.replays.store(entry('just', 'x'.repeat(MAX_KEPT_BODY_BYTES)));
    for (const again of [false, true]) {
      if (again) fs = fs.crash();
      if (again) await open({});
      expect(db.replays.find('large')).toMatchObject({ body: null, bodyHash: 'hash of large' });
      expect(db.replays.find('wide')!.body).toBeNull();
      expect(db.replays.find('just')!.body).toHaveLength(MAX_KEPT_BODY_BYTES);
    }
  });
});

describe('the key of a stored answer', () => {
  test('is removed only when the limit of newer keys is reached; an id that is stored again counts once', async () => {
    await open({ entries: 5 });
    for (const id of ['a', 'b', 'c']) await db.replays.store(entry(id, id));
    for (let i = 0; i < 20; i++) await db.replays.store(entry('same', `${i}`));
    expect(['a', 'b', 'c', 'same'].map((id) => db.replays.find(id)?.body)).toEqual(['a', 'b', 'c', '19']);
    await checkpoint();
    fs = fs.crash();
    await open({ entries: 5 });
    expect(['a', 'b', 'c', 'same'].map((id) => db.replays.find(id)?.body)).toEqual(['a', 'b', 'c', '19']);
    for (const id of ['d', 'e']) await db.replays.store(entry(id, id));
    expect(['a', 'b', 'c', 'd', 'e', 'same'].filter((id) => db.replays.find(id))).toEqual(['b', 'c', 'd', 'e', 'same']);
  });

  test('is kept if it was stored while the clock was set back', async () => {
    await open({});
    await db.replays.store(entry('before', '1'));
    nowMs -= 30 * HOUR_MS;
    await db.replays.store(entry('wrong', '2'));
    await db.replays.store({ ...entry('raw', '3'), at: nowMs });
    nowMs += 30 * HOUR_MS;
    for (const how of ['log', 'file'] as const) {
      expect(
        ['before', 'wrong', 'raw'].map((id) => db.replays.find(id)?.body),
        how,
      ).toEqual(['1', '2', '3']);
      await checkpoint();
      fs = fs.crash();
      await open({});
      expect(
        ['before', 'wrong', 'raw'].map((id) => db.replays.find(id)?.body),
        how,
      ).toEqual(['1', '2', '3']);
    }
    nowMs += 24 * HOUR_MS;
    expect(db.replays.find('wrong')).toBeDefined();
    nowMs += 1;
    expect(db.replays.find('wrong')).toBeUndefined();
  });

  test('is kept while it is young and the limit is not reached, over random histories', async () => {
    const limits = { entries: 1000, bodyBytes: 3000, fileBytes: 2000 };
    await open(limits);
    const model = new Map<string, { at: number; body: string }>();
    const random = new Random(11);
    const below = (limit: number): number => random.below(limit);
    for (let step = 0; step < 400; step++) {
      const id = `${below(150)}`;
      const body = `${step}`.padEnd(below(700), 'x');
      // A key is not stored again while it is known.
      if (db.replays.find(id) === undefined) {
        await db.replays.store(entry(id, body));
        model.set(id, { at: nowMs, body });
      }
      nowMs += below(HOUR_MS / 2);
      if (below(10) === 0) await checkpoint();
      if (below(20) === 0) {
        fs = fs.crash();
        await open(limits);
      }
      for (const [known, { at, body }] of model) {
        const kept = db.replays.find(known);
        if (at < nowMs - 24 * HOUR_MS) expect(kept, known).toBeUndefined();
        else expect([kept?.bodyHash, kept?.body ?? body], known).toEqual([`hash of ${known}`, body]);
      }
    }
  });
});

test('ids are gathered into ranges, and the first eight ranges are kept', () => {
  const ranges = new IdRanges();
  expect(ranges.written()).toBeUndefined();
  for (const id of [5, 6, 7]) ranges.add('a', id, id);
  ranges.add('b', 8, 9);
  ranges.add('a', 8, 8);
  expect(ranges.written()).toEqual({
    ids: [
      { table: 'a', first_id: 5, last_id: 7 },
      { table: 'b', first_id: 8, last_id: 9 },
      { table: 'a', first_id: 8, last_id: 8 },
    ],
  });
  for (let id = 20; id < 40; id += 2) ranges.add('a', id, id);
  expect(ranges.written()).toMatchObject({ ids: { length: 8 }, ranges_left_off: 5 });
});

test('an entry without a body or with ids is encoded and decoded unchanged', () => {
  const plain: AnswerToKeep = { id: 'i', bodyHash: 'h', status: 200, contentType: 'c', body: null, at: 1 };
  for (const each of [plain, { ...plain, body: '' }, { ...plain, written: { id: 'r' } }])
    expect(decodeReplay(encodeReplay(each), 'here', 0)).toEqual(each);
  const without = Buffer.from('{"id":"i","bodyHash":"h","status":200,"contentType":"c","at":1}');
  expect(() => decodeReplay(without, 'here', 0)).toThrow('lacks a field');
});
