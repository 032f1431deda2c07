// Reads a body some megabytes ahead of its consumer.
//
// Node's fetch is slow and holds more and more when each chunk is waited for in turn: at every
// pause it puts back what it has read and reads some more on top (undici, all versions tried). Read
// in bursts, a stream keeps its speed and its memory.

/**
 * Bytes that wait to be taken: at most this and one chunk; reading begins again when this few are
 * left.
 */
const MOST_BYTES = 4 * 2 ** 20;
const FEW_BYTES = 2 ** 20;
/** Chunks that were taken are released this many at a time. */
const MOST_TAKEN = 64;

/**
 * The chunks of a body. Throws what reading it throws, after all chunks that came before. Leaving
 * the loop early cancels the body.
 */
export async function* readAhead(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const ahead = new Ahead(reader);
  void ahead.fill();
  try {
    for (let chunk = await ahead.take(); chunk !== undefined; chunk = await ahead.take()) yield chunk;
  } finally {
    ahead.stop();
    // What was read to its end, or broke off, has nothing left to cancel.
    reader.cancel().catch(() => {});
  }
}

class Ahead {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #taken = 0;
  #bytes = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  /** Who waits for a chunk, and the reading that waits for room. */
  #onChunk: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async fill(): Promise<void> {
    try {
      while (!this.#ended) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#chunks.push(value);
        this.#bytes += value.length;
        this.#onChunk?.();
        if (this.#bytes >= MOST_BYTES) await new Promise<void>((resolve) => (this.#onRoom = resolve));
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.stop();
  }

  /** Undefined after the last one. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#taken === this.#chunks.length) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return undefined;
      this.#chunks = [];
      this.#taken = 0;
      await new Promise<void>((resolve) => (this.#onChunk = resolve));
    }
    const chunk = this.#chunks[this.#taken]!;
    this.#taken++;
    this.#bytes -= chunk.length;
    if (this.#taken === MOST_TAKEN) {
      this.#chunks.splice(0, this.#taken);
      this.#taken = 0;
    }
    if (this.#bytes <= FEW_BYTES) this.#onRoom?.();
    return chunk;
  }

  stop(): void {
    this.#ended = true;
    this.#onChunk?.();
    this.#onRoom?.();
  }
}
