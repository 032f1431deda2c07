// Writes and reads the lock file, which names the process that holds a directory. It is read by
// people, by `inspect` and `verify`, and by older builds that do not know lock sockets.

import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { HedgerowError } from '../errors.ts';

/**
 * The holder of a lock. Values that the system does not provide are ''. Start time and boot id
 * distinguish a process from a later one with the same PID.
 */
export interface LockHolder {
  pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since boot. */
  started: string;
  boot: string;
  host: string;
  /** The PID namespace of `pid`. Two containers usually have different ones. */
  pidNamespace: string;
  /**
   * Id of the holder's lock socket; '' if the holder is an older build or the platform has no lock
   * sockets.
   */
  socket: string;
}

/**
 * Error codes of link(2) on file systems without hard links, such as FAT and some network mounts.
 */
export const NO_HARD_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

const MAX_ATTEMPTS = 10;

export type Link = (from: string, to: string) => void;

/**
 * Writes `holder` to the lock file. Throws `conflict` if the file names another live process.
 *
 * Two processes of this build never do this at the same time, because the lock socket excludes one
 * of them. But a process of an older build may write the file at the same time. Therefore the file
 * is completed under another name and then linked into place. A file whose holder is dead is first
 * renamed and then read again, to detect that another process has just replaced it.
 */
export function takeLockFile(path: string, holder: LockHolder, link: Link): void {
  const mine = JSON.stringify(holder);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (placeNewFile(path, mine, link)) return;
    const found = readIfThere(path);
    if (found === null) continue; // the holder has just released the lock
    const other = parseHolder(found);
    if (other !== null && isAlive(other, holder.pidNamespace)) throw heldByFile(path, other);
    moveAside(path, found, link);
  }
  throw tooManyStarts(path);
}

/** Removes the lock file if its content is still what `takeLockFile` wrote. */
export function releaseLockFile(path: string, holder: LockHolder): void {
  if (readIfThere(path) === JSON.stringify(holder)) fs.unlinkSync(path);
}

export function tooManyStarts(path: string): HedgerowError {
  return new HedgerowError(
    'conflict',
    `The lock ${path} changes hands too quickly: several processes start on this directory at once. Start only one.`,
    { fields: { file: path } },
  );
}

/**
 * Returns a text such as `process 17`. The text names the holder's host unless it is this host,
 * because a PID means nothing on another host.
 */
export function nameOf(holder: LockHolder): string {
  const isHere = holder.host === '' || holder.host === hostname();
  const where = isHere ? '' : ` of host ${holder.host}`;
  if (isThisProcess(holder)) return `this process (${holder.pid})`;
  return `process ${holder.pid}${where}`;
}

export function isThisProcess(holder: LockHolder): boolean {
  return holder.pid === process.pid && (holder.pidNamespace === '' || holder.pidNamespace === pidNamespace());
}

function heldByFile(path: string, holder: LockHolder): HedgerowError {
  const advice = isThisProcess(holder)
    ? 'Close the database that is open on it first'
    : `Stop process ${holder.pid} first`;
  return new HedgerowError(
    'conflict',
    `The data directory is already open in ${nameOf(holder)}. ${advice}, or use another directory. If you are sure that this process does not use it, remove ${path}.`,
    { fields: { file: path, pid: holder.pid } },
  );
}

/** Creates the lock file; returns false if `path` already exists. */
function placeNewFile(path: string, content: string, link: Link): boolean {
  const draft = `${path}.${process.pid}.${process.hrtime.bigint()}.new`;
  try {
    fs.writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
    link(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_HARD_LINKS.includes(code)) throw error;
    // Older builds refuse to start on a file system without hard links, so no other process can
    // read the file while it is being written.
    return writeNewFile(path, content);
  } finally {
    // If the disk is full, the draft may exist but is empty.
    fs.rmSync(draft, { force: true });
  }
}

function writeNewFile(path: string, content: string): boolean {
  try {
    fs.writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a lock file with the content `found`, whose holder is dead. If another process has
 * already replaced this file, puts the replacement back.
 */
function moveAside(path: string, found: string, link: Link): void {
  const aside = `${path}.${process.pid}.${process.hrtime.bigint()}.stale`;
  try {
    fs.renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    if (readIfThere(aside) !== found) link(aside, path);
  } finally {
    fs.unlinkSync(aside);
  }
}

/** Describes this process; `socket` is the id of its lock socket. */
export function describeThisProcess(socket: string): LockHolder {
  const boot = readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  const started = processFields(process.pid)?.[19] ?? '';
  return { pid: process.pid, started, boot, host: hostname(), pidNamespace: pidNamespace(), socket };
}

/**
 * Parses the content of a lock file. Returns null if it is invalid; a power loss can leave an empty
 * file or zeros.
 */
export function parseHolder(content: string): LockHolder | null {
  try {
    const value = JSON.parse(content) as Partial<Record<keyof LockHolder, unknown>> | null;
    if (typeof value?.pid !== 'number' || !Number.isSafeInteger(value.pid) || value.pid <= 0) return null;
    const text = (field: keyof LockHolder) => (typeof value[field] === 'string' ? value[field] : '');
    return {
      pid: value.pid,
      started: text('started'),
      boot: text('boot'),
      host: text('host'),
      pidNamespace: text('pidNamespace'),
      socket: text('socket'),
    };
  } catch {
    return null;
  }
}

/** Returns the holder that the lock file names, or null if the file is missing or invalid. */
export function readHolder(path: string): LockHolder | null {
  return parseHolder(readIfThere(path) ?? '');
}

/**
 * Returns whether the holder is alive, judged by its PID, boot id, start time and process state. A
 * holder in another PID namespace counts as dead: if it were alive, its socket would have answered.
 */
function isAlive(holder: LockHolder, mySpace: string): boolean {
  if (holder.pidNamespace !== '' && mySpace !== '' && holder.pidNamespace !== mySpace) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const fields = processFields(holder.pid);
  const boot = readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  if (boot !== '' && holder.boot !== '' && boot !== holder.boot) return false;
  const started = fields?.[19] ?? '';
  if (started !== '' && holder.started !== '' && started !== holder.started) return false;
  const state = fields?.[0];
  return state !== 'Z' && state !== 'X'; // the process has ended, but its parent has not waited for it
}

function pidNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/**
 * Returns the fields of /proc/<pid>/stat from field 3 (state) on. Field 2, the command name in
 * parentheses, may contain any characters, so the fields are counted from its end.
 */
function processFields(pid: number): string[] | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readIfThere(path: string): string | null {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
