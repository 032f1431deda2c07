// Gathers finished lines in memory and hands them to a file or pipe in the background: never waits, never holds more than its limit.
//
// A line is taken at once and written within `flushMs`. At most one chunk is on its way; the rest waits here. When what waits reaches the limit (a slow
// pipe, a full disk), new lines are dropped and counted: the newest ones, so that the beginning of the trouble is kept. Lines of a process that is killed
// (SIGKILL, a native crash) within `flushMs` of being taken are lost; at every other end `flushSync` writes them.
//
// Lines are copied into one kept buffer: as strings they would be long chains of pieces that live through several garbage collections, which costs
// more than making them (measured: 8 us a line at 30,000 lines a second, beside 1 us).

/** Where lines end up; one write at a time. */
export interface Destination {
  /** Takes all of `text`; `done` or `failed` of the listener follows, once. After `failed` the text is kept and tried again at the next call. */
  write(text: string): void;
  /** Writes what it holds and `text` before it returns, for a process that ends. Throws when it cannot. */
  writeSync(text: string): void;
  /** Opens the file anew under its name. */
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
  /** Calls back once after that many milliseconds. */
  schedule?: (callback: () => void, delayMs: number) => void;
  flushMs?: number;
  /** How long a closing sink waits for what is on its way. */
  closeMs?: number;
  /** Characters that wait here at most. */
  limit?: number;
  /** Told once, when writing begins to fail; again only after it has worked in between. */
  failed?: (error: Error) => void;
  /** Told when writing works again after lines were dropped; how many. */
  lost?: (lines: number) => void;
}

const DEFAULT_FLUSH_MS = 100;
const DEFAULT_LIMIT = 8 * 2 ** 20;
/** Of the limit: kept free for urgent lines, which tell what the trouble is. */
const URGENT_SHARE = 1 / 16;
/** A chunk of this size does not wait for the timer. */
const CHUNK_CHARACTERS = 2 ** 16;
const BUFFER_BYTES = 2 * CHUNK_CHARACTERS;
const RETRY_MS = 1000;
const DEFAULT_CLOSE_MS = 2000;

interface Chunk {
  text: string;
  lines: number;
}

export class LineSink {
  /** Lines that were dropped or could not be written, so far. */
  lost = 0;
  readonly #options: LineSinkOptions;
  readonly #schedule: (callback: () => void, delayMs: number) => void;
  readonly #flushMs: number;
  readonly #limit: number;
  readonly #destination: Destination;
  /** Full chunks, oldest first. */
  #chunks: Chunk[] = [];
  /** The lines taken since the last chunk, UTF-8, and how many bytes and lines they are. */
  readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #lines = 0;
  /** Characters in the chunks, without the buffer. */
  #queued = 0;
  /** Lines of the chunk that is on its way; 0: none is. */
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

  /** The place in `buffer` for a line of at most `bytes`, which are far fewer than a chunk; -1: the line is dropped. Followed by `took` at once. */
  room(bytes: number): number {
    if (this.#closed || this.#queued + this.#used + bytes > this.#limit * (1 - URGENT_SHARE)) {
      this.lost += 1;
      return -1;
    }
    if (bytes > BUFFER_BYTES - this.#used) this.#cut();
    return this.#used;
  }

  /** The line that was put at `room` ends here, line break included. */
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
    // A character takes three bytes at most: what surely fits is written without asking how long it is.
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

  /** Opens the file anew under its name, after it was moved away. */
  reopen(): void {
    if (!this.#closed) this.#destination.reopen();
  }

  /** Writes everything now, before the process ends: the event loop does not come round again. */
  flushSync(): void {
    if (this.#closed) return;
    const rest = this.#takeAll();
    try {
      this.#destination.writeSync(rest.text);
    } catch {
      this.lost += rest.lines;
    }
  }

  /** Resolves when everything is written, or after a while with the rest counted as lost. Takes no more lines. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#settled(this.#options.closeMs ?? DEFAULT_CLOSE_MS);
    this.#closed = true;
    this.lost += this.#writing + this.#takeAll().lines;
    await this.#destination.close();
  }

  /** Resolves when nothing waits or is on its way, or when the time is over. */
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

  /** Hands over the next chunk, when none is on its way. */
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
    // What could not be written is still with the destination; an empty write makes it try again.
    this.#schedule(() => {
      if (!this.#closed && this.#failing) this.#destination.write('');
    }, RETRY_MS);
  }
}
