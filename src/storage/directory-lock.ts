// The directory lock: one process per directory on a host, across PID and network namespaces (two
// containers on one volume).
//
// PIDs cannot tell whether a holder in another PID namespace is alive. The kernel can: a Unix
// socket with a path is found by its inode, in every namespace that sees the directory. Connecting
// to a socket succeeds as long as the listening process lives, even if it is busy or stopped; once
// the process has died, by whatever cause, the connection is refused (ECONNREFUSED) for ever.
//
// A candidate has its own socket, `lock.<id>.socket`, with a random id that is never reused.
//
// 1. Look: list the directory and connect to each socket of another process. A refused one is dead
//    and is unlinked, which cannot race because its name is never bound again. If one of them holds
//    the lock, the candidate is refused with the name of the holder. If others are also trying, it
//    waits and looks again.
// 2. Publish: bind and listen under a draft name, then rename the draft to `lock.<id>.socket`. A
//    published socket therefore always listens until its process withdraws or dies; between bind
//    and listen, when it would look dead, it has a different name.
// 3. Look again. If no other live candidate exists, it holds the lock. If another holds it:
//    withdraw, refused. If one with a smaller id is trying: withdraw and start over at 1. If all
//    others have greater ids: stay published, wait, look again.
//
// Mutual exclusion: let A and B both be published, A first. B looks after it has published, and a
// directory listing contains every name that exists throughout it, so B sees A. A's socket accepts
// connections as long as A lives and has not withdrawn, so B never concludes that it is alone. A
// stale lock needs no special case: a dead socket is only removed, never taken over, and two
// candidates that find it both publish their own sockets. Progress: the smallest published id never
// withdraws for a greater one; greater ones withdraw when they look, and then wait at step 1.
//
// A draft that refuses connections may just not be listening yet. Only the holder removes such
// drafts; the rename by the owner then fails, and the owner starts over.
//
// The winner then writes the lock file (lock-file.ts), which names it, and respects the lock file
// of an older build whose process is alive. Not covered: two hosts on one network file system; a
// socket answers on its own host only.

import { createHash, randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { HedgerowError } from '../errors.ts';
import type { FsLock } from './fs.ts';
import {
  describeThisProcess,
  isThisProcess,
  type Link,
  type LockHolder,
  nameOf,
  parseHolder,
  readHolder,
  releaseLockFile,
  takeLockFile,
  tooManyStarts,
} from './lock-file.ts';
import { askSocket, type Listen, type LockSocket, listenOn } from './lock-socket.ts';

/** The system calls that not every file system supports. */
export interface LockSystem {
  readonly link: Link;
  readonly listen: Listen;
}

/** Rounds of waiting for others that start at the same moment; a few seconds in total. */
const MAX_ROUNDS = 400;
/**
 * Rounds in which a live socket may stay silent without being named by the lock file, before its
 * process is taken to be a stopped holder.
 */
const MAX_SILENT_ROUNDS = 5;
const MIN_WAIT_MS = 2;
const MAX_WAIT_MS = 15;
/** In socket names, which have a length limit, a longer lock file name is replaced by a hash. */
const MAX_BASE_BYTES = 32;

const SOCKET = /^([0-9a-f]{16})\.socket$/;
const DRAFT = /^[0-9a-f]{16}\.draft$/;
const FILE_DRAFT = /^\d+\.\d+\.new$/;

const nodeSystem: LockSystem = { link: fs.linkSync, listen: listenOn };

/**
 * Rejects with `conflict` if a live process holds the lock, `invalid_input` if the file system has
 * no sockets.
 */
export async function lockDirectory(path: string, system: LockSystem = nodeSystem): Promise<FsLock> {
  const claim = process.platform === 'win32' ? null : await new Candidate(path, system.listen).claim();
  const holder = claim?.holder ?? describeThisProcess('');
  try {
    takeLockFile(path, holder, system.link);
  } catch (error) {
    claim?.withdraw();
    throw error;
  }
  return {
    release: () => {
      releaseLockFile(path, holder);
      claim?.withdraw();
    },
  };
}

/** The socket of another live process. */
interface Other {
  id: string;
  /** Undefined if it did not answer in time. */
  answer: { holder: LockHolder; holds: boolean } | undefined;
}

class Candidate {
  readonly #path: string;
  readonly #dir: string;
  /** Prefix of the names of sockets and drafts. */
  readonly #prefix: string;
  readonly #listen: Listen;
  readonly #silent = new Map<string, number>();
  #socket: LockSocket | undefined;
  #holds = false;
  holder: LockHolder = describeThisProcess('');

  constructor(path: string, listen: Listen) {
    const slash = path.lastIndexOf('/');
    const base = path.slice(slash + 1);
    this.#path = path;
    this.#dir = slash <= 0 ? '/' : path.slice(0, slash);
    this.#prefix = `${Buffer.byteLength(base) <= MAX_BASE_BYTES ? base : shortened(base)}.`;
    this.#listen = listen;
  }

  async claim(): Promise<this> {
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const others = await this.#look();
        const first = others.find((other) => this.#isHolder(other));
        if (first !== undefined) throw this.#refused(first);
        if (this.#socket === undefined && others.length === 0) {
          await this.#publish();
          continue;
        }
        if (this.#socket !== undefined && others.length === 0) {
          this.#holds = true;
          await this.#removeDrafts();
          return this;
        }
        if (others.some(({ id }) => id < this.holder.socket)) this.withdraw();
        await wait(randomInt(MIN_WAIT_MS, MAX_WAIT_MS));
      }
      throw tooManyStarts(this.#path);
    } catch (error) {
      this.withdraw();
      throw error;
    }
  }

  /** Closes the socket, published or not; a second call does nothing. */
  withdraw(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#holds = false;
    removeIfThere(this.#nameOf(this.holder.socket, 'socket'));
    socket.close();
  }

  /** Leaves the candidate unpublished if a holder removed the draft in the meantime. */
  async #publish(): Promise<void> {
    const id = randomBytes(8).toString('hex');
    this.holder = describeThisProcess(id);
    const draft = this.#nameOf(id, 'draft');
    const socket = await this.#listen(draft, () => JSON.stringify({ ...this.holder, holds: this.#holds }));
    try {
      fs.renameSync(draft, this.#nameOf(id, 'socket'));
      this.#socket = socket;
    } catch (error) {
      socket.close();
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** The live sockets of other processes; dead ones are removed. */
  async #look(): Promise<Other[]> {
    const others: Other[] = [];
    for (const name of this.#names()) {
      const id = SOCKET.exec(name)?.[1];
      if (id === undefined || (this.#socket !== undefined && id === this.holder.socket)) continue;
      const path = this.#nameOf(id, 'socket');
      const answer = await askSocket(path);
      if (answer === 'gone') continue;
      if (answer === 'dead') removeIfThere(path);
      else others.push({ id, answer: parseAnswer(answer) });
    }
    return others;
  }

  #isHolder({ id, answer }: Other): boolean {
    if (answer?.holds === true) return true;
    if (answer !== undefined) return false;
    if (readHolder(this.#path)?.socket === id) return true;
    const silent = (this.#silent.get(id) ?? 0) + 1;
    this.#silent.set(id, silent);
    return silent >= MAX_SILENT_ROUNDS;
  }

  #refused({ id, answer }: Other): HedgerowError {
    const written = readHolder(this.#path);
    const holder = answer?.holder ?? (written?.socket === id ? written : undefined);
    const file = this.#nameOf(id, 'socket');
    if (holder === undefined) {
      const detail = `The data directory is already open in a process that does not answer on ${file}. Stop that process first, or use another directory.`;
      return new HedgerowError('conflict', detail, { fields: { file } });
    }
    const name = nameOf(holder);
    const isOther = holder.pidNamespace !== this.holder.pidNamespace;
    const where = isOther ? ', which has process numbers of its own (another container)' : '';
    const advice = isThisProcess(holder) ? 'Close the database that is open on it first' : 'Stop that process first';
    return new HedgerowError(
      'conflict',
      `The data directory is already open in ${name}${where}, which holds the lock ${this.#path}. ${advice}, or use another directory.`,
      { fields: { file: this.#path, pid: holder.pid, host: holder.host, boot: holder.boot } },
    );
  }

  /**
   * Removes drafts left by processes that died between two steps. Drafts of the lock file can only
   * be leftovers: only the holder writes them.
   */
  async #removeDrafts(): Promise<void> {
    for (const name of this.#names()) {
      const path = `${this.#dir}/${this.#prefix}${name}`;
      if (FILE_DRAFT.test(name)) removeIfThere(path);
      else if (DRAFT.test(name) && (await askSocket(path)) === 'dead') removeIfThere(path);
    }
  }

  /** Names in the directory that begin with the prefix, with the prefix removed. */
  #names(): string[] {
    const names = fs.readdirSync(this.#dir).filter((name) => name.startsWith(this.#prefix));
    return names.map((name) => name.slice(this.#prefix.length));
  }

  #nameOf(id: string, kind: 'socket' | 'draft'): string {
    return `${this.#dir}/${this.#prefix}${id}.${kind}`;
  }
}

function shortened(base: string): string {
  return `.lock-${createHash('sha256').update(base).digest('hex').slice(0, 16)}`;
}

function parseAnswer(text: string): Other['answer'] {
  const holder = parseHolder(text);
  return holder === null ? undefined : { holder, holds: (JSON.parse(text) as { holds?: unknown }).holds === true };
}

function removeIfThere(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
