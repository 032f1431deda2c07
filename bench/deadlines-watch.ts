// Watches a server while a statement runs: how fast `/health/live` answers, and when the process
// becomes idle.

import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';

const EVERY_MS = 10;

/**
 * Requests `/health/live` every 10 ms, even while earlier answers are missing. A pause of the
 * server therefore counts once for every request sent during the pause.
 */
export class HealthProbe {
  readonly #url: string;
  readonly #pid: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();
  /** Latency of each answer, in milliseconds. */
  times: number[] = [];
  /**
   * CPU time of the server's main thread between each request and its answer, in milliseconds. On a
   * busy machine this is the server's own share of the latency.
   */
  ran: number[] = [];

  constructor({ url, pid }: { url: string; pid: number }) {
    this.#url = `${url}/health/live`;
    this.#pid = pid;
    this.#timer = setInterval(() => this.#ask(), EVERY_MS);
  }

  /** Discards everything measured so far. */
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
      // `stop` reports the failure.
      () => {},
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    this.#agent.destroy();
  }
}

/** Returns the time that about `share` (0 to 1) of the times do not exceed; 0 if there are none. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const LOOK_MS = 5;
/** CPU time per poll interval below which a process counts as idle. */
const IDLE_MS = 1;
const IDLE_LOOKS = 30;

/**
 * Returns the milliseconds from the call until the main thread of a process is idle: the end of the
 * last poll interval in which it was busy, before 30 idle ones (Linux only).
 */
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

/** Returns the CPU time of the main thread so far, in milliseconds. */
function ranMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
