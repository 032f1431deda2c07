// Implements the service's side of the DuckDB process: starts the process, sends questions to it,
// and fails the open questions when the process dies.

import { type ChildProcess, fork } from 'node:child_process';
import { refusal } from '../../errors.ts';
import type { RowBatch } from '../backend.ts';
import { batchOf } from './duckdb-columns.ts';
import { DUCKDB_PACKAGE, type DuckDbLimits, type FromDuckDb, type ToDuckDb } from './duckdb-messages.ts';
import { type Later, later } from './later.ts';

/** The part of a process that `DuckDbChild` uses; tests pass their own implementation. */
export type DuckDbPeer = Pick<ChildProcess, 'send' | 'kill' | 'on' | 'pid' | 'connected'>;
export type Run = Omit<Extract<ToDuckDb, { kind: 'run' }>, 'kind' | 'id'>;

/**
 * Size of the JavaScript heap in MB. It only holds batches in transit. DuckDB uses native memory.
 */
const HEAP_MB = 128;

/** Starts the built script, even when this module runs from source (tests). */
export function forkDuckDb(cwd: string): DuckDbPeer {
  const here = import.meta.url;
  const script = here.endsWith('.ts')
    ? new URL(here.replace(/\/src\/virtual\/backends\/[^/]+$/, '/dist/virtual/backends/duckdb-process.js'))
    : new URL('./duckdb-process.js', here);
  return fork(script, {
    cwd,
    // Passes on nothing of the service's environment, which may contain secrets. Limits the malloc
    // arenas, because each of them retains the memory that its threads have freed.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '8', MALLOC_ARENA_MAX: '2' },
    execArgv: [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=4'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** The answer to one question, readable while it arrives. */
export interface Answer {
  /** Returns the next batch, or undefined at the end. Rejects if the question failed. */
  next(): Promise<RowBatch | undefined>;
  /** Whether no more batches will arrive. */
  readonly over: boolean;
  /** Resolves when no more batches will arrive. */
  readonly ended: Promise<void>;
  stop(): void;
}

export class DuckDbChild {
  /**
   * Resolves when the process is ready. Rejects with `virtual_unavailable` if the library is
   * missing, and with `backend_failed` if the process ends before.
   */
  readonly ready: Promise<void>;
  readonly gone: Promise<void>;
  readonly #peer: DuckDbPeer;
  readonly #open = new Map<number, OpenAnswer>();
  #nextId = 1;

  constructor(peer: DuckDbPeer, limits: DuckDbLimits) {
    this.#peer = peer;
    const ready = later<void>();
    const gone = later<void>();
    this.ready = ready.promise;
    this.gone = gone.promise;
    this.ready.catch(() => undefined);
    peer.on('message', (message) => this.#receive(message as FromDuckDb, ready));
    const die = (how: string) => {
      const error = refusal(
        'backend_failed',
        `The process that runs DuckDB ended (${how}) in the middle of the work. Try again.`,
      );
      ready.reject(error);
      for (const answer of this.#open.values()) answer.fail(error);
      this.#open.clear();
      gone.resolve();
    };
    peer.on('exit', (code, signal) => die(signal ?? `code ${code}`));
    peer.on('error', (error) => die((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    this.#say({ kind: 'limits', limits });
  }

  get pid(): number | undefined {
    return this.#peer.pid;
  }

  get idle(): boolean {
    return this.#open.size === 0;
  }

  ask(run: Run): Answer {
    const id = this.#nextId++;
    const answer = new OpenAnswer(
      () => this.#say({ kind: 'more', id }),
      () => this.#say({ kind: 'stop', id }),
    );
    this.#open.set(id, answer);
    this.#say({ kind: 'run', id, ...run });
    return answer;
  }

  kill(): void {
    this.#peer.kill('SIGKILL');
  }

  #say(message: ToDuckDb): void {
    // Ignores errors here, because the exit event reports a process that is gone.
    if (this.#peer.connected) this.#peer.send(message, undefined, {}, () => undefined);
  }

  #receive(message: FromDuckDb, ready: Later<void>): void {
    switch (message.kind) {
      case 'ready':
        ready.resolve();
        break;
      case 'absent':
        ready.reject(absent());
        break;
      case 'rows':
        this.#open.get(message.id)?.add(batchOf(message.rows));
        break;
      case 'end':
        this.#take(message.id)?.finish();
        break;
      case 'failed':
        this.#take(message.id)?.fail(message.refused ? refused(message.reason) : new DuckDbFailure(message.reason));
        break;
    }
  }

  #take(id: number): OpenAnswer | undefined {
    const answer = this.#open.get(id);
    this.#open.delete(id);
    return answer;
  }
}

/** DuckDB's own message about a statement or a file, which may contain paths. */
export class DuckDbFailure extends Error {}

class OpenAnswer implements Answer {
  readonly ended: Promise<void>;
  readonly #more: () => void;
  readonly #stop: () => void;
  readonly #batches: RowBatch[] = [];
  readonly #end = later<void>();
  #failure: Error | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  constructor(more: () => void, stop: () => void) {
    this.#more = more;
    this.#stop = stop;
    this.ended = this.#end.promise;
  }

  get over(): boolean {
    return this.#over;
  }

  async next(): Promise<RowBatch | undefined> {
    while (this.#batches.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#more();
    return this.#batches.shift();
  }

  add(batch: RowBatch): void {
    this.#batches.push(batch);
    this.#wake?.();
  }

  finish(): void {
    this.#over = true;
    this.#end.resolve();
    this.#wake?.();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.finish();
  }

  stop(): void {
    if (!this.#over) this.#stop();
  }
}

export function absent(): Error {
  return refusal(
    'virtual_unavailable',
    `The package ${DUCKDB_PACKAGE} is not installed or does not run on this machine: npm install ${DUCKDB_PACKAGE}, then start the service again.`,
  );
}

function refused(reason: string): Error {
  return refusal('invalid_statement', `The statement was not run: ${reason}.`);
}
