// Buffers finished lines in memory and writes them to a file or pipe in the background. The sink
// never blocks and never holds more than its limit.
//
// A line is accepted immediately and written within `flushMs`. At most one chunk is being written;
// the rest waits here. When the waiting lines reach the limit (a slow pipe, a full disk), new lines
// are dropped and counted; the older lines are kept because they show how the trouble began. If the
// process is killed (SIGKILL, a native crash), lines accepted within the last `flushMs` are lost;
// at every other exit `flushSync` writes them.
//
// Lines are copied into one reused buffer. Kept as strings, they would form long chains of pieces
// that survive several garbage collections. Collecting them costs more than creating them (measured
// at 30,000 lines a second: 8 us a line instead of 1 us).

/** The file or pipe to which lines are written, one write at a time. */
export interface Destination {
  /**
   * Accepts all of `text`. Later calls the listener's `done` or `failed` once. After `failed`, the
   * destination keeps the text and tries to write it again on the next call.
   */
  write(text: string): void;
  /**
   * Writes the text that the destination still holds, and then `text`, before returning. This is
   * for a process that is exiting. Throws if it cannot.
   */
  writeSync(text: string): void;
  /** Reopens the file by its name, after the old file was moved away. */
  reopen(): void;
  close(): Promise<void>;
}

export interface DestinationListener {
  done(): void;
  failed(error: Error): void;
}

export interface LineSinkOptions {
  open: (listener: DestinationListener) => Destination;
  /** Masks secrets in many lines at once. */
  mask: (lines: string) => string;
  /** Calls `callback` once after `delayMs` milliseconds. */
  schedule?: (callback: () => void, delayMs: number) => void;
  flushMs?: number;
  /** How long `close` waits for pending writes. */
  closeMs?: number;
  /** Maximum number of characters waiting in memory. */
  limit?: number;
  /** Called for the first of consecutive failed writes. */
  failed?: (error: Error) => void;
  /** Called with the number of dropped lines when writing works again. */
  lost?: (lines: number) => void;
}

const DEFAULT_FLUSH_MS = 100;
const DEFAULT_LIMIT = 8 * 2 ** 20;
/** Share of the limit reserved for urgent lines, which describe the trouble. */
const URGENT_SHARE = 1 / 16;
/** A chunk of this size is written without waiting for the timer. */
const CHUNK_CHARACTERS = 2 ** 16;
const BUFFER_BYTES = 2 * CHUNK_CHARACTERS;
const RETRY_MS = 1000;
const DEFAULT_CLOSE_MS = 2000;

interface Chunk {
  text: string;
  lines: number;
}

export class LineSink {
  /**
   * Number of lines lost so far: those that were dropped, and those that could not be written at
   * exit or on close.
   */
  lost = 0;
  readonly #options: LineSinkOptions;
  readonly #schedule: (callback: () => void, delayMs: number) => void;
  readonly #flushMs: number;
  readonly #limit: number;
  readonly #destination: Destination;
  /** Full chunks, oldest first. */
  #chunks: Chunk[] = [];
  /** The lines accepted since the last chunk was cut, in UTF-8: `#lines` lines in `#used` bytes. */
  readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #lines = 0;
  /** Number of characters in `#chunks`; those in `buffer` are not included. */
  #queued = 0;
  /** Number of lines in the chunk being written; 0 if none is being written. */
  #writing = 0;
  #scheduled = false;
  #failing = false;
  #lostBefore = 0;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(options: LineSinkOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? ((callback, delayMs) => void setTimeout(callback, delayMs).unref());
    this.#flushMs = options.flushMs ?? DEFAULT_FLUSH_MS;
    this.#limit = options.limit ?? DEFAULT_LIMIT;
    this.#destination = options.open({
      done: () => this.#done(),
      failed: (error) => this.#failed(error),
    });
  }

  /**
   * Returns the offset in `buffer` at which to write a line of at most `bytes` bytes (far less than
   * a chunk), or -1 if the line is dropped. Write the line and call `took` before any other method.
   */
  room(bytes: number): number {
    if (this.#closed || this.#queued + this.#used + bytes > this.#limit * (1 - URGENT_SHARE)) {
      this.lost += 1;
      return -1;
    }
    if (bytes > BUFFER_BYTES - this.#used) this.#cut();
    return this.#used;
  }

  /**
   * Completes the line written at the offset that `room` returned; `end` is the offset after its
   * line break.
   */
  took(end: number): void {
    this.#used = end;
    this.#lines += 1;
    if (this.#used >= CHUNK_CHARACTERS) this.#cut();
    if (this.#chunks.length > 0) this.#next();
    else if (!this.#scheduled) this.#scheduleNext(this.#flushMs);
  }

  /**
   * Accepts a line, which must end with a line break. An urgent line is written without waiting for
   * the timer.
   */
  write(line: string, urgent = false): void {
    const waiting = this.#queued + this.#used + line.length;
    if (this.#closed || waiting > (urgent ? this.#limit : this.#limit * (1 - URGENT_SHARE))) {
      this.lost += 1;
      return;
    }
    this.#take(line);
    if (this.#used >= CHUNK_CHARACTERS) this.#cut();
    if (urgent || this.#chunks.length > 0) this.#next();
    else if (!this.#scheduled) this.#scheduleNext(this.#flushMs);
  }

  #take(line: string): void {
    // A UTF-16 code unit takes at most three bytes in UTF-8. A line that fits by this bound is
    // written without measuring it.
    const most = line.length * 3;
    if (most > BUFFER_BYTES - this.#used) this.#cut();
    if (most > BUFFER_BYTES) {
      this.#chunks.push({ text: line, lines: 1 });
      this.#queued += line.length;
      return;
    }
    this.#used += this.buffer.write(line, this.#used);
    this.#lines += 1;
  }

  /** Reopens the file by its name, after the old file was moved away. */
  reopen(): void {
    if (!this.#closed) this.#destination.reopen();
  }

  /**
   * Writes everything before returning, for a process that is exiting: its event loop does not run
   * again.
   */
  flushSync(): void {
    if (this.#closed) return;
    const rest = this.#takeAll();
    try {
      this.#destination.writeSync(rest.text);
    } catch {
      this.lost += rest.lines;
    }
  }

  /**
   * Closes the sink, which then accepts no more lines. Resolves when everything is written, or
   * after a timeout; lines that are still waiting then count as lost.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#settled(this.#options.closeMs ?? DEFAULT_CLOSE_MS);
    this.#closed = true;
    this.lost += this.#writing + this.#takeAll().lines;
    await this.#destination.close();
  }

  /** Resolves when nothing is waiting or being written, or after the timeout. */
  #settled(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#next();
    });
  }

  /** Passes the next chunk to the destination, unless a chunk is being written. */
  #next(): void {
    if (this.#writing > 0) return;
    this.#cut();
    const chunk = this.#chunks.shift();
    if (chunk === undefined) {
      this.#idle?.();
      return;
    }
    this.#queued -= chunk.text.length;
    this.#writing = chunk.lines;
    this.#destination.write(this.#options.mask(chunk.text));
  }

  #cut(): void {
    if (this.#lines === 0) return;
    const text = this.buffer.toString('utf8', 0, this.#used);
    this.#chunks.push({ text, lines: this.#lines });
    this.#queued += text.length;
    this.#used = 0;
    this.#lines = 0;
  }

  #takeAll(): Chunk {
    this.#cut();
    const all = { text: '', lines: 0 };
    for (const { text, lines } of this.#chunks.splice(0)) {
      all.text += this.#options.mask(text);
      all.lines += lines;
    }
    this.#queued = 0;
    return all;
  }

  #scheduleNext(delayMs: number): void {
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      if (!this.#closed) this.#next();
    }, delayMs);
  }

  #done(): void {
    this.#writing = 0;
    this.#failing = false;
    if (this.#closed) return;
    const lines = this.lost - this.#lostBefore;
    this.#lostBefore = this.lost;
    if (lines > 0) this.#options.lost?.(lines);
    if (this.#chunks.length > 0 || this.#idle !== undefined) this.#next();
    else if (this.#lines > 0 && !this.#scheduled) this.#scheduleNext(this.#flushMs);
  }

  #failed(error: Error): void {
    if (this.#closed) return;
    if (!this.#failing) {
      this.#failing = true;
      this.#options.failed?.(error);
    }
    // The destination still holds the text that it could not write; an empty write makes it retry.
    this.#schedule(() => {
      if (!this.#closed && this.#failing) this.#destination.write('');
    }, RETRY_MS);
  }
}
