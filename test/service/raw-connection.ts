// Sends bytes to a port and summarizes the result in one line: the statuses in order, and what
// happened to the connection.

import { connect, type Socket } from 'node:net';

/**
 * Bytes as Latin-1 text, a pause in ms, a wait for one more answer, or an action on the client's
 * side of the connection.
 */
export type Step = string | number | 'ANSWER' | 'FIN' | 'RESET' | 'PAUSE';

/** Longer than any time limit of the service. */
const PATIENCE_MS = 30_000;
/** Silence after which a client concludes that the service waits for more bytes. */
const SILENCE_MS = 150;

const FOLLOW_ID = 'follow-up';
const FOLLOW_UP = `GET /health/live HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${FOLLOW_ID}\r\n\r\n`;

/**
 * Sends the steps and returns what happened, in the form of `expected`: the statuses, followed by
 * one word. `closed`: the service ended the connection. `silent`: the service waits for more bytes.
 * `open`: the next request on this connection got its correct answer, so both sides agree where
 * this request ended. `gone`: the client ended the connection itself. `expected` also determines
 * how long to wait.
 */
export async function converse(port: number, steps: readonly Step[], expected: string): Promise<Conversation> {
  const connection = new RawConnection(port);
  await connection.opened;
  for (const [at, step] of steps.entries()) {
    // The end of the stream is sent together with the request before it. A pause between them would
    // leave time for an answer.
    const next = steps[at + 1];
    if (next === 'FIN' && isBytes(step)) connection.end(step);
    else if (step !== 'FIN' || !isBytes(steps[at - 1])) await connection.take(step);
  }
  if (expected.endsWith('gone')) {
    connection.destroy();
    return { outcome: 'gone', text: connection.text };
  }
  const wanted = statusesOf(expected).length;
  // If the connection stays open, there is no need to wait for silence: a surplus answer would
  // arrive before the answer to the next request.
  const most = expected.endsWith('open') ? wanted - 1 : wanted;
  await connection.until(() => connection.closed || connection.statuses().length > most, {
    ms: expected.endsWith('closed') ? PATIENCE_MS : SILENCE_MS,
    restartAt: () => connection.statuses().length < wanted,
  });
  const statuses = connection.statuses();
  let end = 'closed';
  if (!connection.closed && expected.endsWith('silent')) end = 'silent';
  else if (!connection.closed) end = await connection.followUp();
  const { text } = connection;
  connection.destroy();
  return { outcome: [...statuses, end].join(' '), text };
}

function isBytes(step: Step | undefined): step is string {
  return typeof step === 'string' && !['ANSWER', 'FIN', 'RESET', 'PAUSE'].includes(step);
}

export interface Conversation {
  outcome: string;
  /** All bytes received, as Latin-1 text. */
  text: string;
}

class RawConnection {
  text = '';
  closed = false;
  #awaited = 0;
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  #changed: () => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.#socket.setNoDelay(true);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
    this.#socket.on('data', (data) => {
      this.text += data.toString('latin1');
      this.#changed();
    });
    const over = () => {
      this.closed = true;
      this.#changed();
    };
    this.#socket.on('error', over);
    this.#socket.on('end', over);
    this.#socket.on('close', over);
  }

  async take(step: Step): Promise<void> {
    if (typeof step === 'number') await sleep(step);
    else if (step === 'ANSWER') {
      const wanted = ++this.#awaited;
      const isThere = () => this.statuses().length >= wanted;
      await this.until(() => this.closed || isThere(), { ms: PATIENCE_MS, restartAt: () => true });
    } else if (step === 'FIN') this.#socket.end();
    else if (step === 'RESET') this.#socket.resetAndDestroy();
    else if (step === 'PAUSE') this.#socket.pause();
    else if (!this.closed) await new Promise<void>((resolve) => this.#socket.write(step, 'latin1', () => resolve()));
  }

  /** Sends the last bytes together with the end of the stream. */
  end(text: string): void {
    if (!this.closed) this.#socket.end(text, 'latin1');
  }

  statuses(): string[] {
    return statusesOf(this.text);
  }

  /**
   * Waits until `done` returns true, or until nothing has arrived for `ms` milliseconds. While
   * `restartAt` returns true, silence does not end the wait. After PATIENCE_MS the wait ends in any
   * case.
   */
  async until(done: () => boolean, { ms, restartAt }: { ms: number; restartAt: () => boolean }): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!done() && performance.now() < end) {
      const woken = await this.#change(restartAt() ? PATIENCE_MS : ms);
      if (!woken && !restartAt()) return;
    }
  }

  /**
   * Sends another request on the same connection. Returns `open` if the next answer belongs to it.
   */
  async followUp(): Promise<string> {
    const before = this.statuses().length;
    await this.take(FOLLOW_UP);
    await this.until(() => this.closed || this.statuses().length > before, { ms: SILENCE_MS, restartAt: () => true });
    const isAnswered = this.text.includes(`X-Request-Id: ${FOLLOW_ID}`) && this.statuses().at(-1) === '200';
    return isAnswered ? 'open' : this.closed ? 'closed at the next request' : 'out of step';
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #change(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const woken = await Promise.race([
      new Promise<boolean>((resolve) => {
        this.#changed = () => resolve(true);
      }),
      new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), ms);
      }),
    ]);
    clearTimeout(timer);
    return woken;
  }
}

/**
 * Returns the statuses in `text`, which contains either answers (`HTTP/1.1 200`) or an expectation
 * (`200 open`).
 */
function statusesOf(text: string): string[] {
  if (/^(\d{3} )*[a-z]+$/.test(text)) return text.match(/\d{3}/g) ?? [];
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]!);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
