// Numbers by place, 0 at first, with room for more and more. The room that comes next is made ready bit by bit: the system takes milliseconds to hand out
// megabytes of fresh memory, and many of these grow at the same moment.

const FIRST_ROOM = 64;
/** Rooms up to here are taken as they are needed. */
const SMALL_ROOM = 2 ** 16;

export class GrowingNumbers {
  values: Float64Array = new Float64Array(FIRST_ROOM);
  /** Twice as large; the first #ready of it were touched. */
  #next: Float64Array | undefined;
  #ready = 0;

  /** That it takes. */
  get bytes(): number {
    return this.values.byteLength + (this.#next?.byteLength ?? 0);
  }

  /** Makes room for places below `count`. To be called often, with counts that grow little by little. */
  reserve(count: number): void {
    const room = this.values.length;
    if (count > room) this.#grow(count);
    else if (room >= SMALL_ROOM && 2 * count > room) this.#prepare(count, room);
  }

  /** All is ready when three quarters of the present room are taken. */
  #prepare(count: number, room: number): void {
    this.#next ??= new Float64Array(2 * room);
    const due = Math.min(2 * room, (2 * count - room) * 4);
    if (due <= this.#ready) return;
    this.#next.fill(0, this.#ready, due);
    this.#ready = due;
  }

  #grow(count: number): void {
    const next = this.#next;
    const larger =
      next !== undefined && next.length >= count ? next : new Float64Array(roomFor(count, this.values.length));
    larger.set(this.values);
    this.values = larger;
    this.#next = undefined;
    this.#ready = 0;
  }
}

/** Doubled until it is enough. */
function roomFor(count: number, room: number): number {
  let enough = room;
  while (enough < count) enough *= 2;
  return enough;
}
