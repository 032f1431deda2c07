// Values by long texts, as a map has them. V8 takes the length alone for the hash of a text of more than 16,383 characters: a map of many of one length
// compares each with all before it, which takes seconds for a thousand that begin alike.

/** Longer texts belong here (String::kMaxHashCalcLength of V8). */
export const LONGEST_HASHED = 16_383;

/** Of this process: who chooses texts cannot choose them so that they have one hash. */
const [SEED, FACTOR] = crypto.getRandomValues(new Int32Array(2)) as unknown as readonly [number, number];
const ODD_FACTOR = FACTOR | 1;

function hashOf(text: string): number {
  let hash = SEED;
  for (let i = 0, end = text.length; i < end; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), ODD_FACTOR);
    hash ^= hash >>> 15;
  }
  return hash;
}

export class LongTexts<V> {
  /** Texts of one hash, which two hardly ever have, with their values. */
  readonly #byHash = new Map<number, [text: string, value: V][]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(text: string): V | undefined {
    return this.#byHash.get(hashOf(text))?.find(([known]) => known === text)?.[1];
  }

  has(text: string): boolean {
    return this.#byHash.get(hashOf(text))?.some(([known]) => known === text) === true;
  }

  set(text: string, value: V): void {
    const hash = hashOf(text);
    const entries = this.#byHash.get(hash);
    const entry = entries?.find(([known]) => known === text);
    if (entry !== undefined) entry[1] = value;
    else {
      this.#size++;
      if (entries === undefined) this.#byHash.set(hash, [[text, value]]);
      else entries.push([text, value]);
    }
  }

  delete(text: string): boolean {
    const hash = hashOf(text);
    const entries = this.#byHash.get(hash);
    const place = entries?.findIndex(([known]) => known === text) ?? -1;
    if (place === -1) return false;
    this.#size--;
    if (entries!.length === 1) this.#byHash.delete(hash);
    else entries!.splice(place, 1);
    return true;
  }
}
