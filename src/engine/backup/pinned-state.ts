// The files that are the database at one LSN, kept from going away while they are copied: what a crash at that moment would leave on the disk.

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
  /** Everything up to here and nothing beyond. Durable. */
  readonly lsn: number;
  /** Names of the tables. */
  readonly tables: readonly string[];
  /** As it is installed; null before the first one. */
  readonly manifest: Uint8Array | null;
  readonly segments: readonly PinnedFile[];
  readonly answers: readonly OpenFile[];
  readonly log: LogLease;
  /** Lets everything go; a second call does nothing. */
  release(): void;
}

export interface PinnedFile {
  /** In the archive: its path below the data directory. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** Of the segment's header. */
  readonly checksum: number;
}

/** A file that may lose its name meanwhile. Its first `bytes` bytes count. */
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
  /** By name. */
  tables: () => readonly Table[];
}

/**
 * Pins the state of this moment; cheap. The caller sees to it that no compaction, DDL or manifest is under way. Rejects with `table_corrupt` (a backup must be
 * whole), or with what keeps the log from being synced.
 */
export async function pinState({ fs, dir, crc32c, committer, tables }: PinOptions): Promise<PinnedState> {
  if (committer.failed !== null) throw committer.failed;
  await committer.log.flush();
  for (const table of tables()) {
    table.assertUsable();
    if (table.held.length === 0) continue;
    throw new HedgerowError(
      'conflict',
      `Table ${table.name} was corrupt, and has operations beside its segments and the log. Compact it, then back up again.`,
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

/** The segments that the manifest lists for the table, which must be those that are pinned. */
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
