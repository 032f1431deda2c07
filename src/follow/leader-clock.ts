// Translates times of the leader's clock into times of this process's clock.

/**
 * How much earlier than the leader's next reading a time may lie: both clocks are read in whole
 * milliseconds or finer.
 */
const TOLERANCE_MS = 2;

/** Both clocks are monotonic, in milliseconds, and begin anywhere. */
export class LeaderClock {
  readonly #askedMs: number;
  #offsetMs: number | undefined;

  /** `askedMs` is when the request was sent, by this process's clock. */
  constructor(askedMs: number) {
    this.#askedMs = askedMs;
  }

  /** Whether the leader has sent its time. */
  get isKnown(): boolean {
    return this.#offsetMs !== undefined;
  }

  /**
   * Returns a time of this process's clock that is not after the moment at which the leader's clock
   * showed `leaderMs`. The first time that the leader sends was read after the request was sent, so
   * it counts as read at that moment; later ones are as far from it as the leader's clock says. An
   * age computed from the result is therefore too great by at most the time until the leader read
   * its clock for the first time, and never too small.
   *
   * Returns undefined if the result would lie in the future: this process's clock has stood still,
   * as it does while a machine is suspended.
   */
  local(leaderMs: number, nowMs: number): number | undefined {
    this.#offsetMs ??= this.#askedMs - leaderMs;
    const local = leaderMs + this.#offsetMs;
    return local > nowMs + TOLERANCE_MS ? undefined : Math.min(local, nowMs);
  }
}
