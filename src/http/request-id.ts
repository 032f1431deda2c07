// Identifies each request: by the id that the client sent if it is acceptable, otherwise by a
// random prefix and a counter.

import { maskPatterns } from '../observe/redact.ts';

const LONGEST = 128;

/** The last three digits of numbers from 1,000 on, as text. */
const LAST_DIGITS: readonly string[] = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

/** Ids are unique in this process and, thanks to the prefix, very likely elsewhere. */
export class RequestIds {
  /** Precedes the number of the request. */
  readonly prefix: string;
  #count = 0;
  #thousands = 0;
  /** Start of the ids of the current thousand. */
  #beginning = '';

  constructor(random: string) {
    this.prefix = `${random}-`;
  }

  nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }

  /**
   * Returns the text of a generated id. It is assembled from cached pieces: if each number were
   * converted to text, the JavaScript engine's cache would keep the texts until they reach the old
   * generation of the heap.
   */
  textOf(requestNumber: number): string {
    if (requestNumber < LAST_DIGITS.length) return this.prefix + requestNumber;
    const thousands = Math.floor(requestNumber / LAST_DIGITS.length);
    if (thousands !== this.#thousands) {
      this.#thousands = thousands;
      this.#beginning = this.prefix + thousands;
    }
    return this.#beginning + LAST_DIGITS[requestNumber % LAST_DIGITS.length]!;
  }
}

/**
 * Returns true if an id of a client is acceptable. It must be printable ASCII: the id is returned
 * in a header, where a line break would start another header. It must not look like a key, since
 * ids are logged.
 */
export function isSaneId(id: string): boolean {
  if (id === '' || id.length > LONGEST) return false;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return maskPatterns(id) === id;
}
