// What the leader tells all workers at once, and without a message: the newest LSN that a client
// may know of, and which sessions have a transaction. It is in a small file that all processes have
// open, so that a worker reads it with one system call (0.8 us) at each request.
//
//     0   f64  newest LSN that is visible at the leader
//     8   f64  number of sessions; above MOST_SESSIONS, those that follow are not all
//     16  f64  the same LSN again: a reader that finds two different ones reads again
//     24  u64  a hash of each session's name, MOST_SESSIONS of them
//
// Numbers are little endian. The leader writes an LSN before it acknowledges the write, and a
// session before it answers its BEGIN. A worker reads them after it has received a request, so it
// knows of everything that was acknowledged before the request was sent.

import { createHash, randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';

const HEAD_BYTES = 24;
const MOST_SESSIONS = 256;
const HASH_BYTES = 8;
const STATE_BYTES = HEAD_BYTES + MOST_SESSIONS * HASH_BYTES;
/** How often a worker reads again if it has read between two writes. */
const MOST_READS = 1000;

/**
 * Opens a new file that has no name, in memory where there is such a file system. Throws if it
 * cannot be made.
 */
export function openState(): number {
  for (const dir of ['/dev/shm', tmpdir()]) {
    const file = `${dir}/hedgerow-${randomUUID()}`;
    try {
      const fd = openSync(file, 'wx+', 0o600);
      rmSync(file);
      return fd;
    } catch {
      // The next one.
    }
  }
  throw new Error(`A service with workers needs a small file in ${tmpdir()}, which cannot be made.`);
}

/** The leader's side. */
export class StateWriter {
  readonly #fd: number;
  readonly #head = new Float64Array(3);
  #isClosed = false;

  /** `fd`: the file, open for writing. */
  constructor(fd: number) {
    this.#fd = fd;
    writeSync(fd, new Uint8Array(STATE_BYTES), 0, STATE_BYTES, 0);
  }

  /** Tells the newest visible LSN. */
  visible(lsn: number): void {
    this.#head[0] = lsn;
    this.#head[2] = lsn;
    this.#writeHead();
  }

  /** Tells which sessions have a transaction. */
  sessions(names: readonly string[]): void {
    const hashes = names.slice(0, MOST_SESSIONS).map(hashOf);
    if (hashes.length > 0 && !this.#isClosed)
      writeSync(this.#fd, Buffer.concat(hashes), 0, hashes.length * HASH_BYTES, HEAD_BYTES);
    this.#head[1] = names.length;
    this.#writeHead();
  }

  /** Closes the file. What is told afterwards is for nobody. */
  close(): void {
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  #writeHead(): void {
    if (this.#isClosed) return;
    writeSync(this.#fd, this.#head, 0, HEAD_BYTES, 0);
  }
}

/** A worker's side. */
export class StateReader {
  readonly #fd: number;
  readonly #head = new Float64Array(3);
  readonly #hashes = Buffer.alloc(MOST_SESSIONS * HASH_BYTES);

  /** `fd`: the file, open for reading. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Returns the newest LSN that was acknowledged. */
  visibleLsn(): number {
    this.#readHead();
    return this.#head[0]!;
  }

  /** Returns whether the leader has a transaction of this session; may be true if it has many. */
  hasSession(name: string): boolean {
    this.#readHead();
    const count = this.#head[1]!;
    if (count === 0) return false;
    if (count > MOST_SESSIONS) return true;
    const bytes = readSync(this.#fd, this.#hashes, 0, count * HASH_BYTES, HEAD_BYTES);
    const wanted = hashOf(name);
    for (let at = 0; at < bytes; at += HASH_BYTES)
      if (this.#hashes.compare(wanted, 0, HASH_BYTES, at, at + HASH_BYTES) === 0) return true;
    return false;
  }

  #readHead(): void {
    for (let read = 0; read < MOST_READS; read++) {
      readSync(this.#fd, this.#head, 0, HEAD_BYTES, 0);
      if (this.#head[0] === this.#head[2]) return;
    }
  }
}

function hashOf(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, HASH_BYTES);
}
