// The directory lock: one process on a host for each directory, across PID and network namespaces (two containers on one volume).
//
// Process numbers cannot tell whether a holder in another PID namespace lives. The kernel can: a Unix socket with a path is found by its inode, in every
// namespace that sees the directory. A connection to one that a live process listens on succeeds, also while that process is busy or stopped; when the
// process has died, however that happened, the connection is refused (ECONNREFUSED), for ever.
//
// A candidate has a socket of its own, `lock.<id>.socket`, with a random id that is never used again.
//   1. It looks at the sockets of others: lists the directory, connects to each. A refused one is dead and is unlinked; that races with nobody, since its
//      name is never bound again. When one of them holds the lock: refused, naming it. When others try as well: it waits and looks again.
//   2. It publishes: binds and listens under a draft's name, then renames the draft to `lock.<id>.socket`. So a published socket always listens, until
//      its process withdraws or dies; between bind and listen, where it would look dead, it has another name.
//   3. It looks again. Nobody else alive: it holds the lock. Somebody holds it: withdraw, refused. Somebody with a smaller id tries: withdraw and start
//      over at 1. Only greater ids: stay published, wait, look again.
//
// Two never hold it: let A and B both be published, A first. B looks after it has published, and a directory listing contains every name that is
// there throughout, so B sees A. A's connection is accepted as long as A lives and has not withdrawn; B therefore never finds that nobody else is alive.
// A stale lock is no special case: a dead socket is only removed, never taken over, and of two that find it both publish a socket of their own.
// Somebody gets it: the smallest id that is published never withdraws for a greater one, greater ones withdraw when they look, and at step 1 wait.
//
// A draft that refuses may be one that does not listen yet. Only the holder removes those; the owner's rename then fails, and it starts over.
//
// The winner then writes the lock file (lock-file.ts), which says who it is, and respects one of an older build whose process lives.
// Not covered: two hosts on one network file system; a socket answers on its own host only.

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

/** The system calls that not every file system has. */
export interface LockSystem {
  readonly link: Link;
  readonly listen: Listen;
}

/** Some seconds of waiting for others that start at the same moment. */
const MAX_ROUNDS = 400;
/** Rounds in which a live socket says nothing and the lock file does not name it: its process is stopped. */
const MAX_SILENT_ROUNDS = 5;
const MIN_WAIT_MS = 2;
const MAX_WAIT_MS = 15;
/** A longer name of a lock file is replaced in names of sockets, which are limited. */
const MAX_BASE_BYTES = 32;

const SOCKET = /^([0-9a-f]{16})\.socket$/;
const DRAFT = /^[0-9a-f]{16}\.draft$/;
const FILE_DRAFT = /^\d+\.\d+\.new$/;

const nodeSystem: LockSystem = { link: fs.linkSync, listen: listenOn };

/** Rejects with `conflict` when a live process holds it, `invalid_input` when the file system has no sockets. */
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

/** The socket of another process that lives. */
interface Other {
  id: string;
  /** Undefined: it did not answer in time. */
  answer: { holder: LockHolder; holds: boolean } | undefined;
}

class Candidate {
  readonly #path: string;
  readonly #dir: string;
  /** What names of sockets and drafts begin with. */
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

  /** Lets the socket go, published or not; a second call does nothing. */
  withdraw(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#holds = false;
    removeIfThere(this.#nameOf(this.holder.socket, 'socket'));
    socket.close();
  }

  /** Nothing happens when a holder took the draft away meanwhile. */
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

  /** The live sockets of others; dead ones are removed. */
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

  /** Drafts that processes left when they died between two steps. Those of the lock file are the holder's alone. */
  async #removeDrafts(): Promise<void> {
    for (const name of this.#names()) {
      const path = `${this.#dir}/${this.#prefix}${name}`;
      if (FILE_DRAFT.test(name)) removeIfThere(path);
      else if (DRAFT.test(name) && (await askSocket(path)) === 'dead') removeIfThere(path);
    }
  }

  /** Names in the directory that begin with the prefix, without it. */
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
