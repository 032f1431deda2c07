// `verify` detects a flipped byte in any file of a database and reports file and offset. It does
// not report anything else as damage.

import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Checkpoint } from '../../src/engine/checkpoint/checkpoint.ts';
import { installManifest, readManifest } from '../../src/storage/manifest.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { openTestLog } from '../support/open-test-log.ts';
import { Random } from '../support/random.ts';
import { addEdges, crc32c, filesBelow, openSmall, removeDir, temporaryDir, verify } from './support.ts';

let home: string;
let dir: string;

const answer = (id: string) => ({
  id,
  bodyHash: 'h',
  status: 200,
  contentType: 'text/plain',
  body: id,
  at: Date.now(),
});

/**
 * Creates a database and closes it cleanly. It has segments of two tables, documents in the
 * manifest and in the log, stored answers in a file and in the log, and several log files.
 */
beforeAll(async () => {
  home = temporaryDir();
  const database = await openSmall(`${home}/db`);
  const columns = [
    { name: 'n', type: 'INTEGER' },
    { name: 't', type: 'TEXT' },
    { name: 'b', type: 'BOOLEAN' },
  ] as const;
  const typed = await database.createTable({ name: 'typed', columns: [...columns] });
  const bulk = typed.bulk();
  for (let i = 0; i < 700; i++)
    bulk.add({ event_ts: i, members: [i % 7, 100 + i], properties: { n: i, t: `t${i % 5}`, b: i % 2 === 0 } });
  await bulk.commit();
  await addEdges(database.table(), 600);
  await database.documents.change([{ store: 's', id: 'a', value: { n: 1 } }]);
  await database.replays.store(answer('first'));
  await database.replays.store(answer('second'));
  await database.compact({});
  for (let i = 0; i < 6; i++) await addEdges(database.table(), 400, 1000 + 400 * i);
  await typed.delete(3, [3, 103]);
  await database.createTable({ name: 'young' });
  await addEdges(database.table('young'), 10);
  await database.documents.change([{ store: 's', id: 'a', value: null }]);
  await database.documents.change([{ store: 's', id: 'b', value: 2 }]);
  await database.replays.store(answer('third'));
  await database.close();
});
afterAll(() => removeDir(home));
beforeEach(() => {
  dir = `${temporaryDir()}/db`;
  cpSync(`${home}/db`, dir, { recursive: true });
});
afterEach(() => removeDir(dir.slice(0, -3)));

function flip(path: string, offset: number, bit = 1): void {
  const bytes = readFileSync(path);
  bytes[offset]! ^= bit;
  writeFileSync(path, bytes);
}

function pathsOf(folder: string): string[] {
  return readdirSync(`${dir}/${folder}`, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${dir}/${folder}/${name}`)
    .filter((path) => statSync(path).isFile());
}

function logFiles(): string[] {
  return pathsOf('log').filter((path) => /log-[0-9a-f]{16}$/.test(path));
}

/** Returns the number of bytes in a log file up to and including its seal or its last frame. */
function usedBytes(path: string): number {
  const bytes = readFileSync(path);
  let used = bytes.length;
  while (used > 4096 && bytes[used - 1] === 0) used--;
  return used;
}

test('verify lists the contents of an intact directory and no problems', async () => {
  const report = await verify(dir);
  expect(report).toMatchObject({ problems: [], notes: [], lock: null, documents: 1, stored_answers: 3 });
  expect(report.tables).toMatchObject([
    { name: 'hyperedges', number: 1, rows: 600, log_inserts: 2400, log_tombstones: 0 },
    { name: 'typed', number: 2, segments: 2, rows: 700, log_inserts: 0, log_tombstones: 1 },
    { name: 'young', number: 3, segments: 0, rows: 0, log_inserts: 10 },
  ]);
  expect(report.log.files).toBeGreaterThan(1);
  const database = await openSmall(dir);
  expect(report.log.head_lsn).toBe(database.lastLsn);
  await database.close();
});

test('verify changes nothing', async () => {
  const before = filesBelow(dir);
  flip(`${dir}/manifest`, 200);
  flip(pathsOf('log')[0]!, 5000);
  const damaged = filesBelow(dir);
  await verify(dir);
  expect(filesBelow(dir)).toEqual(damaged);
  expect(damaged).not.toEqual(before);
});

describe('a flipped byte', () => {
  const random = new Random(3);

  test('is reported anywhere in the manifest', async () => {
    const path = `${dir}/manifest`;
    const size = statSync(path).size;
    for (let i = 0; i < 40; i++) {
      const at = i < 25 ? i : random.below(size);
      flip(path, at);
      const { problems } = await verify(dir);
      expect(problems, `byte ${at}`).toMatchObject([{ file: path }]);
      flip(path, at);
    }
  });

  test('is reported with its offset anywhere in a segment', async () => {
    for (const path of pathsOf('tables')) {
      const size = statSync(path).size;
      for (let i = 0; i < 16; i++) {
        // The last bytes are padding.
        const at = i < 4 ? size - 1 - i : random.below(size);
        flip(path, at, 1 << random.below(8));
        const { problems } = await verify(dir);
        expect(problems, `${path} byte ${at}`).toHaveLength(1);
        expect(problems[0]!.file).toBe(path);
        expect(problems[0]!.offset).toBeLessThanOrEqual(size);
        expect(problems[0]!.what).toContain(`offset ${problems[0]!.offset}`);
        cpSync(path.replace(dir, `${home}/db`), path);
      }
    }
  });

  test('is reported with the offset of its frame anywhere in the log', async () => {
    for (const path of logFiles()) {
      const used = usedBytes(path);
      for (let i = 0; i < 25; i++) {
        const at = i < 8 ? i * 512 : random.below(used);
        flip(path, at, 1 << random.below(8));
        const { problems, log } = await verify(dir);
        expect(problems.length, `${path} byte ${at}`).toBeGreaterThan(0);
        expect(problems[0]!.file).toBe(path);
        expect(problems[0]!.offset).toBeLessThanOrEqual(at);
        expect(log.head_lsn).toBeNull();
        cpSync(path.replace(dir, `${home}/db`), path);
      }
    }
  });

  test('is reported after the seal of a log that was closed cleanly', async () => {
    const path = logFiles().at(-1)!;
    const used = usedBytes(path);
    flip(path, used + 100);
    const { problems } = await verify(dir);
    expect(problems).toMatchObject([{ file: path }]);
  });

  test('is reported with the offset of its record anywhere in a file of stored answers', async () => {
    for (const path of pathsOf('replays')) {
      const size = statSync(path).size;
      for (let at = 0; at < size; at += 7) {
        flip(path, at);
        const { problems } = await verify(dir);
        expect(problems, `byte ${at}`).toMatchObject([{ file: path }]);
        expect(problems[0]!.offset).toBeLessThanOrEqual(at);
        flip(path, at);
      }
    }
  });

  test('causes at most a note if it is in the mark file of a log that is complete', async () => {
    const path = `${dir}/log/mark`;
    for (let at = 0; at < 12288; at += at % 4096 < 64 ? 1 : 997) {
      flip(path, at);
      const { problems, notes } = await verify(dir);
      expect(problems, `byte ${at}`).toEqual([]);
      expect(notes, `byte ${at}`).toHaveLength(at % 4096 < 64 && at < 8192 ? 1 : 0);
      flip(path, at);
    }
    writeFileSync(path, readFileSync(path).fill(0, 0, 8192));
    expect((await verify(dir)).problems).toMatchObject([{ file: path, offset: 0 }]);
    rmSync(path);
    expect((await verify(dir)).problems).toMatchObject([{ file: path, what: expect.stringContaining('missing') }]);
  });

  test('is reported for each file when several files contain one', async () => {
    const damaged = [
      pathsOf('tables')[0]!,
      pathsOf('tables')[1]!,
      pathsOf('replays')[0]!,
      pathsOf('log')[0]!,
      pathsOf('log')[1]!,
    ];
    for (const path of damaged) flip(path, 4200 % statSync(path).size);
    const { problems } = await verify(dir);
    expect([...new Set(problems.map(({ file }) => file))].sort()).toEqual(damaged.sort());
  });
});

describe('damage that no checksum detects', () => {
  test('is reported for a missing segment, log file, log or file of answers', async () => {
    for (const path of [pathsOf('tables')[0]!, pathsOf('replays')[0]!]) {
      rmSync(path);
      expect((await verify(dir)).problems).toMatchObject([{ file: path, offset: 0 }]);
      cpSync(path.replace(dir, `${home}/db`), path);
    }
    const [first, second] = pathsOf('log') as [string, string];
    rmSync(first);
    expect((await verify(dir)).problems).toMatchObject([{ file: second, offset: 24 }]);
    rmSync(`${dir}/log`, { recursive: true });
    expect((await verify(dir)).problems).toMatchObject([{ file: `${dir}/log` }]);
  });

  test('is reported for a truncated segment and a truncated log', async () => {
    const [segment] = pathsOf('tables');
    writeFileSync(segment!, readFileSync(segment!).subarray(0, 500));
    expect((await verify(dir)).problems).toMatchObject([{ file: segment, offset: 500 }]);
    cpSync(segment!.replace(dir, `${home}/db`), segment!);
    const [log] = pathsOf('log');
    writeFileSync(log!, readFileSync(log!).subarray(0, 6000));
    expect((await verify(dir)).problems[0]).toMatchObject({ file: log });
  });

  test('is reported when two segments are exchanged, even with a matching manifest', async () => {
    const [first, second] = pathsOf('tables/2') as [string, string];
    renameSync(first, `${dir}/x`);
    renameSync(second, first);
    renameSync(`${dir}/x`, second);
    await changeManifest((document) => {
      const { segments } = document.tables.find(({ definition }) => definition.id === 2)!;
      const [a, b] = segments;
      segments.splice(0, 2, { ...b!, number: a!.number }, { ...a!, number: b!.number });
    });
    expect((await verify(dir)).problems).toMatchObject([{ file: second, offset: 48 }]);
  });

  async function changeManifest(change: (document: Checkpoint) => void): Promise<void> {
    const document = readManifest(nodeFs, dir, crc32c) as Checkpoint;
    change(document);
    await installManifest(nodeFs, dir, crc32c, document);
  }

  test.each<[string, (document: Checkpoint) => void, string]>([
    ['row ids that would be assigned twice', (document) => (document.tables[1]!.nextId = 5), 'seg-'],
    ['another width of buckets', (document) => (document.tables[1]!.definition.bucketSeconds = 77), 'seg-'],
    ['an LSN that the log does not reach', (document) => (document.lsn += 1e6), 'log-'],
    ['segments beyond the LSN', (document) => (document.tables[0]!.appliedLsn = document.lsn + 1), 'manifest'],
    ['two tables with the same name', (document) => (document.tables[1]!.definition.name = 'HYPEREDGES'), 'manifest'],
    ['a table number that is not assigned yet', (document) => (document.nextTableId = 2), 'manifest'],
    ['a segment listed twice', ({ tables }) => tables[1]!.segments.push(tables[1]!.segments[0]!), 'manifest'],
    ['an entry without a document', (document) => (document.documents![0]!.entries[0] = ['a', null]), 'manifest'],
    ['answers out of order', ({ replays }) => replays!.files.push(replays!.files[0]!), 'manifest'],
    [
      'a missing list of segments',
      (document) => delete (document.tables[0] as Partial<Checkpoint['tables'][0]>).segments,
      'manifest',
    ],
  ])('is reported: %s', async (_name, change, file) => {
    await changeManifest(change);
    const { problems } = await verify(dir);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]!.file).toContain(file);
  });

  test('is reported for malformed operations in frames with a valid checksum', async () => {
    const run = (kind: number, table: number, bytes: Uint8Array | string) => {
      const content = Buffer.from(bytes);
      const header = Buffer.alloc(16);
      header.writeUInt32LE(kind, 0);
      header.writeUInt32LE(table, 4);
      header.writeUInt32LE(1, 8);
      header.writeUInt32LE(content.length, 12);
      return [header, content];
    };
    const { log } = await openTestLog(nodeFs, {
      dir: `${dir}/log`,
      minimumLsn: (readManifest(nodeFs, dir, crc32c) as Checkpoint).lsn,
      fileBytes: 65_536,
    });
    const bad: [number, number, Uint8Array | string, RegExp][] = [
      [1, 1, 'no record at all', /record is malformed/],
      [2, 1, new Uint8Array(40), /record is malformed/],
      [3, 0, '{', /not JSON/],
      [3, 0, '{"op":"create_table","table":{"id":2,"name":"x"}}', /created with the number 2/],
      [4, 0, '{"store":"s"}', /lacks its store, id or value/],
      [5, 0, '{"id":"x"}', /lacks a field/],
      [9, 0, 'x', /kind 9/],
    ];
    for (const [kind, table, bytes] of bad) log.append(1, run(kind, table, bytes));
    await log.close();
    const { problems } = await verify(dir);
    problems.sort((x, y) => x.offset - y.offset);
    expect(problems.map(({ what }) => what)).toEqual(bad.map(([, , , what]) => expect.stringMatching(what)));
    expect(new Set(problems.map(({ offset }) => offset)).size).toBe(bad.length);
  });
});

describe('verify', () => {
  test('notes files that a crash left, but reports no problem', async () => {
    writeFileSync(`${dir}/tables/1/seg-0000000000ff.hgs`, 'x');
    writeFileSync(`${dir}/replays/replays-000000ff`, 'x');
    writeFileSync(`${dir}/manifest.tmp`, 'x');
    const { problems, notes } = await verify(dir);
    expect(problems).toEqual([]);
    expect(notes).toHaveLength(3);
  });

  test('notes an unfinished last write, unless the watermark proves that the write was complete', async () => {
    const path = logFiles().at(-1)!;
    const database = await openSmall(dir);
    await addEdges(database.table(), 5, 5000);
    const copy = `${dir}-killed`;
    cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('.socket') });
    await database.close();
    removeDir(dir);
    renameSync(copy, dir);
    rmSync(`${dir}/lock`);
    const newest = logFiles().at(-1)!;
    expect(newest).not.toBe(path);
    flip(newest, usedBytes(newest) - 20);
    let report = await verify(dir);
    expect(report.problems).toMatchObject([{ file: newest, what: expect.stringContaining('the log ends at') }]);
    // A power loss may destroy the watermark, which proves the last write.
    const mark = readFileSync(`${dir}/log/mark`);
    writeFileSync(`${dir}/log/mark`, mark.fill(0, 8192));
    report = await verify(dir);
    expect(report.problems).toEqual([]);
    expect(report.notes).toMatchObject([expect.stringContaining('was not finished')]);
    const again = await openSmall(dir);
    await addEdges(again.table(), 5, 6000);
    await again.close();
    report = await verify(dir);
    expect(report.problems).toEqual([]);
    expect(report.notes).toEqual([]);
  });

  test('reports no problem while a server writes and compacts', async () => {
    const database = await openSmall(dir);
    let pauses = 0;
    // A compaction replaces the segments after `verify` has read the manifest and before it reads
    // the segments listed there.
    const pause = async () => {
      if (++pauses > 2) return;
      await addEdges(database.table(), 600);
      await database.compact({});
    };
    const report = await verify(dir, pause);
    expect(report.problems).toEqual([]);
    expect(report.lock).toContain(String(process.pid));
    expect(pauses).toBeGreaterThan(4);
    await database.close();
  });

  test('reports damage that persists under a running server', async () => {
    const database = await openSmall(dir);
    const [path] = pathsOf('tables/2');
    flip(path!, 700);
    expect((await verify(dir)).problems).toMatchObject([{ file: path }]);
    await database.close();
  });
});
