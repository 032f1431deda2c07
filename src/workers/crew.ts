// The workers of a service, as the process that leads it uses them.

import type { Transport } from '../http/index.ts';
import type { ProcessMetrics } from '../observe/metrics.ts';
import { LinkTransport } from './link-transport.ts';
import type { Question, Usage } from './messages.ts';
import type { StateWriter } from './shared-state.ts';
import { directoryOf, removeOthers } from './worker-directories.ts';
import { WorkerPool } from './worker-pool.ts';

/** The settings that a worker needs in another form. */
export interface CrewConfig {
  readonly workers: number;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly memoryBudgetMb: number;
  /** Connections of an address; 0: any number. */
  readonly socketsPerAddress: number;
}

interface Log {
  info(message: string, fields: Record<string, unknown>): void;
  warn(message: string, fields: Record<string, unknown>): void;
}

/** Receives what the callers of the workers have used. */
interface Charged {
  charge(usage: Usage): void;
}

export class Crew {
  readonly link: LinkTransport;
  readonly #pool: WorkerPool;
  /**
   * Sessions without a name that have a transaction: workers send their statements to the leader.
   */
  readonly #sessions = new Set<string>();
  #charged: Charged | undefined;

  private constructor(link: LinkTransport, makePool: (onUsage: (usage: Usage) => void) => WorkerPool) {
    this.link = link;
    this.#pool = makePool((usage) => this.#charged?.charge(usage));
  }

  /** Takes the port for the workers, over `transport`. Rejects if it is not available. */
  static async open<C extends CrewConfig>(config: C, transport: Transport, log: Log): Promise<Crew> {
    removeOthers(config.dataDir, config.workers);
    const link = new LinkTransport(transport.facts);
    const { workers: count, host } = config;
    const place = await WorkerPool.takePort(config, transport.facts.name === 'uws');
    const makePool = (onUsage: (usage: Usage) => void) =>
      new WorkerPool(
        {
          ...{ count, host, onUsage },
          attach: (socket) => link.attach(socket),
          configOf: (number) => configOf(config, number),
          notice: (message, fields) => log.info(message, fields),
          warn: (message, fields) => log.warn(message, fields),
        },
        place,
      );
    return new Crew(link, makePool);
  }

  get port(): number {
    return this.#pool.port;
  }

  get state(): StateWriter {
    return this.#pool.state;
  }

  /** Resolves when all workers serve; rejects if one of them cannot. */
  get ready(): Promise<void> {
    return this.#pool.ready;
  }

  /** Why a worker cannot follow; null if all can. */
  get problem(): string | null {
    return this.#pool.problem;
  }

  get list(): { pid: number; thread: number }[] {
    return this.#pool.list;
  }

  start(charged: Charged): void {
    this.#charged = charged;
    this.#pool.start();
  }

  /** Notes that a session has a transaction at the leader, or has none any more. */
  readonly onSession = (session: string, hasTransaction: boolean): void => {
    // The sessions with names are sent to the leader anyway.
    if (!session.endsWith(' ')) return;
    if (hasTransaction) this.#sessions.add(session);
    else this.#sessions.delete(session);
    this.state.sessions([...this.#sessions]);
  };

  /** Returns the metrics of the workers, and the counts of those that have ended. */
  async metrics(): Promise<ProcessMetrics[]> {
    const metrics = (await this.#pool.askAll({ about: 'metrics' })) as ProcessMetrics[];
    return [...metrics, this.#pool.ended.counts];
  }

  async interaction(id: string, keyId: string | null | undefined): Promise<string | undefined> {
    const answers = await this.#pool.askAll({ about: 'interaction', id, keyId });
    return answers[0] as string | undefined;
  }

  async clearCache(graph: string): Promise<number> {
    const question: Question = { about: 'clear-cache', graph };
    const counts = (await this.#pool.askAll(question)) as number[];
    return counts.reduce((sum, count) => sum + count, 0);
  }

  reopenLogs(): void {
    this.#pool.reopen();
  }

  close(reason: string): Promise<void> {
    return this.#pool.close(reason);
  }
}

/**
 * Returns the configuration of a worker, which has a database of its own. Memory and connections
 * are divided evenly.
 */
function configOf<C extends CrewConfig>(config: C, number: number): { config: C; dir: string } {
  const dir = directoryOf(config.dataDir, number);
  const memoryBudgetMb = shareOf(config);
  const socketsPerAddress = Math.ceil(config.socketsPerAddress / config.workers);
  return { dir, config: { ...config, dataDir: dir, memoryBudgetMb, socketsPerAddress } };
}

/** Returns the share of each process of the memory, in MB. */
export function shareOf({ memoryBudgetMb, workers }: CrewConfig): number {
  return Math.max(1, Math.floor(memoryBudgetMb / (workers + 1)));
}
