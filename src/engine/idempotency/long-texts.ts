// A map keyed by long strings. V8 hashes strings of more than 16,383 characters by their length
// alone: a map with many keys of equal length compares each with all others, which takes seconds
// for a thousand keys with a common prefix. Long strings are therefore cut into chunks that V8
// hashes completely, with its per-process seed. Each distinct chunk gets a number, and a string is
// identified by the numbers of its chunks.

/** Longer strings belong in this map (String::kMaxHashCalcLength of V8). */
export const LONGEST_HASHED = 16_383;

export class LongTexts<V> {
  /** Chunk numbers; they stay when strings are deleted. */
  readonly #chunks = new Map<string, number>();
  readonly #values = new Map<string, V>();

  get size(): number {
    return this.#values.size;
  }

  get(text: string): V | undefined {
    const key = this.#keyOf(text, false);
    return key === undefined ? undefined : this.#values.get(key);
  }

  has(text: string): boolean {
    const key = this.#keyOf(text, false);
    return key !== undefined && this.#values.has(key);
  }

  set(text: string, value: V): void {
    this.#values.set(this.#keyOf(text, true)!, value);
  }

  delete(text: string): boolean {
    const key = this.#keyOf(text, false);
    return key !== undefined && this.#values.delete(key);
  }

  /**
   * The chunk numbers of a string, which identify it uniquely. Undefined if a chunk is unknown and
   * `takes` is false.
   */
  #keyOf(text: string, takes: boolean): string | undefined {
    let key = '';
    for (let at = 0; at < text.length; at += LONGEST_HASHED) {
      const chunk = text.slice(at, at + LONGEST_HASHED);
      let number = this.#chunks.get(chunk);
      if (number === undefined) {
        if (!takes) return undefined;
        number = this.#chunks.size;
        this.#chunks.set(chunk, number);
      }
      key += `${number} `;
    }
    return key;
  }
}
