// Buffers finished lines in memory and writes them to a file or pipe in the background: never
// blocks, never holds more than its limit.
//
// A line is accepted immediately and written within `flushMs`. At most one chunk is being written;
// the rest waits here. When the waiting lines reach the limit (a slow pipe, a full disk), new lines
// are dropped and counted; the older lines are kept because they show how the trouble began. If the
// process is killed (SIGKILL, a native crash), lines accepted within the last `flushMs` are lost;
// at every other exit `flushSync` writes them.
//
// Lines are copied into one reused buffer: as strings they would form long chains of pieces that
// survive several garbage collections, which costs more than creating them (measured: 8 us a line
// at 30,000 lines a second, instead of 1 us).

/** Where lines are written; one write at a time. */
export interface Destination {
  /**
   * Accepts all of `text`; then the listener's `done` or `failed` is called once. After `failed`
   * the text is kept and retried on the next call.
   */
  write(text: string): void;
  /**
   * Writes what it holds and `text` before returning, for a process that is exiting. Throws if it
   * cannot.
   */
  writeSync(text: string): void;
  /** Reopens the file under its name. */
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
  /** Maximum number of characters waiting here. */
  limit?: number;
  /** Called once when writing begins to fail, and again only after it has worked in between. */
  failed?: (error: Error) => void;
  /** Called with the number of dropped lines when writing works again. */
  lost?: (lines: number) => void;
}

const DEFAULT_FLUSH_MS = 100;
const DEFAULT_LIMIT = 8 * 2 ** 20;
/** Share of the limit reserved for urgent lines, which say what the trouble is. */
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
  /** Number of lines dropped or not written so far. */
  lost = 0;
  readonly #options: LineSinkOptions;
  readonly #schedule: (callback: () => void, delayMs: number) => void;
  readonly #flushMs: number;
  readonly #limit: number;
  readonly #destination: Destination;
  /** Full chunks, oldest first. */
  #chunks: Chunk[] = [];
  /** The lines accepted since the last chunk, in UTF-8; their number of bytes and lines follows. */
  readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #lines = 0;
  /** Characters in the chunks, without the buffer. */
  #queued = 0;
  /** Lines of the chunk being written; 0 if there is none. */
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
   * Offset in `buffer` for a line of at most `bytes` bytes, which must be far less than a chunk; -1
   * if the line is dropped. Call `took` immediately afterwards.
   */
  room(bytes: number): number {
    if (this.#closed || this.#queued + this.#used + bytes > this.#limit * (1 - URGENT_SHARE)) {
      this.lost += 1;
      return -1;
    }
    if (bytes > BUFFER_BYTES - this.#used) this.#cut();
    return this.#used;
  }

  /** Ends the line that was written at `room`, at offset `end` after its line break. */
  took(end: number): void {
    this.#used = end;
    this.#lines += 1;
    if (this.#used >= CHUNK_CHARACTERS) this.#cut();
    if (this.#chunks.length > 0) this.#next();
    else if (!this.#scheduled) this.#scheduleNext(this.#flushMs);
  }

  /** `line` ends with a line break. Urgent lines are handed over in this turn of the event loop. */
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
    // A UTF-16 code unit takes at most three bytes: a line that surely fits is written without
    // measuring it.
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

  /** Reopens the file under its name after it was moved away. */
  reopen(): void {
    if (!this.#closed) this.#destination.reopen();
  }

  /** Writes everything immediately, before the process exits: the event loop does not run again. */
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
   * Resolves when everything is written, or after a timeout with the rest counted as lost. Accepts
   * no more lines.
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

  /** Hands over the next chunk unless one is being written. */
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
    // The destination still holds what it could not write; an empty write makes it retry.
    this.#schedule(() => {
      if (!this.#closed && this.#failing) this.#destination.write('');
    }, RETRY_MS);
  }
}
