// Fuzz targets that change files: a manifest, kept answers, a log, and any file of a whole
// database.

import { checkCheckpoint } from '../../src/engine/checkpoint/checkpoint.ts';
import { decodeReplay } from '../../src/engine/idempotency/kept-answer.ts';
import { FILE_HEADER_BYTES, frameBytes, peekFrame, regionOf } from '../../src/storage/frame.ts';
import { readManifestFile } from '../../src/storage/manifest.ts';
import { readRecords } from '../../src/storage/replay-file.ts';
import type { Random } from '../core/support/random.ts';
import { crc32c } from '../support/crc32c.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { type Target, Wrong } from './fuzz-loop.ts';
import { mutate } from './support/mutate.ts';

/** The bytes of each file, by path. */
type Files = ReadonlyMap<string, Uint8Array>;

interface Change {
  path: string;
  bytes: Uint8Array;
}

const MANIFEST_HEADER = /^hedgerow-manifest (\d+) [0-9a-f]{8} \d+\n/;
const ANSWER_HEADER_BYTES = 16;
/** Number of leading bytes on which mutations focus: file headers and the first entries. */
const FOCUS_BYTES = 200;
const MOST_FILE_BYTES = 2 ** 20;

async function place(files: Files): Promise<SimFs> {
  const fs = simDisk();
  for (const [path, bytes] of files) {
    fs.makeDir(path.slice(0, path.lastIndexOf('/')));
    const handle = fs.open(path, 'create');
    await handle.write(bytes, 0);
    handle.close();
  }
  return fs;
}

/**
 * Returns the files and the rows of a closed database with segments, a log of several files,
 * documents and kept answers.
 */
async function makeFiles(): Promise<{ files: Files; rows: string }> {
  const fs = simDisk();
  const database = await openSim(fs);
  const table = database.table();
  const attach = () => ({
    id: 'key',
    bodyHash: 'h',
    status: 201,
    contentType: 'application/json',
    body: '{}',
    at: 1_000_000_000_000,
  });
  for (let row = 0; row < 30; row++) {
    await table.insert(
      { event_ts: row, members: [row, 100 + row], properties: { weight: row / 2, formation: `f${row}` } },
      attach,
    );
    if (row === 10)
      await database.createTable({ name: 'other', columns: [{ name: 'n', type: 'INTEGER', default: 3 }] });
    if (row === 20) await database.compact({});
  }
  await database.table('other').insert({ event_ts: 1, members: [1], properties: { n: 7 } });
  await database.documents.change([{ store: 's', id: 'd', value: { a: [1, 2] } }]);
  const transaction = database.begin();
  transaction.delete(table, 3, [3, 103]);
  transaction.insert(table, { event_ts: 99, members: [5] });
  await transaction.commit();
  const rows = rowsOf(database);
  await database.close();
  const files = new Map<string, Uint8Array>();
  for (const path of pathsOf(fs)) {
    const handle = fs.open(path, 'read');
    const bytes = new Uint8Array(handle.size());
    handle.read(bytes, 0);
    handle.close();
    // The reserve is left out, because it consists of zeros that nothing reads.
    if (bytes.length <= MOST_FILE_BYTES) files.set(path, bytes);
  }
  return { files, rows };
}

/**
 * The directories of a database with up to two tables. They are listed here because the simulated
 * disk enumerates only files.
 */
const DIRECTORIES = ['/db', '/db/log', '/db/replays', '/db/tables/1', '/db/tables/2'];

function pathsOf(fs: SimFs): string[] {
  const paths = DIRECTORIES.flatMap((dir) => namesIn(fs, dir).map((name) => `${dir}/${name}`));
  return paths.filter((path) => fs.kindOf(path) === 'file' && !path.endsWith('/lock'));
}

function namesIn(fs: SimFs, dir: string): string[] {
  try {
    return fs.list(dir);
  } catch {
    return [];
  }
}

function rowsOf(database: Awaited<ReturnType<typeof openSim>>): string {
  return database
    .tables()
    .map((table) => {
      const scan = table.scan({ format: 'ndjson' });
      let text = `${table.name}\n`;
      for (let slice = scan.next(); slice !== null; slice = scan.next()) text += Buffer.from(slice).toString();
      return text;
    })
    .join();
}

/** Corrects the header of a manifest to match its document. */
function repairManifest(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const header = MANIFEST_HEADER.exec(text);
  if (header === null) return bytes;
  const document = bytes.subarray(header[0].length);
  const sum = (crc32c(document, 0) >>> 0).toString(16).padStart(8, '0');
  return Buffer.concat([Buffer.from(`hedgerow-manifest ${header[1]} ${sum} ${document.length}\n`), document]);
}

/** Corrects the checksums of the frames in a log file, as far as their lengths make sense. */
function repairLog(bytes: Uint8Array): Uint8Array {
  const region = regionOf(bytes);
  for (let offset = FILE_HEADER_BYTES; ; ) {
    const frame = peekFrame(region, offset);
    if (frame === null) return bytes;
    const end = offset + frameBytes(frame.payloadBytes);
    if (end > bytes.length) return bytes;
    region.view.setUint32(offset + 4, crc32c(bytes.subarray(offset + 8, end), 0) >>> 0, true);
    offset = end;
  }
}

function repairAnswers(bytes: Uint8Array): Uint8Array {
  const { view } = regionOf(bytes);
  for (let offset = ANSWER_HEADER_BYTES; offset + 16 <= bytes.length; ) {
    const end = offset + 16 + view.getUint32(offset + 4, true);
    if (end > bytes.length) return bytes;
    view.setUint32(offset, crc32c(bytes.subarray(offset + 4, end), 0) >>> 0, true);
    offset = end;
  }
  return bytes;
}

function repaired({ path, bytes }: Change): Uint8Array {
  if (path.endsWith('/manifest')) return repairManifest(bytes);
  if (path.includes('/log/log-')) return repairLog(bytes);
  return path.includes('/replays/') ? repairAnswers(bytes) : bytes;
}

function fileTarget(
  files: Files,
  more: {
    name: string;
    share: number;
    chosen: (path: string) => boolean;
    run: (change: Change, random: Random) => boolean | Promise<boolean>;
  },
): Target<Change> {
  const { name, share, chosen, run } = more;
  const seeds = [...files].filter(([path]) => chosen(path)).map(([path, bytes]) => ({ path, bytes }));
  return {
    name,
    share,
    seeds,
    guided: true,
    mutate: (random, { path, bytes }) => ({
      path,
      bytes: mutate(random, bytes, path.includes('/log/') ? FILE_HEADER_BYTES + FOCUS_BYTES * 8 : FOCUS_BYTES),
    }),
    run,
    show: ({ path, bytes }) => `${path} ${Buffer.from(bytes).toString('base64')}`,
  };
}

export async function fileTargets(): Promise<Target<Change>[]> {
  const { files, rows } = await makeFiles();
  /** Opens the directory with one file changed. Throws any error that the open throws. */
  const opened = async ({ path, bytes }: Change, judge: (found: string) => void) => {
    const fs = await place(new Map([...files, [path, bytes]]));
    const database = await openSim(fs);
    try {
      judge(rowsOf(database));
    } finally {
      await database.close();
    }
    return true;
  };
  return [
    fileTarget(files, {
      ...{ name: 'manifest', share: 40, chosen: (path) => path.endsWith('/manifest') },
      run: async (change, random) => {
        const bytes = random.below(8) === 0 ? change.bytes : repairManifest(change.bytes);
        const fs = await place(new Map([['/db/manifest', bytes]]));
        return checkCheckpoint(readManifestFile(fs, '/db/manifest', crc32c), '/db/manifest') !== undefined;
      },
    }),
    fileTarget(files, {
      ...{ name: 'answers', share: 30, chosen: (path) => path.includes('/replays/') },
      run: async (change, random) => {
        const bytes = random.below(8) === 0 ? change.bytes : repairAnswers(Uint8Array.from(change.bytes));
        const fs = await place(new Map([['/db/replays/replays-00000001', bytes]]));
        const file = { number: 1, bytes: bytes.length };
        for (const { payload, offset } of readRecords(fs, '/db/replays', file, crc32c))
          decodeReplay(payload, 'file', offset);
        return true;
      },
    }),
    fileTarget(files, {
      // The checksums are repaired. Whatever the files contain, the result must be a value or a
      // refusal.
      ...{ name: 'database', share: 3, chosen: () => true },
      run: (change) =>
        opened(
          { path: change.path, bytes: repaired({ ...change, bytes: Uint8Array.from(change.bytes) }) },
          () => undefined,
        ),
    }),
    fileTarget(files, {
      // The checksums stay wrong. The database was closed cleanly, so all rows are there or it is
      // refused.
      ...{ name: 'damage', share: 8, chosen: () => true },
      run: (change) =>
        opened(change, (found) => {
          if (found !== rows)
            throw new Wrong(`the rows are not what they were: ${found.length} characters, not ${rows.length}`);
        }),
    }),
  ];
}
