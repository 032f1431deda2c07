// Tests damaged, cut and missing files of stored answers. The database opens, everything readable
// is kept, and a request whose answer may be lost is not executed again.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import type { Committer } from '../../src/engine/commit/committer.ts';
import type { StoredReplays } from '../../src/engine/idempotency/answer-files.ts';
import { IdempotencyStore, REPLAY_LIMITS } from '../../src/engine/idempotency/idempotency-store.ts';
import type { AnswerToKeep, Database } from '../../src/engine/index.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { installManifest, readManifest } from '../../src/storage/manifest.ts';
import { crc32c } from '../support/crc32c.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const HOUR_MS = 3600 * 1000;
const START_MS = 1_000_000_000_000;
const DIR = '/db/replays';
const IDS = ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'];

let fs: SimFs;
let db: Database;
let nowMs: number;
let notices: string[];

async function open(): Promise<void> {
  const notice = (message: string) => void notices.push(message);
  db = await openSim(fs, { now: () => nowMs, core: 'release', replayLimits: { fileBytes: 380 }, notice });
}

async function crash(): Promise<void> {
  fs = fs.crash();
  await open();
}

function entry(id: string): AnswerToKeep {
  const about = { id, bodyHash: `hash of ${id}`, status: 201, contentType: 'application/json' };
  return { ...about, body: `"${id}"`, at: db.replays.time() };
}

async function checkpoint(): Promise<void> {
  await db.table().insert({ event_ts: 77, members: [1] });
  await db.compact({});
}

/** Returns for each id the body of its answer, `unknown`, or the code of the refusal. */
function answers(): Record<string, string> {
  const found = (id: string): string => {
    try {
      return db.replays.find(id)?.body ?? 'unknown';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return Object.fromEntries(IDS.map((id) => [id, found(id)]));
}

const all = () => Object.fromEntries(IDS.map((id) => [id, `"${id}"`]));
const without = (...lost: string[]) => ({ ...all(), ...Object.fromEntries(lost.map((id) => [id, 'answers_damaged'])) });

function stored(): StoredReplays {
  return (readManifest(fs, '/db', crc32c) as { replays: StoredReplays }).replays;
}

function bytesOf(path: string): Uint8Array {
  const handle = fs.open(path, 'read');
  const bytes = new Uint8Array(handle.size());
  handle.read(bytes, 0);
  handle.close();
  return bytes;
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  const handle = fs.open(path, 'create');
  await handle.write(bytes, 0);
  await handle.sync();
  handle.close();
  await fs.syncDir(DIR);
}

let paths: string[];

/** Makes three files with three, three and two answers; the answers are an hour apart. */
beforeEach(async () => {
  nowMs = START_MS;
  notices = [];
  fs = simDisk();
  await open();
  for (const id of IDS) {
    await db.replays.store(entry(id));
    nowMs += HOUR_MS;
  }
  await checkpoint();
  await db.close();
  paths = fs.list(DIR).map((name) => `${DIR}/${name}`);
  expect(paths).toHaveLength(3);
  expect(stored().files.map(({ newestAt }) => newestAt)).toEqual([2, 5, 7].map((hour) => START_MS + hour * HOUR_MS));
});

const flip = (path: string, at: number): void =>
  fs.edit(path, (bytes) => {
    bytes[at]! ^= 4;
  });

describe('a damaged file of stored answers', () => {
  test('is set aside and named; readable answers are kept, and keys that may be lost are refused for a day', async () => {
    const before = bytesOf(paths[1]!);
    flip(paths[1]!, 60);
    await open();
    expect(answers()).toEqual(without('e3'));
    expect(notices).toEqual([
      'a file of stored answers is damaged; what can be read of it is kept',
      'a damaged file of stored answers was set aside',
    ]);
    const until = START_MS + 5 * HOUR_MS + 24 * HOUR_MS;
    expect(db.health().answers_damaged_until).toBe(until / 1000);
    expect(() => db.replays.find('new')).toThrow(/Idempotency-Key.*epoch second/);
    expect(fs.exists(paths[1]!)).toBe(false);
    const aside = bytesOf(`${paths[1]}.damaged`);
    aside[60]! ^= 4;
    expect(aside).toEqual(before);
    for (let round = 0; round < 2; round++) {
      await crash();
      expect(answers()).toEqual(without('e3'));
      expect(db.replays.damagedUntil).toBe(until);
      await checkpoint();
    }
    expect(notices).toHaveLength(2);
    // Answers stored since then are known.
    await db.replays.store(entry('later'));
    expect(db.replays.find('later')!.body).toBe('"later"');
    nowMs = until;
    expect(answers().e3).toBe('answers_damaged');
    nowMs++;
    expect(answers().e3).toBe('unknown');
    expect(db.health().answers_damaged_until).toBeNull();
    await checkpoint();
    await crash();
    expect(stored().lost).toBeUndefined();
    expect(fs.exists(`${paths[1]}.damaged`)).toBe(true);
  });

  test.each([0, 1, 2])('loses only the answers after the cut if file %i was cut', async (number) => {
    const handle = fs.open(paths[number]!, 'write');
    await handle.truncate(200);
    await handle.sync();
    handle.close();
    const lost = [['e1', 'e2'], ['e4', 'e5'], ['e7']][number]!;
    await open();
    expect(answers()).toEqual(without(...lost));
    await crash();
    expect(answers()).toEqual(without(...lost));
  });

  test('loses all its answers if it is missing, but no answers in other files', async () => {
    for (const path of [paths[0]!, paths[2]!]) await fs.remove(path);
    await open();
    expect(answers()).toEqual(without('e0', 'e1', 'e2', 'e6', 'e7'));
    // The newer of the two missing files determines how long keys are refused.
    expect(db.replays.damagedUntil).toBe(START_MS + 31 * HOUR_MS);
    await checkpoint();
    await crash();
    expect(answers()).toEqual(without('e0', 'e1', 'e2', 'e6', 'e7'));
    await db.replays.store(entry('later'));
    await checkpoint();
    await crash();
    expect(db.replays.find('later')).toBeDefined();
  });

  test('makes everything known again when the whole file is put back under its name', async () => {
    const whole = bytesOf(paths[1]!);
    flip(paths[1]!, 60);
    await open();
    await db.replays.store(entry('later'));
    await checkpoint();
    await db.close();
    await put(paths[1]!, whole);
    for (let round = 0; round < 2; round++) {
      await open();
      expect([answers(), db.replays.damagedUntil]).toEqual([all(), null]);
      expect(db.replays.find('later')).toBeDefined();
      expect(stored().lost).toBeUndefined();
      await checkpoint();
      fs = fs.crash();
    }
    expect(notices.at(-1)).toBe('a file of stored answers that was damaged is whole again');
  });

  test('stays lost when it is put back damaged, and nothing is overwritten', async () => {
    flip(paths[1]!, 60);
    await open();
    await db.close();
    const damaged = bytesOf(`${paths[1]}.damaged`);
    await put(paths[1]!, damaged);
    await open();
    expect(answers()).toEqual(without('e3'));
    expect(bytesOf(`${paths[1]}.damaged`)).toEqual(damaged);
  });

  test('stays in its place while the disk is full, and is set aside later', async () => {
    flip(paths[1]!, 60);
    fs.schedule = ({ kind, path }) => (kind === 'write' && path.startsWith(DIR) ? { code: 'ENOSPC' } : undefined);
    await open();
    expect(answers()).toEqual(without('e3'));
    expect(fs.exists(paths[1]!)).toBe(true);
    nowMs += HOUR_MS;
    await crash();
    expect(answers()).toEqual(without('e3'));
    expect(db.replays.damagedUntil).toBe(START_MS + 29 * HOUR_MS);
    expect([fs.exists(paths[1]!), fs.exists(`${paths[1]}.damaged`)]).toEqual([false, true]);
  });

  test("causes refusals for a day from its discovery if the manifest does not record its newest answer's time", async () => {
    const document = readManifest(fs, '/db', crc32c) as { replays: StoredReplays };
    for (const file of document.replays.files) delete file.newestAt;
    await installManifest(fs, '/db', crc32c, document);
    flip(paths[0]!, 60);
    nowMs += HOUR_MS;
    await open();
    const until = nowMs + 24 * HOUR_MS;
    nowMs += HOUR_MS;
    await crash();
    expect([answers(), db.replays.damagedUntil]).toEqual([without('e0'), until]);
  });

  test('loses nothing more if a crash occurs at any step of setting it aside', async () => {
    flip(paths[1]!, 60);
    const damaged = fs.kill();
    for (let crashAt = 1; ; crashAt++) {
      fs = damaged.crash();
      let changes = 0;
      fs.schedule = ({ kind }) => (kind !== 'open' && kind !== 'read' && ++changes === crashAt ? 'crash' : undefined);
      const opened = open().then(() => undefined);
      await Promise.race([opened.catch((error) => (fs.stopped ? undefined : Promise.reject(error))), fs.whenStopped]);
      const isDone = !fs.stopped;
      fs = crashAt % 2 === 0 ? fs.crash() : fs.kill();
      await open();
      expect(answers(), `crash ${crashAt}`).toEqual(without('e3'));
      expect(
        fs.list(DIR).filter((name) => name.includes('damaged')),
        `crash ${crashAt}`,
      ).toHaveLength(1);
      await db.close();
      if (isDone) break;
      expect(crashAt).toBeLessThan(200);
    }
  });

  test('makes each answer either given or refused, never unknown, for any flipped bit; rows are unchanged', async () => {
    const size = bytesOf(paths[1]!).length;
    const image = fs.crash();
    for (let at = 0; at < size; at += 5) {
      fs = image.crash();
      flip(paths[1]!, at);
      await open();
      const found = answers();
      const lost = IDS.filter((id) => found[id] === 'answers_damaged');
      expect({ ...found, ...Object.fromEntries(lost.map((id) => [id, `"${id}"`])) }, `byte ${at}`).toEqual(all());
      expect(lost.length, `byte ${at}`).toBe(at < 16 ? 0 : 1);
      expect(db.replays.damagedUntil).not.toBeNull();
      expect(rowsOf(db.table())).toHaveLength(1);
      await db.close();
    }
  });
});

test('verify reports the damaged file, the file that was set aside, and the loss', async () => {
  const tools = { fs, crc32c, core: loadCore('release') };
  const verify = () => verifyDirectory(tools, '/db', async () => undefined);
  expect(await verify()).toMatchObject({ problems: [], notes: [] });
  flip(paths[1]!, 60);
  expect((await verify()).problems).toMatchObject([{ file: paths[1], offset: 16 }]);
  await open();
  await db.close();
  const { problems, notes } = await verify();
  expect(problems).toEqual([]);
  expect(notes.filter((note) => note.includes('replays-'))).toEqual([
    expect.stringContaining(`${paths[1]} was damaged or missing`),
    expect.stringContaining(`${paths[1]}.damaged is a damaged file of stored answers`),
  ]);
});

test('files and a manifest of version 1 open, and are continued in files of version 2', async () => {
  const v1 = readFileSync(new URL('../fixtures/replays-v1/replays-00000001', import.meta.url));
  fs = simDisk();
  fs.makeDir(DIR);
  await put(`${DIR}/replays-00000001`, v1);
  const options = { dir: DIR, crc32c, now: () => START_MS, committed: () => {}, limits: REPLAY_LIMITS };
  const committer = { visibleLsn: Infinity } as Committer;
  const make = () => new IdempotencyStore({ ...options, fs, committer });
  const replays = make();
  replays.load({ lsn: 10, next: 2, files: [{ number: 1, bytes: v1.length }] });
  const body = (of: IdempotencyStore, n: number) => of.find(`id ${n}`)?.body;
  expect([1, 2, 3].map((n) => body(replays, n))).toEqual([1, 2, 3].map((n) => `{"of":${n},"text":"é \\"quoted\\""}`));
  replays.add({ ...entry('id 4'), body: null, at: START_MS + 4 }, 11);
  const written = await replays.write(11);
  expect(written.files.map(({ number }) => number)).toEqual([1, 2]);
  expect(bytesOf(`${DIR}/replays-00000001`)).toEqual(new Uint8Array(v1));
  const again = make();
  again.load(written);
  expect(again.find('id 4')).toMatchObject({ body: null, lsn: 11 });
  expect(body(again, 3)).toBe(body(replays, 3));
});
