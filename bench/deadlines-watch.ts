// Watches a server while a statement runs: how fast /health/live answers, and when the process has stopped working.

import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';

const EVERY_MS = 10;

/** Asks /health/live each 10 ms, whether or not the answers before have come: a pause counts for all who would have asked in it. */
export class HealthProbe {
  readonly #url: string;
  readonly #pid: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();
  /** Milliseconds until each answer. */
  times: number[] = [];
  /** Milliseconds that the server's main thread ran until each answer: on a machine with others at work, what is its own of the times. */
  ran: number[] = [];

  constructor({ url, pid }: { url: string; pid: number }) {
    this.#url = `${url}/health/live`;
    this.#pid = pid;
    this.#timer = setInterval(() => this.#ask(), EVERY_MS);
  }

  /** What was seen so far does not count. */
  reset(): void {
    this.times = [];
    this.ran = [];
  }

  #ask(): void {
    const { times, ran } = this;
    const start = performance.now();
    const before = ranMs(this.#pid);
    const asked = new Promise<void>((resolve, reject) => {
      const request = get(this.#url, { agent: this.#agent }, (response) => {
        response.resume();
        response.on('end', () => {
          times.push(performance.now() - start);
          ran.push(ranMs(this.#pid) - before);
          resolve();
        });
      });
      request.on('error', reject);
    });
    this.#pending.add(asked);
    asked.then(
      () => this.#pending.delete(asked),
      // Told by `stop`.
      () => {},
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    this.#agent.destroy();
  }
}

/** Of times: the one that `share` of them do not pass. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const LOOK_MS = 5;
/** A process that answers nobody uses less than this of a look. */
const IDLE_MS = 1;
const IDLE_LOOKS = 30;

/** Milliseconds from now until the main thread of a process has come to rest: the end of its last busy look (Linux only). */
export async function untilIdle(pid: number): Promise<number> {
  const start = performance.now();
  let busyUntil = 0;
  let ran = ranMs(pid);
  for (let idle = 0; idle < IDLE_LOOKS; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = ranMs(pid);
    if (now - ran < IDLE_MS) idle++;
    else {
      idle = 0;
      busyUntil = performance.now() - start;
    }
    ran = now;
  }
  return busyUntil;
}

/** Milliseconds that the main thread has run. */
function ranMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
