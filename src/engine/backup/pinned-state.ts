// Finds the files that make up the database at one LSN, and protects them from removal while they
// are copied. They are the files that a crash at that moment would leave on disk.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import {
  type Crc32c,
  type FileHandle,
  type Fs,
  type LogLease,
  manifestPath,
  readManifestFile,
  readWhole,
  replayFileName,
} from '../../storage/index.ts';
import { appliedEverywhere, type Checkpoint, checkCheckpoint, segmentsOf } from '../checkpoint/checkpoint.ts';
import type { Committer } from '../commit/committer.ts';
import type { Table } from '../table/table.ts';
import { segmentEntryName } from './archive-names.ts';

export interface PinnedState {
  /** The state contains everything up to this LSN and nothing after it. All of it is durable. */
  readonly lsn: number;
  /** Table names. */
  readonly tables: readonly string[];
  /** The installed manifest; null if there is none yet. */
  readonly manifest: Uint8Array | null;
  readonly segments: readonly PinnedFile[];
  readonly answers: readonly OpenFile[];
  readonly log: LogLease;
  /** Releases all pins; further calls do nothing. */
  release(): void;
}

export interface PinnedFile {
  /** Name in the archive: the path of the file below the data directory. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** The checksum stored in the segment's header. */
  readonly checksum: number;
}

/**
 * An open file, which can be read even if it is removed meanwhile. Only its first `bytes` bytes
 * belong to the state.
 */
export interface OpenFile {
  readonly name: string;
  readonly handle: FileHandle;
  readonly bytes: number;
}

export interface PinOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  /** Ordered by name. */
  tables: () => readonly Table[];
}

/**
 * Pins the current state, at little cost. The caller ensures that no compaction, DDL or manifest
 * installation is running. Rejects with `table_corrupt` if a table is corrupt, because a backup
 * must be complete. Rejects with `conflict` if a table has held operations, which are neither in
 * its segments nor in the log. Rejects with the log's error if the log cannot be synced.
 */
export async function pinState({ fs, dir, crc32c, committer, tables }: PinOptions): Promise<PinnedState> {
  if (committer.failed !== null) throw committer.failed;
  await committer.log.flush();
  for (const table of tables()) {
    table.assertUsable();
    if (table.held.length === 0) continue;
    throw new HedgerowError(
      'conflict',
      `Table ${table.name} was corrupt, and has operations that are neither in its segments nor in the log. Compact it, then back up again.`,
    );
  }
  const path = manifestPath(dir);
  const manifest = fs.exists(path) ? readWhole(fs, path) : null;
  const checkpoint = manifest === null ? null : checkCheckpoint(readManifestFile(fs, path, crc32c), path);
  const releases: (() => void)[] = [];
  const release = () => {
    for (const undo of releases.splice(0)) undo();
  };
  try {
    const log = committer.log.lease(checkpoint === null ? 1 : appliedEverywhere(checkpoint) + 1);
    releases.push(() => log.release());
    const segments: PinnedFile[] = [];
    for (const table of tables()) {
      const version = table.pin();
      releases.push(() => table.unpin(version));
      segments.push(...listedSegments(table, checkpoint));
    }
    const answers = openAnswers(fs, dir, checkpoint, releases);
    const names = tables().map((table) => table.name);
    assert(log.fromLsn <= log.lastLsn + 1, 'a backup has the log from where its manifest ends');
    return { lsn: log.lastLsn, tables: names, manifest, segments, answers, log, release };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Returns the segments that the manifest lists for the table; asserts that the pinned version has
 * the same ones.
 */
function listedSegments(table: Table, checkpoint: Checkpoint | null): PinnedFile[] {
  const item = checkpoint?.tables.find(({ definition }) => definition.id === table.id);
  const listed = item?.segments ?? [];
  const pinned = segmentsOf(table);
  assert(listed.length === pinned.length, 'the manifest lists the segments of a table as they are');
  for (const [index, { number }] of listed.entries())
    assert(number === pinned[index]!.number, 'the manifest lists the segments of a table in their order');
  return table.version.segments.map(({ number, path, facts }) => ({
    name: segmentEntryName(table.id, number),
    path,
    bytes: facts.bytes,
    checksum: facts.checksum,
  }));
}

function openAnswers(fs: Fs, dir: string, checkpoint: Checkpoint | null, releases: (() => void)[]): OpenFile[] {
  return (checkpoint?.replays?.files ?? []).map(({ number, bytes }) => {
    const name = `replays/${replayFileName(number)}`;
    const handle = fs.open(`${dir}/${name}`, 'read');
    releases.push(() => handle.close());
    return { name, handle, bytes };
  });
}
