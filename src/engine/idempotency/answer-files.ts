// Manages the files of stored answers (storage/FORMAT.md): reads the files that a manifest lists,
// appends new answers, and rewrites files of which only a small part is still needed.
//
// A damaged file is replaced by a new file with the answers that could be read, and renamed ("set
// aside"). The manifest then lists the damaged file as lost. An operator may put an intact file in
// its place, for example from a backup; the next open then reads that file.
//
// Invariants: files are ordered by their newest LSN, and the same LSN is never in two files, except
// after a file was put back. A file number is used only once. A file is removed, or set aside if it
// is damaged, only when a manifest without it is installed.

import { assert } from '../../assert.ts';
import type { AnswerToKeep } from '../../model/kept-answer.ts';
import {
  appendRecords,
  type Crc32c,
  examineRecords,
  type Fs,
  type ReplayFile,
  type ReplayRecord,
  recordBytes,
  replayFileName,
  replayFileNumber,
  replayFileVersion,
} from '../../storage/index.ts';
import type { Orphans } from '../checkpoint/orphans.ts';
import { decodeReplay } from './kept-answer.ts';

/** A file as listed in the manifest. */
export interface StoredReplayFile extends ReplayFile {
  /** Time of the newest answer in the file, epoch milliseconds. Absent in older manifests. */
  newestAt?: number;
}

/**
 * A damaged or missing file, from which answers were lost. No lost answer is newer than `newestAt`.
 */
export interface LostReplayFile extends ReplayFile {
  newestAt: number;
}

/** The part of the manifest about the files of stored answers. */
export interface StoredReplays {
  /** Answers up to this LSN are in the files. */
  lsn: number;
  /** Number of the next file. */
  next: number;
  /** Oldest first. */
  files: StoredReplayFile[];
  /** Absent if no file was lost. */
  lost?: LostReplayFile[];
}

/** An answer read from a file. */
export interface FoundAnswer {
  entry: AnswerToKeep;
  lsn: number;
  /** Size of the answer's record in bytes. */
  bytes: number;
}

/** An answer to be written to a file. */
export interface AnswerRecord extends ReplayRecord {
  at: number;
}

/** Gives `rewrite` access to the answers in memory. */
export interface AnswerSource {
  /**
   * Yields, in LSN order, each answer that is in a file and is still kept, with the size that its
   * record would have now.
   */
  needed(): Iterable<{ lsn: number; bytes: number }>;
  /**
   * Returns the records of the kept answers with LSNs from `firstLsn` to `lastLsn` inclusive, in
   * order.
   */
  records(firstLsn: number, lastLsn: number): AnswerRecord[];
}

interface KnownFile extends Required<StoredReplayFile> {
  firstLsn: number;
  lastLsn: number;
  damaged: boolean;
}

/**
 * Adjacent files in LSN order that can be merged into one: their needed records fit into one file,
 * or their LSN ranges overlap. `bytes` is the total size of the files, `needed` that of the needed
 * records.
 */
interface Group {
  files: KnownFile[];
  bytes: number;
  needed: number;
}

export interface ReplayFilesOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  /** Size at which a file counts as full. */
  fileBytes: number;
  notice: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

/** A rewrite is worthwhile if the bytes not needed exceed the needed ones by more than this. */
const LEAST_SAVED_BYTES = 4096;
/** A group of at least this many files is merged into one file even if that saves nothing. */
const MOST_SMALL_FILES = 8;
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

export class ReplayFiles {
  readonly #options: ReplayFilesOptions;
  #files: KnownFile[] = [];
  #lost: LostReplayFile[] = [];
  #nextFile = 1;
  /**
   * Whether records may be appended to the newest file: it has the current format, is not damaged,
   * and no append to it has failed.
   */
  #appendable = true;
  /** Files found on disk that the manifest does not list. */
  readonly orphans: Orphans = { unlisted: [], replaced: [] };
  /**
   * Paths of files that the next manifest no longer lists: those to remove, and damaged ones to
   * rename.
   */
  #dropped: string[] = [];
  #aside: string[] = [];
  /** Whether `rewrite` is needed regardless of the sizes of the files. */
  #mustRewrite = false;

  constructor(options: ReplayFilesOptions) {
    this.#options = options;
  }

  #path(number: number): string {
    return `${this.#options.dir}/${replayFileName(number)}`;
  }

  /** Damaged or missing files. */
  get lost(): readonly LostReplayFile[] {
    return this.#lost;
  }

  /**
   * Whether a new manifest should be written soon, because a file is damaged, must be set aside, or
   * was put back.
   */
  get mustRewrite(): boolean {
    return this.#mustRewrite;
  }

  // Recovery

  /**
   * Returns all readable answers, in LSN order. If the manifest does not record `newestAt` for a
   * file, `now` is used instead or, if later, the time of the newest answer found in the file.
   */
  load({ lsn, next, files, lost = [] }: StoredReplays, now: number): FoundAnswer[] {
    this.#nextFile = next;
    const answers: FoundAnswer[] = [];
    for (const file of files) answers.push(...this.#loadFile(file, lsn, lost, now));
    for (const file of lost) {
      if (files.some(({ number }) => number === file.number)) continue;
      const found = this.#loadAgain(file, lsn);
      if (found === null) this.#lost.push(file);
      else answers.push(...found);
    }
    this.#files.sort((a, b) => a.lastLsn - b.lastLsn);
    const newest = this.#files.at(-1);
    if (newest !== undefined && !newest.damaged)
      this.#appendable = replayFileVersion(this.#options.fs, this.#options.dir, newest.number) !== 1;
    if (newest?.damaged === true) this.#appendable = false;
    this.#findOrphans([...files, ...lost]);
    answers.sort((a, b) => a.lsn - b.lsn);
    // A file that was put back also contains the answers that were read from it when it was
    // damaged.
    return answers.filter(({ lsn }, index) => lsn !== answers[index - 1]?.lsn);
  }

  #loadFile(file: StoredReplayFile, storedLsn: number, lost: readonly LostReplayFile[], now: number): FoundAnswer[] {
    const { answers, fault } = this.#read(file, storedLsn);
    const known = { ...file, ...reachOf(answers), damaged: fault !== null };
    this.#files.push({ ...known, newestAt: file.newestAt ?? Math.max(now, newestOf(answers)) });
    if (fault === null) return answers;
    const earlier = lost.find(({ number }) => number === file.number);
    this.#lost.push(earlier ?? { number: file.number, bytes: file.bytes, newestAt: this.#files.at(-1)!.newestAt });
    this.#mustRewrite = true;
    this.#options.notice?.('a file of stored answers is damaged; what can be read of it is kept', {
      file: this.#path(file.number),
      ...fault,
      answers: answers.length,
    });
    return answers;
  }

  /**
   * Returns the answers in a lost file that was put back intact, or null if there is no such file.
   */
  #loadAgain({ number, bytes, newestAt }: LostReplayFile, storedLsn: number): FoundAnswer[] | null {
    if (!this.#options.fs.exists(this.#path(number))) return null;
    const { answers, fault } = this.#read({ number, bytes }, storedLsn);
    this.#mustRewrite = true;
    if (fault !== null) {
      // Either a crash prevented the renaming of the file, or it was put back still damaged.
      this.#aside.push(this.#path(number));
      return null;
    }
    this.#files.push({ number, bytes, newestAt, ...reachOf(answers), damaged: false });
    this.#options.notice?.('a file of stored answers that was damaged is whole again', { file: this.#path(number) });
    return answers;
  }

  /**
   * Returns the readable answers in a file, and the first place where the file is damaged, if any.
   */
  #read(
    file: ReplayFile,
    storedLsn: number,
  ): { answers: FoundAnswer[]; fault: { offset: number; detail: string } | null } {
    const { fs, dir, crc32c } = this.#options;
    const answers: FoundAnswer[] = [];
    let fault: { offset: number; detail: string } | null = null;
    for (const found of examineRecords(fs, dir, file, crc32c)) {
      let what: string | null = null;
      if (found.kind === 'fault') what = found.what;
      else if (found.lsn <= (answers.at(-1)?.lsn ?? 0) || found.lsn > storedLsn)
        what = `a record has LSN ${found.lsn}, out of order`;
      else {
        try {
          const entry = decodeReplay(found.payload, this.#path(file.number), found.offset);
          answers.push({ entry, lsn: found.lsn, bytes: recordBytes(found) });
        } catch (error) {
          what = (error as Error).message;
        }
      }
      if (what !== null) fault ??= { offset: found.offset, detail: what };
    }
    return { answers, fault };
  }

  /** Finds files left by a crash, and makes sure that their numbers are not used again. */
  #findOrphans(known: readonly ReplayFile[]): void {
    const { fs, dir } = this.#options;
    if (!fs.exists(dir)) return;
    const listed = new Set(known.map(({ number }) => number));
    const next = this.#nextFile;
    for (const name of fs.list(dir)) {
      const number = replayFileNumber(name);
      if (number === null || listed.has(number)) continue;
      (number >= next ? this.orphans.unlisted : this.orphans.replaced).push(`${dir}/${name}`);
      this.#nextFile = Math.max(this.#nextFile, number + 1);
    }
  }

  // Writing

  /**
   * Number of bytes that the next append may write: to the newest file or, if that cannot take
   * more, to a new one.
   */
  get room(): number {
    const { fileBytes } = this.#options;
    const newest = this.#files.at(-1);
    return newest !== undefined && this.#appendable && newest.bytes < fileBytes ? fileBytes - newest.bytes : fileBytes;
  }

  /**
   * Writes records durably. Their LSNs must be above all LSNs in files. If this rejects, the next
   * append starts a new file.
   */
  async append(records: readonly AnswerRecord[]): Promise<void> {
    const { fs, dir, crc32c, fileBytes } = this.#options;
    const firstLsn = records[0]!.lsn;
    const lastLsn = records.at(-1)!.lsn;
    let file = this.#files.at(-1);
    assert(file === undefined || firstLsn > file.lastLsn, 'answers are appended in the order of their LSNs');
    if (file === undefined || !this.#appendable || file.bytes >= fileBytes)
      file = { number: this.#nextFile++, bytes: 0, firstLsn, lastLsn, newestAt: 0, damaged: false };
    this.#appendable = false;
    const bytes = await appendRecords(fs, dir, file, records, crc32c);
    this.#appendable = true;
    if (file.bytes === 0) this.#files.push(file);
    file.bytes = bytes;
    file.lastLsn = lastLsn;
    file.newestAt = Math.max(file.newestAt, newestAtOf(records));
  }

  /**
   * Rewrites damaged files. Merges the files of a group into one if less than about half of their
   * bytes are still needed, if their LSN ranges overlap, or if they are many. Drops files of which
   * nothing is needed. If the disk becomes full, the remaining groups stay unchanged.
   */
  async rewrite(source: AnswerSource): Promise<void> {
    try {
      for (const group of this.#groups(source)) if (isWorth(group)) await this.#replace(group, source);
      this.#mustRewrite = this.#files.some(({ damaged }) => damaged);
    } catch (error) {
      if (!FULL.includes((error as { code?: unknown }).code)) throw error;
      this.#options.notice?.('files of stored answers are larger than they need be: the disk is full', {
        detail: (error as Error).message,
      });
    }
  }

  #groups(source: AnswerSource): Group[] {
    const needed = this.#neededBytes(source);
    const groups: Group[] = [];
    let lastLsn = 0;
    for (const [index, file] of this.#files.entries()) {
      let group = groups.at(-1);
      // Files with overlapping LSNs must be merged into one.
      const fits = group !== undefined && group.needed + needed[index]! <= this.#options.fileBytes;
      if (group === undefined || (!fits && file.firstLsn > lastLsn)) {
        group = { files: [], bytes: 0, needed: 0 };
        groups.push(group);
      }
      group.files.push(file);
      group.bytes += file.bytes;
      group.needed += needed[index]!;
      lastLsn = Math.max(lastLsn, file.lastLsn);
    }
    assert(
      groups.reduce((sum, { files }) => sum + files.length, 0) === this.#files.length,
      'each file is in one group',
    );
    return groups;
  }

  /**
   * Returns the number of needed bytes per file. An answer counts for the first file whose newest
   * LSN is not below the LSN of the answer.
   */
  #neededBytes(source: AnswerSource): number[] {
    const needed = new Array<number>(this.#files.length).fill(0);
    let index = 0;
    for (const { lsn, bytes } of source.needed()) {
      while (index < this.#files.length && this.#files[index]!.lastLsn < lsn) index++;
      if (index === this.#files.length) break;
      needed[index]! += bytes;
    }
    return needed;
  }

  async #replace({ files }: Group, source: AnswerSource): Promise<void> {
    const { fs, dir, crc32c } = this.#options;
    const firstLsn = Math.min(...files.map((file) => file.firstLsn));
    const lastLsn = Math.max(...files.map((file) => file.lastLsn));
    const records = source.records(firstLsn, lastLsn);
    const made: KnownFile[] = [];
    if (records.length > 0) {
      const number = this.#nextFile++;
      let bytes = 0;
      try {
        bytes = await appendRecords(fs, dir, { number, bytes: 0 }, records, crc32c);
      } catch (error) {
        this.#dropped.push(this.#path(number));
        throw error;
      }
      const reach = { firstLsn: records[0]!.lsn, lastLsn: records.at(-1)!.lsn };
      made.push({ number, bytes, ...reach, newestAt: newestAtOf(records), damaged: false });
    }
    const place = this.#files.indexOf(files[0]!);
    const wasNewest = this.#files.at(-1) === files.at(-1);
    this.#files.splice(place, files.length, ...made);
    if (wasNewest) this.#appendable = made.length > 0;
    for (const file of files) this.#letGo(file);
  }

  #letGo({ number, damaged }: KnownFile): void {
    (damaged ? this.#aside : this.#dropped).push(this.#path(number));
  }

  /** Drops the files in which all answers are below this LSN. */
  dropBelow(oldestLsn: number): void {
    while (this.#files.length > 0 && this.#files[0]!.lastLsn < oldestLsn) this.#letGo(this.#files.shift()!);
  }

  /** Removes from the list of lost files those whose answers would have expired by now. */
  forgetLost(isOver: (file: LostReplayFile) => boolean): void {
    this.#lost = this.#lost.filter((file) => !isOver(file));
  }

  /** Returns the state to be written to the manifest. */
  stored(): Omit<StoredReplays, 'lsn'> {
    const files = this.#files.map(({ number, bytes, newestAt }) => ({ number, bytes, newestAt }));
    assert(
      files.every(({ number }) => number < this.#nextFile),
      'a file has a number that was not given out',
    );
    return { next: this.#nextFile, files, ...(this.#lost.length > 0 ? { lost: [...this.#lost] } : {}) };
  }

  /**
   * Removes dropped files and renames damaged ones. Call this only when a manifest without them is
   * durable.
   */
  async removeDropped(): Promise<void> {
    const { fs, dir, notice } = this.#options;
    for (const path of this.#dropped.splice(0)) if (fs.exists(path)) await fs.remove(path);
    const aside = this.#aside.splice(0).filter((path) => fs.exists(path));
    for (const path of aside) {
      let name = `${path}.damaged`;
      for (let count = 2; fs.exists(name); count++) name = `${path}.damaged-${count}`;
      await fs.rename(path, name);
      notice?.('a damaged file of stored answers was set aside', { file: name });
    }
    if (aside.length > 0) await fs.syncDir(dir);
  }
}

function isWorth({ files, bytes, needed }: Group): boolean {
  if (files.some(({ damaged }) => damaged) || files.length >= MOST_SMALL_FILES) return true;
  const overlaps = files.some(({ firstLsn }, index) => index > 0 && firstLsn <= files[index - 1]!.lastLsn);
  return overlaps || bytes > 2 * needed + LEAST_SAVED_BYTES;
}

function reachOf(answers: readonly FoundAnswer[]): { firstLsn: number; lastLsn: number } {
  return { firstLsn: answers[0]?.lsn ?? 0, lastLsn: answers.at(-1)?.lsn ?? 0 };
}

function newestOf(answers: readonly FoundAnswer[]): number {
  return answers.reduce((newest, { entry }) => Math.max(newest, entry.at), 0);
}

function newestAtOf(records: readonly AnswerRecord[]): number {
  return records.reduce((newest, { at }) => Math.max(newest, at), 0);
}
