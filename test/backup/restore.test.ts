// A restore writes only into new or empty directories, and reads only a file that is byte for byte
// a backup. A failure leaves nothing behind.

import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SEAL_BYTES, sealOf } from '../../src/engine/backup/archive-seal.ts';
import type { FileHandle, Fs } from '../../src/storage/fs.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Random } from '../support/random.ts';
import {
  addEdges,
  check,
  entriesOf,
  filesBelow,
  openSmall,
  removeDir,
  restore,
  rowTexts,
  temporaryDir,
  verify,
} from './support.ts';

let home: string;
let archive: string;
let rows: string[];
/** A directory for the running test. */
let place: string;

/**
 * Creates a database with segments of two tables, a log of two epochs, documents, and stored
 * answers in a file and in the log.
 */
beforeAll(async () => {
  home = temporaryDir();
  let database = await openSmall(`${home}/db`);
  const entry = (id: string) => ({
    id,
    bodyHash: 'h',
    status: 200,
    contentType: 'text/plain',
    body: id,
    at: Date.now(),
  });
  await addEdges(database.table(), 900);
  await database.documents.change([{ store: 's', id: 'a', value: { n: 1 } }]);
  await database.replays.store(entry('first'));
  await database.compact({});
  await addEdges(await database.createTable({ name: 'second', bucketSeconds: 60 }), 40, 1000);
  await database.close();
  database = await openSmall(`${home}/db`);
  await addEdges(database.table(), 30, 2000);
  await database.table().delete(7, [7, 107]);
  await database.replays.store(entry('last'));
  await database.documents.change([{ store: 's', id: 'b', value: 2 }]);
  rows = rowTexts(database.table());
  archive = (await database.backup({ dir: `${home}/backups`, compactFirst: false })).path;
  await database.close();
});
afterAll(() => removeDir(home));
beforeEach(() => {
  place = temporaryDir();
});
afterEach(() => removeDir(place));

async function refusal(file: string, dir = `${place}/db`, more: Parameters<typeof restore>[2] = {}): Promise<string> {
  const before = readdirSync(place, { recursive: true }).sort();
  const error = await restore(file, dir, more).then(
    () => undefined,
    (failure: Error) => failure,
  );
  if (error === undefined) return 'restored';
  expect(readdirSync(place, { recursive: true }).sort()).toEqual(before);
  return error.message;
}

async function expectWhole(dir: string): Promise<void> {
  expect((await verify(dir)).problems).toEqual([]);
  const database = await openSmall(dir);
  expect(rowTexts(database.table())).toEqual(rows);
  expect(database.table('second').rowCount).toBe(40);
  expect(database.documents.entries('s')).toEqual([
    ['a', { n: 1 }],
    ['b', 2],
  ]);
  expect(database.replays.find('first')?.body).toBe('first');
  expect(database.replays.find('last')?.body).toBe('last');
  await addEdges(database.table(), 5, 9000);
  await database.compact({});
  expect(database.table().rowCount).toBe(rows.length + 5);
  await database.close();
}

test('an archive contains the database and nothing else from its directory', () => {
  mkdirSync(`${home}/db/backups`, { recursive: true });
  const names = entriesOf(archive);
  expect(names[0]).toBe('backup.json');
  expect(names.at(-1)).toBe('SHA256SUMS');
  const kinds = names.slice(1, -1).map((name) => name.replace(/[0-9a-f]{8,}|(?<=\/)\d+/g, 'N'));
  expect([...new Set(kinds)].sort()).toEqual([
    'log/log-N',
    'log/mark',
    'manifest',
    'replays/replays-N',
    'tables/N/seg-N.hgs',
  ]);
});

test('restore writes into a directory that does not exist', async () => {
  await restore(archive, `${place}/db`);
  await expectWhole(`${place}/db`);
  expect(readdirSync(place)).toEqual(['db']);
});

test('restore writes into an empty directory, such as a mounted volume', async () => {
  mkdirSync(`${place}/db/lost+found`, { recursive: true });
  const { ino } = statSync(`${place}/db`);
  await restore(archive, `${place}/db`);
  expect(statSync(`${place}/db`).ino).toBe(ino);
  expect(readdirSync(`${place}/db`).sort()).toEqual(['log', 'lost+found', 'manifest', 'replays', 'tables']);
  await expectWhole(`${place}/db`);
});

test('restore writes through a link to an empty directory', async () => {
  mkdirSync(`${place}/real`);
  symlinkSync(`${place}/real`, `${place}/db`);
  await restore(archive, `${place}/db`);
  await expectWhole(`${place}/real`);
});

test('restore removes the remains of a killed restore, beside the target and inside it', async () => {
  mkdirSync(`${place}/.db.restoring/log`, { recursive: true });
  writeFileSync(`${place}/.db.restoring/log/junk`, 'x');
  writeFileSync(`${place}/.db.restoring.lock`, '{"pid":4194305}');
  await restore(archive, `${place}/db`);
  expect(readdirSync(place)).toEqual(['db']);
  mkdirSync(`${place}/there/.restoring/tables`, { recursive: true });
  writeFileSync(`${place}/there/lock`, '');
  await restore(archive, `${place}/there`);
  await expectWhole(`${place}/there`);
});

test('a target that is not empty or not a directory is refused', async () => {
  mkdirSync(`${place}/full`);
  writeFileSync(`${place}/full/note`, 'x');
  expect(await refusal(archive, `${place}/full`)).toMatch(/not empty \(it holds note\)/);
  writeFileSync(`${place}/file`, 'x');
  expect(await refusal(archive, `${place}/file`)).toMatch(/is not a directory/);
  symlinkSync(`${place}/nowhere`, `${place}/link`);
  expect(await refusal(archive, `${place}/link`)).toMatch(/leads nowhere/);
  expect(await refusal(archive, `${place}/no/such/parent`)).toMatch(/Make it first/);
  const database = await openSmall(`${place}/used`);
  expect(await refusal(archive, `${place}/used`)).toMatch(/not empty .* a server may have it open/);
  await database.close();
});

test('a directory that another process has just started to use is refused', async () => {
  mkdirSync(`${place}/db`);
  const lock = await nodeFs.lock(`${place}/db/lock`);
  expect(await refusal(archive, `${place}/db`)).toMatch(/already open in this process/);
  lock.release();
});

test('a file with a flipped byte anywhere is refused, and no file is left', async () => {
  const bytes = readFileSync(archive);
  const random = new Random(11);
  const file = `${place}/damaged.tar.gz`;
  const places = [...Array(12).keys(), bytes.length - 1, bytes.length - 5, bytes.length - SEAL_BYTES];
  // The bytes just before the seal are the padding of the last block, and gzip's CRC and length.
  for (let back = 1; back <= 12; back++) places.push(bytes.length - SEAL_BYTES - back);
  while (places.length < 120) places.push(random.below(bytes.length));
  for (const at of places) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1 << random.below(8);
    writeFileSync(file, damaged);
    expect(await refusal(file), `byte ${at}`).toMatch(/cannot be restored/);
  }
});

test('a truncated or extended file is refused, and no file is left', async () => {
  const bytes = readFileSync(archive);
  const random = new Random(12);
  const file = `${place}/cut.tar.gz`;
  const sizes = [0, 1, 10, SEAL_BYTES, bytes.length - SEAL_BYTES, bytes.length - 1];
  while (sizes.length < 40) sizes.push(random.below(bytes.length));
  for (const size of sizes) {
    copyFileSync(archive, file);
    truncateSync(file, size);
    expect(await refusal(file), `${size} bytes`).toMatch(/cannot be restored/);
  }
  writeFileSync(file, Buffer.concat([bytes, Buffer.from([0])]));
  expect(await refusal(file)).toMatch(/cannot be restored/);
  writeFileSync(file, Buffer.concat([bytes, bytes]));
  expect(await refusal(file)).toMatch(/cannot be restored/);
  expect(await refusal(`${place}/none.tar.gz`)).toMatch(/There is no file/);
  expect(await refusal(place, `${place}/db`)).toMatch(/cannot be/);
});

interface Entry {
  name: string;
  content?: string | Buffer;
  type?: 'file' | 'symlink' | 'link' | 'directory' | 'fifo' | 'character-device';
  linkname?: string;
}

/** Writes a sealed archive of arbitrary entries. If `sums` is false, no checksum list is added. */
async function craft(entries: Entry[], sums = true): Promise<string> {
  const packer = pack();
  const listed = entries.map(
    ({ name, content = '' }) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`,
  );
  const all = sums ? [...entries, { name: 'SHA256SUMS', content: listed.join('') }] : entries;
  for (const { name, content = '', type = 'file', linkname } of all)
    packer.entry({ name, type, ...(linkname === undefined ? {} : { linkname }) }, content);
  packer.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of packer) pieces.push(piece as Buffer);
  const packed = gzipSync(Buffer.concat(pieces));
  const file = `${place}/crafted.tar.gz`;
  writeFileSync(file, Buffer.concat([packed, sealOf(createHash('sha256').update(packed).digest('hex'))]));
  return file;
}

/** Returns the entries of the valid archive. */
async function goodEntries(): Promise<Entry[]> {
  await restore(archive, `${place}/good`);
  const files = filesBelow(`${place}/good`);
  removeDir(`${place}/good`);
  const about = { ...(await check(archive)).facts, kind: 'hedgerow backup', version: 1 };
  return [
    { name: 'backup.json', content: JSON.stringify(about) },
    ...[...files].map(([name, content]) => ({ name, content })),
  ];
}

test('entries that are not files of a database are refused with their name or kind', async () => {
  const good = await goodEntries();
  const [about, ...files] = good as [Entry, ...Entry[]];
  expect(await refusal(await craft(good), `${place}/whole`)).toBe('restored');
  removeDir(`${place}/whole`);
  for (const name of [
    '../evil',
    '/etc/evil',
    'log/../../evil',
    'tables/1/../../../evil',
    './manifest',
    'manifest/',
    'log/log-spare',
    'lock',
    'audit.log',
    'backups/x.tar.gz',
    'tables/0/seg-000000000001.hgs',
    'tables/1/seg-000000000001.hgs.tmp',
    'manifest\\..\\evil',
    'LOG/log-0000000000000001',
  ])
    expect(await refusal(await craft([...good, { name, content: 'x' }])), name).toMatch(
      /is not a file|not a regular|unpacked/,
    );
  for (const type of ['symlink', 'link', 'directory', 'fifo', 'character-device'] as const)
    expect(
      await refusal(await craft([...good, { name: 'tables/9/seg-000000000009.hgs', type, linkname: '/etc/passwd' }])),
      type,
    ).toMatch(/not a regular file/);
  expect(await refusal(await craft([...good, files[0]!]))).toMatch(/two entries/);
  expect(await refusal(await craft(files))).toMatch(/does not begin with backup.json/);
  expect(await refusal(await craft([]))).toMatch(/does not begin with/);
  expect(await refusal(await craft([about]))).not.toBe('restored');
});

test('a list of checksums that is missing, wrong or for other files is refused', async () => {
  const good = await goodEntries();
  expect(await refusal(await craft(good, false))).toMatch(/does not end with SHA256SUMS/);
  const sum = (entry: Entry, text = entry.content ?? '') =>
    `${createHash('sha256').update(text).digest('hex')}  ${entry.name}\n`;
  const lines = good.map((entry) => sum(entry));
  const withList = (content: string) => craft([...good, { name: 'SHA256SUMS', content }], false);
  expect(await refusal(await withList(lines.join('')), `${place}/whole`)).toBe('restored');
  removeDir(`${place}/whole`);
  expect(await refusal(await withList(lines.slice(1).join('')))).toMatch(/does not list backup.json/);
  expect(await refusal(await withList(lines.slice(0, -1).join('')))).toMatch(/does not list/);
  expect(await refusal(await withList(`${lines.join('')}${sum({ name: 'log/log-00000000000000ff' })}`))).toMatch(
    /is listed, but missing from the file/,
  );
  expect(await refusal(await withList([sum(good[0]!, 'other'), ...lines.slice(1)].join('')))).toMatch(
    /the sum of backup.json/,
  );
  expect(await refusal(await withList(`${lines.join('')}junk\n`))).toMatch(/has the line/);
  expect(await refusal(await withList(lines.join('').slice(0, -1)))).toMatch(/cannot be restored/);
  expect(
    await refusal(await craft([...good, { name: 'SHA256SUMS', content: lines.join('') }, { name: 'lock' }], false)),
  ).toMatch(/comes after the last/);
});

test('contents that contradict each other are refused, despite correct checksums', async () => {
  const good = await goodEntries();
  const about = JSON.parse(String(good[0]!.content));
  const rest = good.slice(1);
  const withAbout = (changed: object) =>
    craft([{ name: 'backup.json', content: JSON.stringify({ ...about, ...changed }) }, ...rest]);
  expect(await refusal(await withAbout({ lsn: about.lsn - 1 }))).toMatch(/its log ends with LSN/);
  expect(await refusal(await withAbout({ tables: ['hyperedges'] }))).toMatch(/it holds the tables hyperedges, second/);
  expect(await refusal(await withAbout({ version: 3 }))).toMatch(/its version is 3/);
  expect(await refusal(await withAbout({ kind: 'x' }))).toMatch(/does not say that it is one/);
  expect(await refusal(await withAbout({ lsn: null }))).toMatch(/lacks a field/);
  expect(await refusal(await craft([{ name: 'backup.json', content: '{' }, ...rest]))).toMatch(/not JSON/);
  const without = (name: string) => craft(good.filter((entry) => !entry.name.startsWith(name)));
  expect(await refusal(await without('manifest'))).toMatch(/cannot be restored/);
  expect(await refusal(await without('log/'))).toMatch(/cannot be restored/);
  expect(await refusal(await without('tables/1'))).toMatch(/the file is missing/);
  expect(await refusal(await without('replays/'))).toMatch(/missing/);
  const newestLog = good
    .filter(({ name }) => name.startsWith('log/'))
    .map(({ name }) => name)
    .sort()
    .at(-1)!;
  expect(await refusal(await without(newestLog))).toMatch(/cannot be restored/);
  const flipped = rest.map((entry) => {
    if (!entry.name.startsWith('tables/')) return entry;
    const content = Buffer.from(entry.content as Buffer);
    content[content.length - 9]! ^= 4;
    return { ...entry, content };
  });
  expect(await refusal(await craft([good[0]!, ...flipped]))).toMatch(/seg-.*corrupt at offset/);
});

/** Returns Node's file system with a fault at operation number `at` (from 0), reads not counted. */
function failing(at: number, code: string): Fs & { operations: number } {
  const count = (): void => {
    if (fs.operations++ === at) throw Object.assign(new Error(`${code}: as wanted`), { code });
  };
  const fs = {
    ...nodeFs,
    operations: 0,
    open(path: string, mode: 'read' | 'write' | 'create'): FileHandle {
      if (mode !== 'read') count();
      const handle = nodeFs.open(path, mode);
      return {
        path,
        size: () => handle.size(),
        read: (target, position) => handle.read(target, position),
        write: async (bytes, position) => {
          count();
          return handle.write(bytes, position);
        },
        writeDurably: async (bytes, position) => {
          count();
          return handle.writeDurably(bytes, position);
        },
        datasync: () => handle.datasync(),
        sync: async () => {
          count();
          return handle.sync();
        },
        writeNow: (bytes, position) => handle.writeNow(bytes, position),
        truncate: (size) => handle.truncate(size),
        close: () => handle.close(),
      };
    },
    makeDir(dir: string) {
      count();
      nodeFs.makeDir(dir);
    },
    rename: async (from: string, to: string) => {
      count();
      await nodeFs.rename(from, to);
    },
    syncDir: async (dir: string) => {
      count();
      await nodeFs.syncDir(dir);
    },
  };
  return fs;
}

test.each(['new', 'empty'])(
  'restore into a directory that is %s leaves no file when the disk is full',
  async (kind) => {
    for (let at = 0; ; at++) {
      const dir = `${place}/db`;
      if (kind === 'empty') mkdirSync(dir, { recursive: true });
      const fs = failing(at, 'ENOSPC');
      const outcome = await refusal(archive, dir, { fs });
      if (outcome === 'restored' && fs.operations <= at) break;
      if (kind === 'new' && outcome === 'restored') throw new Error(`operation ${at} failed and nobody said so`);
      expect(outcome).toMatch(/no space left/);
    }
    await expectWhole(`${place}/db`);
  },
);

test('a failing disk or a read-only disk is reported', async () => {
  expect(await refusal(archive, `${place}/db`, { fs: failing(5, 'EIO') })).toMatch(
    /cannot be written \(EIO\); nothing was left/,
  );
  expect(await refusal(archive, `${place}/db`, { fs: failing(0, 'EACCES') })).toMatch(/\(EACCES\)/);
});

test('a restore stopped at any moment leaves no files', async () => {
  for (let at = 1; ; at++) {
    let looks = 0;
    const outcome = await refusal(archive, `${place}/db`, {
      checkStopped: () => {
        if (++looks === at) throw new Error('stopped');
      },
    });
    if (outcome === 'restored') break;
    expect(outcome).toBe('stopped');
  }
});

test('a file that changes between verification and unpacking is refused', async () => {
  const file = `${place}/changing.tar.gz`;
  copyFileSync(archive, file);
  let looks = 0;
  const outcome = await refusal(file, `${place}/db`, {
    checkStopped: () => {
      // The file is so small that the first call is made for the last piece of the check.
      if (++looks !== 1) return;
      const bytes = readFileSync(file);
      bytes[Math.floor(bytes.length / 2)]! ^= 1;
      setImmediate(() => writeFileSync(file, bytes));
    },
  });
  expect(outcome).toMatch(/cannot be restored/);
});
