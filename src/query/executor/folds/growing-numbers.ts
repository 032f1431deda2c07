// A growing array of numbers that are 0 at first. The system takes milliseconds to provide
// megabytes of fresh memory, and many such arrays grow at the same moment. Therefore the next,
// larger array is zeroed piece by piece in advance.

const FIRST_ROOM = 64;
/** Arrays up to this length are allocated when needed. */
const SMALL_ROOM = 2 ** 16;

export class GrowingNumbers {
  values: Float64Array = new Float64Array(FIRST_ROOM);
  /** The next array, twice as large; its first `#ready` numbers are zeroed. */
  #next: Float64Array | undefined;
  #ready = 0;

  /** Size in bytes of both arrays. */
  get bytes(): number {
    return this.values.byteLength + (this.#next?.byteLength ?? 0);
  }

  /**
   * Makes room for places below `count`. The caller should call this often, with slowly growing
   * counts.
   */
  reserve(count: number): void {
    const room = this.values.length;
    if (count > room) this.#grow(count);
    else if (room >= SMALL_ROOM && 2 * count > room) this.#prepare(count, room);
  }

  /**
   * Zeroes a part of the next array. It is completely zeroed when three quarters of the current
   * array are used.
   */
  #prepare(count: number, room: number): void {
    this.#next ??= unzeroed(2 * room);
    const due = Math.min(2 * room, (2 * count - room) * 4);
    if (due <= this.#ready) return;
    this.#next.fill(0, this.#ready, due);
    this.#ready = due;
  }

  #grow(count: number): void {
    const next = this.#next;
    let larger: Float64Array;
    if (next === undefined || next.length < count) larger = new Float64Array(roomFor(count, this.values.length));
    else {
      larger = next;
      larger.fill(0, this.#ready);
    }
    larger.set(this.values);
    this.values = larger;
    this.#next = undefined;
    this.#ready = 0;
  }
}

/**
 * Returns an array with arbitrary contents. Allocating a zeroed one of 16 MB can take 28 ms: the C
 * library zeroes memory that it has used before at once.
 */
function unzeroed(length: number): Float64Array {
  return new Float64Array(Buffer.allocUnsafeSlow(length * Float64Array.BYTES_PER_ELEMENT).buffer, 0, length);
}

/** Doubles `room` until it is at least `count`. */
function roomFor(count: number, room: number): number {
  let enough = room;
  while (enough < count) enough *= 2;
  return enough;
}
