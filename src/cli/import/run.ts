// Runs an import: inputs one after another, batches through the target with a bounded number under way, bad lines aside.

import { type BatchLimits, type LineBatch, lineBatches, lineText } from './line-batches.ts';
import type { RejectFiles } from './rejects.ts';
import type { Source } from './source.ts';
import type { ImportTarget, Intake } from './target.ts';

/** Why an import ended before the end of its input. */
export type Stop =
  | { why: 'bad_line'; file: string; line: number; reason: string }
  | { why: 'interrupt' }
  | { why: 'failure'; error: unknown };

export interface Tally {
  /** Edges that are durable. */
  inserted: number;
  rejected: number;
  stop: Stop | undefined;
}

export interface RunOptions {
  target: ImportTarget;
  limits: BatchLimits;
  onError: 'stop' | 'skip';
  rejects: RejectFiles;
  /** Where bad lines of an input go. */
  rejectPathOf(source: Source): string;
  onProgress(source: Source, tally: Readonly<Tally>): void;
}

export class ImportRun implements Intake {
  readonly stopAtFirst: boolean;
  readonly tally: Tally = { inserted: 0, rejected: 0, stop: undefined };
  readonly #options: RunOptions;
  #source: Source | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.stopAtFirst = options.onError === 'stop';
  }

  get closed(): boolean {
    return this.tally.stop !== undefined;
  }

  /** Ends the import after the batches that are under way. */
  interrupt(): void {
    this.#stop({ why: 'interrupt' });
    this.#source?.close();
  }

  reject(batch: LineBatch, index: number, reason: string): void {
    const source = this.#source!;
    const line = batch.firstLine + index;
    const { rejects, rejectPathOf } = this.#options;
    rejects.add(rejectPathOf(source), { file: source.path, line, reason, text: lineText(batch, index) });
    this.tally.rejected++;
    if (this.stopAtFirst) this.#stop({ why: 'bad_line', file: source.path, line, reason });
  }

  /** Takes the inputs in order. Failures are in the tally, not thrown: what was inserted before must be said. */
  async take(sources: readonly Source[]): Promise<Tally> {
    for (const source of sources) {
      if (this.closed) break;
      this.#source = source;
      try {
        await this.#takeOne(source);
      } catch (error) {
        // An interrupt cuts the input off; that is no failure of its own.
        if (this.tally.stop?.why !== 'interrupt') this.#stop({ why: 'failure', error });
      }
    }
    return this.tally;
  }

  async #takeOne(source: Source): Promise<void> {
    const { target, limits, rejects, onProgress } = this.#options;
    const underWay: Promise<void>[] = [];
    try {
      for await (const batch of lineBatches(source.chunks, limits)) {
        if (this.closed) break;
        underWay.push(this.#insert(batch));
        if (underWay.length >= target.window) await underWay.shift();
        await rejects.flush();
        onProgress(source, this.tally);
      }
    } finally {
      // Also after a failure: what is under way becomes durable or fails, and is counted.
      await Promise.all(underWay);
      await rejects.flush();
    }
  }

  /** Never rejects: a failure stops the import. */
  async #insert(batch: LineBatch): Promise<void> {
    try {
      const inserted = await this.#options.target.insert(batch, this);
      this.tally.inserted += inserted;
    } catch (error) {
      this.#stop({ why: 'failure', error });
    }
  }

  /** The first reason stays, but a failure is more: then lines before a bad one may be missing. */
  #stop(stop: Stop): void {
    const known = this.tally.stop;
    if (known === undefined || (stop.why === 'failure' && known.why !== 'failure')) this.tally.stop = stop;
  }
}

/** How a stop is told: one sentence, and what to do. */
export function stopText(stop: Stop): string {
  switch (stop.why) {
    case 'bad_line':
      return `line ${stop.line} of ${stop.file}: ${stop.reason} Stopped there; the lines before it are inserted. --on-error skip sets bad lines aside and goes on.`;
    case 'interrupt':
      return 'interrupted; what was inserted so far stays.';
    case 'failure':
      return stop.error instanceof Error ? stop.error.message : String(stop.error);
  }
}
