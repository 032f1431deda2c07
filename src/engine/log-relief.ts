// Letting go of a log that grows by documents and stored answers alone, which no table's compaction threshold counts.

export interface LogReliefOptions {
  limitBytes: number;
  /** Bytes of all log files. */
  logBytes: () => number;
  /** Compacts all tables, which lets go of the log. */
  compact: () => Promise<unknown>;
  notice: (message: string, fields: Record<string, unknown>) => void;
}

export class LogRelief {
  readonly #options: LogReliefOptions;
  /** Not before the log is so large; doubled when a compaction could not let go of it (a damaged table needs it). */
  #nextBytes: number;
  #running = false;

  constructor(options: LogReliefOptions) {
    this.#options = options;
    this.#nextBytes = options.limitBytes;
  }

  /** To be called when something that belongs to no table was committed. */
  committed(): void {
    const { logBytes, notice } = this.#options;
    const bytes = logBytes();
    if (this.#running || bytes < this.#nextBytes) return;
    this.#running = true;
    notice('compacting: documents and stored answers have filled the log', { bytes });
    void this.#relieve();
  }

  async #relieve(): Promise<void> {
    const { limitBytes, logBytes, compact, notice } = this.#options;
    try {
      await compact();
    } catch (error) {
      notice('a compaction to shorten the log failed', { detail: (error as Error).message });
    } finally {
      this.#nextBytes = Math.max(limitBytes, logBytes() * 2);
      this.#running = false;
    }
  }
}
