// Starts the workers of a service, starts them again when they end, and ends them with the service.

import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { cannotListen } from '../http/index.ts';
import type { ProcessMetrics } from '../observe/metrics.ts';
import { EndedCounts } from './ended-counts.ts';
import { FEED_FD, type FromWorker, type Question, REQUESTS_FD, type ToWorker, type Usage } from './messages.ts';
import { openState, StateWriter } from './shared-state.ts';
import { emptyDirectory } from './worker-directories.ts';

export interface PoolOptions {
  readonly count: number;
  readonly host: string;
  /** Called with each socket over which a worker sends requests. */
  readonly attach: (socket: Duplex) => void;
  /** Configuration of a worker; `dir` is its own directory. */
  readonly configOf: (number: number) => { readonly config: unknown; readonly dir: string };
  /** Receives what the callers of a worker have used. */
  readonly onUsage: (usage: Usage) => void;
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
  readonly warn: PoolOptions['notice'];
}

/** The port, and the server that accepts its connections, if they are handed over. */
interface Place {
  readonly port: number;
  readonly server: Server | undefined;
}

interface Worker {
  readonly number: number;
  readonly child: ChildProcess;
  readonly startedMs: number;
  isReady: boolean;
  /** Pings since its last message. */
  pings: number;
  problem: string | null;
  /** What it has reported last. */
  metrics: ProcessMetrics;
  /** Connections that were handed over, until the worker has them. */
  readonly handed: Map<number, Socket>;
}

/** The wait before a worker is started again doubles with each one that did not live long. */
const FIRST_REST_MS = 100;
const LONGEST_REST_MS = 5000;
const LONG_LIFE_MS = 30_000;
/** A start fails if a worker has failed so often before it was ready. */
const MOST_FAILURES = 3;
const ANSWER_MS = 2000;
/** A worker that serves is asked this often for a sign of life. */
const PING_MS = 1000;
/** After so many pings without a message, it is ended. Long work takes less than a second. */
const MOST_PINGS = 10;
/** How long a worker may take to end. */
const CLOSE_MS = 15_000;
/** After a start was killed, its workers take a moment to notice. */
const PORT_TRIES = 20;
const PORT_REST_MS = 100;

/**
 * Without threads for garbage collection: with as many processes as cores, they delay the threads
 * that answer. Beside heavy work on two cores, this halves the time of an insert at p99.
 */
const NODE_OPTIONS = [...process.execArgv, '--single-threaded-gc'];

export class WorkerPool {
  readonly port: number;
  /** What the workers read without a message. */
  readonly state: StateWriter;
  /** Resolves when all workers serve; rejects if one of them cannot. */
  readonly ready: Promise<void>;
  readonly #options: PoolOptions;
  /** Accepts the connections, if they are handed over. */
  readonly #server: Server | undefined;
  readonly #stateFd: number;
  readonly #workers = new Map<number, Worker>();
  readonly #failures = new Map<number, number>();
  readonly #questions = new Map<number, (answer: unknown, error?: string) => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Counts of the workers that have ended. */
  readonly ended = new EndedCounts();
  #lastQuestion = 0;
  #lastConnection = 0;
  #next = 0;
  #isClosing = false;
  #resolveReady = () => {};
  #rejectReady: (error: Error) => void = () => {};

  /** `place`: what `takePort` has returned. */
  constructor(options: PoolOptions, { port, server }: Place) {
    this.#options = options;
    this.port = port;
    this.#server = server;
    this.#stateFd = openState();
    this.state = new StateWriter(this.#stateFd);
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    this.ready.catch(() => undefined);
    server?.on('connection', (socket) => this.#handOver(socket));
  }

  /**
   * Takes the port for a pool. Rejects if it is not available. If the workers do not share the
   * port, connections are handed over to them.
   */
  static async takePort(at: { host: string; port: number }, isShared: boolean): Promise<Place> {
    const server = await listenAlone(at);
    const { port } = server.address() as { port: number };
    if (!isShared) return { port, server };
    // The workers share the port among themselves, but with no other program: this server could
    // not have listened beside one.
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return { port, server: undefined };
  }

  start(): void {
    for (let number = 1; number <= this.#options.count; number++) this.#start(number);
    this.#later(this.#ping, PING_MS);
  }

  /**
   * Ends workers that do nothing, such as stopped ones: the kernel goes on giving them connections.
   */
  readonly #ping = (): void => {
    for (const worker of this.#serving()) {
      if (worker.pings < MOST_PINGS) {
        worker.pings++;
        tell(worker.child, { kind: 'ping' });
        continue;
      }
      const fields = { worker: worker.number, pid: worker.child.pid, seconds: (MOST_PINGS * PING_MS) / 1000 };
      this.#options.warn('a worker gives no sign of life; ending it', fields);
      worker.child.kill('SIGKILL');
    }
    this.#later(this.#ping, PING_MS);
  };

  /** The workers that serve, by process. Each has one thread that serves. */
  get list(): { pid: number; thread: number }[] {
    return this.#serving().map(({ child }) => ({ pid: child.pid!, thread: 0 }));
  }

  /** Why a worker cannot follow; null if all can. */
  get problem(): string | null {
    for (const { number, problem } of this.#serving()) if (problem !== null) return `worker ${number}: ${problem}`;
    return null;
  }

  /** Asks all workers; resolves with the answers of those that answered soon. */
  async askAll(question: Question): Promise<unknown[]> {
    const answers = this.#serving().map(async (worker) => {
      const answer = await this.#ask(worker, question).catch(() => undefined);
      if (question.about === 'metrics') worker.metrics = (answer as ProcessMetrics | undefined) ?? worker.metrics;
      return answer;
    });
    return (await Promise.all(answers)).filter((answer) => answer !== undefined);
  }

  /** Makes the workers continue in new files of the logs. */
  reopen(): void {
    for (const { child } of this.#workers.values()) tell(child, { kind: 'reopen' });
  }

  /** Lets the workers finish their requests and ends them. */
  async close(reason: string): Promise<void> {
    this.#isClosing = true;
    this.#rejectReady(new Error('The service was stopped while its workers were starting.'));
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server?.close();
    await Promise.all([...this.#workers.values()].map(({ child }) => endOf(child, reason)));
    this.state.close();
  }

  #serving(): Worker[] {
    return [...this.#workers.values()].filter(({ isReady }) => isReady);
  }

  #start(number: number): void {
    const { attach, configOf, warn } = this.#options;
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc', 'pipe', 'pipe', this.#stateFd] as const;
    const child = fork(workerScript(), [], { stdio: [...stdio], serialization: 'advanced', execArgv: NODE_OPTIONS });
    const startedMs = performance.now();
    const handed = new Map<number, Socket>();
    const worker: Worker = { number, child, startedMs, isReady: false, pings: 0, problem: null, metrics: [], handed };
    this.#workers.set(number, worker);
    for (const fd of [REQUESTS_FD, FEED_FD]) attach(child.stdio[fd] as Duplex);
    const { config, dir } = configOf(number);
    tell(child, { kind: 'start', config, number, port: this.port });
    let detail = '';
    let isDirectoryBad = false;
    child.on('message', (message: FromWorker) => {
      worker.pings = 0;
      if (message.kind === 'failed') ({ detail, isDirectoryBad } = message);
      else this.#receive(worker, message);
    });
    child.on('error', (error) => {
      detail ||= error.message;
    });
    child.on('exit', (code, signal) => {
      this.#workers.delete(number);
      this.ended.add(worker.metrics);
      for (const socket of worker.handed.values()) socket.destroy();
      if (this.#isClosing) return;
      const reason = detail || (signal === null ? `it ended with the code ${code}` : `it was ended by ${signal}`);
      warn('a worker has ended; starting it again', { worker: number, pid: child.pid, reason });
      const failures = worker.isReady ? 0 : (this.#failures.get(number) ?? 0) + 1;
      this.#failures.set(number, failures);
      if (failures >= MOST_FAILURES) this.#rejectReady(new Error(`Worker ${number} cannot start: ${reason}`));
      // A directory with which a worker does not start twice may be the reason.
      if (isDirectoryBad || failures > 1) emptyDirectory(dir);
      const lived = performance.now() - worker.startedMs;
      const restMs = lived > LONG_LIFE_MS ? 0 : Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** failures);
      this.#later(() => this.#start(number), restMs);
    });
  }

  #later(step: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      step();
    }, ms);
    this.#timers.add(timer);
  }

  #receive(worker: Worker, message: Exclude<FromWorker, { kind: 'failed' }>): void {
    if (message.kind === 'answer') this.#questions.get(message.id)?.(message.value, message.error);
    else if (message.kind === 'usage') this.#share(worker, message.usage);
    else if (message.kind === 'took') this.#taken(worker, message.id);
    else if (message.kind === 'problem') worker.problem = message.detail;
    else if (message.kind === 'ready') {
      worker.isReady = true;
      this.#failures.delete(worker.number);
      this.#options.notice('a worker serves', { worker: worker.number, pid: worker.child.pid });
      if (this.#serving().length === this.#options.count) this.#resolveReady();
    }
  }

  /** Passes on what the callers of a worker have used. */
  #share(from: Worker, usage: Usage): void {
    this.#options.onUsage(usage);
    for (const worker of this.#workers.values()) if (worker !== from) tell(worker.child, { kind: 'usage', usage });
  }

  #ask({ child }: Worker, question: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastQuestion;
      const end = (value: unknown, error?: string) => {
        clearTimeout(timer);
        this.#questions.delete(id);
        if (error === undefined) resolve(value);
        else reject(new Error(error));
      };
      const timer = setTimeout(end, ANSWER_MS, undefined);
      this.#questions.set(id, end);
      tell(child, { kind: 'ask', id, question });
    });
  }

  /** Gives a connection to the next worker. */
  #handOver(socket: Socket): void {
    const serving = this.#serving();
    const worker = serving[this.#next++ % Math.max(1, serving.length)];
    if (worker === undefined) {
      socket.destroy();
      return;
    }
    const id = ++this.#lastConnection;
    worker.handed.set(id, socket);
    socket.on('error', () => undefined);
    // It stays open here until the worker has it, so that it is closed if the worker ends before.
    worker.child.send({ kind: 'connection', id } satisfies ToWorker, socket, { keepOpen: true }, (error) => {
      if (error !== null) this.#taken(worker, id);
    });
  }

  /** Closes this process's side of a connection. */
  #taken({ handed }: Worker, id: number): void {
    handed.get(id)?.destroy();
    handed.delete(id);
  }
}

/** Sends a message. If the worker has ended meanwhile, its event `exit` follows. */
function tell(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => undefined);
}

function endOf(child: ChildProcess, reason: string): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    tell(child, { kind: 'close', reason });
  });
}

async function listenAlone({ host, port }: { host: string; port: number }): Promise<Server> {
  for (let tries = 1; ; tries++) {
    const server = createServer({ pauseOnConnect: true });
    const error = await new Promise<Error | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen({ host, port, exclusive: true }, () => resolve(undefined));
    });
    if (error === undefined) return server;
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === PORT_TRIES)
      throw cannotListen({ host, port });
    await new Promise((resolve) => {
      setTimeout(resolve, PORT_REST_MS);
    });
  }
}

/** Returns the built script, even when this module runs from source (tests). */
function workerScript(): URL {
  const built = import.meta.url.replace(/\/src\/workers\/([^/]+)$/, '/dist/workers/$1');
  return new URL(built.replace(/\/workers\/[^/]+$/, '/worker.js'));
}
