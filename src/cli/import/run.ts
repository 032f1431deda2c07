// Runs an import: reads the inputs one after another, sends batches to the target with a bounded
// number of them in flight, and sets bad lines aside.

import { type BatchLimits, type LineBatch, lineBatches, lineText } from './line-batches.ts';
import type { ProgressFile } from './progress/progress-file.ts';
import type { Reject, RejectFiles } from './progress/rejects.ts';
import type { Source } from './source.ts';
import type { BatchTarget, Intake } from './targets/target.ts';

/** Why an import ended before the end of its input. */
export type Stop =
  | { why: 'bad_line'; file: string; line: number; reason: string }
  | { why: 'too_many'; most: number }
  | { why: 'interrupt' }
  | { why: 'failure'; error: unknown };

export interface Tally {
  /** Number of edges or nodes that are durable. */
  inserted: number;
  rejected: number;
  stop: Stop | undefined;
}

export interface RunOptions {
  target: BatchTarget;
  limits: BatchLimits;
  onError: 'stop' | 'skip';
  /**
   * If there are more bad lines than this, the import ends after the batches in flight. Undefined:
   * the number of bad lines is not limited.
   */
  maxRejects?: number | undefined;
  rejects: RejectFiles;
  /** Returns the path of the file for the bad lines of an input. */
  rejectPathOf(source: Source): string;
  onProgress(source: Source, tally: Readonly<Tally>): void;
  /**
   * Returns the batches of an input. When this function is left out, every input is read as NDJSON.
   */
  batchesOf?(source: Source): AsyncIterable<LineBatch>;
  /** Returns the file that records how far the import of an input has come. */
  progressOf?(source: Source): ProgressFile | undefined;
}

/** A batch in flight. */
interface UnderWay {
  readonly batch: LineBatch;
  readonly number: number;
  /**
   * Number of inserted lines; undefined when not all good lines of the batch are in the table, or
   * when that is unknown.
   */
  readonly inserted: Promise<number | undefined>;
}

export class ImportRun implements Intake {
  readonly stopAtFirst: boolean;
  readonly tally: Tally = { inserted: 0, rejected: 0, stop: undefined };
  readonly #options: RunOptions;
  #source: Source | undefined;
  readonly #rejects = new Map<LineBatch, Reject[]>();
  /** Index, in its batch, of the bad line at which the import stops. */
  #badIndex = 0;
  /**
   * True once a batch was not inserted completely. Later batches must then not be recorded as done.
   */
  #hasGap = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.stopAtFirst = options.onError === 'stop';
  }

  get closed(): boolean {
    return this.tally.stop !== undefined;
  }

  /** Ends the import after the batches in flight. */
  interrupt(): void {
    this.#stop({ why: 'interrupt' });
    this.#source?.close();
  }

  reject(batch: LineBatch, index: number, reason: string): void {
    const source = this.#source!;
    const line = batch.after(index - 1).line;
    const reject = { file: source.path, line, reason, text: lineText(batch, index) };
    const others = this.#rejects.get(batch);
    if (others === undefined) this.#rejects.set(batch, [reject]);
    else others.push(reject);
    this.tally.rejected++;
    if (this.stopAtFirst) {
      this.#badIndex = index;
      this.#stop({ why: 'bad_line', file: source.path, line, reason });
    }
    const { maxRejects } = this.#options;
    if (maxRejects !== undefined && this.tally.rejected > maxRejects) this.#stop({ why: 'too_many', most: maxRejects });
  }

  hasRejected(batch: LineBatch): boolean {
    return this.#rejects.has(batch);
  }

  /**
   * Imports the inputs in order. Records a failure in the tally instead of throwing it, because the
   * number of edges inserted before must be reported.
   */
  async take(sources: readonly Source[]): Promise<Tally> {
    for (const source of sources) {
      if (this.closed) break;
      this.#source = source;
      try {
        await this.#takeOne(source);
      } catch (error) {
        // An interrupt also makes reading fail, which does not count as a failure.
        if (this.tally.stop?.why !== 'interrupt') this.#stop({ why: 'failure', error });
      }
    }
    return this.tally;
  }

  async #takeOne(source: Source): Promise<void> {
    const { target, limits, batchesOf, progressOf, onProgress } = this.#options;
    const progress = progressOf?.(source);
    const underWay: UnderWay[] = [];
    let number = progress?.state.number ?? 0;
    try {
      for await (const batch of batchesOf?.(source) ?? lineBatches(source.chunks, limits)) {
        if (this.closed) break;
        if (batch.names !== undefined && batch.names.length > 0) await target.addNodes?.(batch.names);
        underWay.push({ batch, number, inserted: this.#insert(batch, progress?.keyOf(number)) });
        number++;
        if (underWay.length >= target.window) await this.#settle(source, underWay.shift()!, progress);
        onProgress(source, this.tally);
      }
    } finally {
      // Awaits and counts every batch in flight, also after a failure.
      for (const each of underWay) await this.#settle(source, each, progress);
      await progress?.write();
    }
    if (!this.closed) await progress?.finish();
  }

  /** Inserts a batch. Never throws: a failure stops the import. */
  async #insert(batch: LineBatch, key: string | undefined): Promise<number | undefined> {
    try {
      const inserted = await this.#options.target.insert(batch, this, key);
      this.tally.inserted += inserted ?? 0;
      return inserted;
    } catch (error) {
      this.#stop({ why: 'failure', error });
      return undefined;
    }
  }

  /** Records the result of a batch; must be called in the order of the batches. */
  async #settle(
    source: Source,
    { batch, number, inserted }: UnderWay,
    progress: ProgressFile | undefined,
  ): Promise<void> {
    const rows = await inserted;
    const path = this.#options.rejectPathOf(source);
    const rejects = this.#rejects.get(batch) ?? [];
    this.#rejects.delete(batch);
    const { rejects: files } = this.#options;
    if (progress === undefined) return files.add(path, rejects);
    if (rows === undefined) this.#hasGap = true;
    const stopsHere = this.stopAtFirst && rejects.length > 0;
    // The line at which this import stops is not counted yet, because a resumed import reads it
    // again.
    const rejectBytes = stopsHere ? await files.bytesOf(path) : undefined;
    await files.add(path, rejects);
    if (this.#hasGap) return;
    const { state } = progress;
    await progress.note({
      number: number + 1,
      position: batch.after(stopsHere ? this.#badIndex - 1 : batch.count - 1),
      inserted: state.inserted + rows!,
      rejected: state.rejected + (stopsHere ? 0 : rejects.length),
      rejectBytes: rejectBytes ?? (await files.bytesOf(path)),
    });
    if (stopsHere) this.#hasGap = true;
  }

  /**
   * Keeps the first reason, but a failure replaces any other. Otherwise the text for `bad_line`
   * would claim that all lines before it are inserted.
   */
  #stop(stop: Stop): void {
    const known = this.tally.stop;
    if (known === undefined || (stop.why === 'failure' && known.why !== 'failure')) this.tally.stop = stop;
  }
}

/** Describes why the import stopped, and what has been inserted. */
export function stopText(stop: Stop): string {
  switch (stop.why) {
    case 'bad_line':
      return `line ${stop.line} of ${stop.file}: ${stop.reason} Stopped there; the lines before it are inserted.`;
    case 'too_many':
      return `More than ${stop.most} ${stop.most === 1 ? 'line was' : 'lines were'} rejected (--max-rejects); what was inserted so far stays.`;
    case 'interrupt':
      return 'interrupted; what was inserted so far stays.';
    case 'failure':
      return stop.error instanceof Error ? stop.error.message : String(stop.error);
  }
}
