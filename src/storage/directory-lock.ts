// The directory lock: ensures that only one process on a host uses a directory, even if there are
// several PID and network namespaces (two containers on one volume).
//
// A PID does not show whether a holder in another PID namespace is alive, but a socket does. The
// kernel finds a Unix socket with a path by its inode, in every namespace that sees the directory.
// Connecting to a socket succeeds as long as the listening process lives, even if it is busy or
// stopped. Once the process has died, for whatever reason, connections are refused (ECONNREFUSED)
// for ever.
//
// A process that wants the lock is called a candidate. It has its own socket, `lock.<id>.socket`,
// with a random id that is never used again, and does the following:
//
// 1. Look: list the directory and connect to each socket of another process. A socket that refuses
//    the connection is dead and is removed. (This cannot remove a live socket, because a name is
//    never used again.) If another process holds the lock, stop with an error that names the
//    holder. If there are other candidates, wait and look again.
// 2. Publish: bind and listen under a draft name, then rename the draft to `lock.<id>.socket`. A
//    published socket therefore listens until its process withdraws or dies. Between bind and
//    listen, when the socket would look dead, it still has the draft name.
// 3. Look again. If no other live socket exists, this process holds the lock. If another process
//    holds the lock: withdraw (remove its own socket) and stop with an error. If there is a
//    candidate with a smaller id: withdraw and start again at step 1. If all other candidates have
//    greater ids: stay published, wait, and look again.
//
// Why two processes never hold the lock: let A and B both be published, A first. B looks after it
// has published. A directory listing contains every name that exists during the whole listing, so B
// sees A. A's socket accepts connections as long as A lives and has not withdrawn, so B never
// concludes that it is alone. The lock of a dead process needs no special case: a dead socket is
// only removed, never taken over, and every candidate that finds one publishes its own socket.
//
// Why some candidate gets the lock: the candidate with the smallest published id never withdraws
// for a greater id. The others withdraw when they look, and then wait at step 1.
//
// If a draft refuses connections, the candidate that made it may be dead, or may not be listening
// yet. Only the holder removes such drafts. If the candidate is alive, its rename then fails, and
// it starts again.
//
// The holder then writes its name to the lock file (lock-file.ts), unless the file names a live
// process of an older build that does not use sockets. In that case the lock is refused. The lock
// does not exclude two hosts that share a network file system, because a socket accepts connections
// only on its own host.

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

/**
 * Maximum number of rounds of waiting for others that start at the same moment; a few seconds in
 * total.
 */
const MAX_ROUNDS = 400;
/**
 * If a live socket that the lock file does not name gives no answer in this many rounds, its
 * process is assumed to be the holder, suspended by a signal.
 */
const MAX_SILENT_ROUNDS = 5;
const MIN_WAIT_MS = 2;
const MAX_WAIT_MS = 15;
/**
 * A lock file name longer than this is replaced by a hash in the names of sockets, because the
 * system limits the length of a socket's path.
 */
const MAX_BASE_BYTES = 32;

const SOCKET = /^([0-9a-f]{16})\.socket$/;
const DRAFT = /^[0-9a-f]{16}\.draft$/;
const FILE_DRAFT = /^\d+\.\d+\.new$/;

const nodeSystem: LockSystem = { link: fs.linkSync, listen: listenOn };

/**
 * Takes the lock at `path`. Rejects with `conflict` if a live process holds the lock, and with
 * `invalid_input` if the file system does not support sockets.
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
  /** Undefined if the process did not answer in time. */
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

  /** Closes the socket, whether published or not. A second call does nothing. */
  withdraw(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#holds = false;
    removeIfThere(this.#nameOf(this.holder.socket, 'socket'));
    socket.close();
  }

  /**
   * Publishes the socket. If a holder has removed the draft in the meantime, the candidate stays
   * unpublished.
   */
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

  /** Returns the live sockets of other processes, and removes dead ones. */
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
   * Removes drafts left by processes that died between two steps. Only the holder writes drafts of
   * the lock file, so any that exist were left by dead processes.
   */
  async #removeDrafts(): Promise<void> {
    for (const name of this.#names()) {
      const path = `${this.#dir}/${this.#prefix}${name}`;
      if (FILE_DRAFT.test(name)) removeIfThere(path);
      else if (DRAFT.test(name) && (await askSocket(path)) === 'dead') removeIfThere(path);
    }
  }

  /** Returns the names in the directory that begin with the prefix, without the prefix. */
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
