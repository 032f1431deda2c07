// The progress files of all inputs of one import: found again with `--resume`, begun otherwise, gone when all is done.

import { dirname, join } from 'node:path';
import { HedgerowError } from '../../errors.ts';
import type { Input } from './inputs.ts';
import { type BatchLimits, type Position, START } from './line-batches.ts';
import type { ImportFlags } from './options.ts';
import { ProgressFile, readProgress } from './progress-file.ts';
import type { RejectFiles } from './rejects.ts';
import type { Stop } from './run.ts';
import { ServerRefusal } from './server-client.ts';
import type { Source } from './source.ts';
import type { ImportTarget } from './target.ts';

export interface ProgressOptions {
  readonly flags: ImportFlags;
  readonly limits: BatchLimits;
  readonly target: Pick<ImportTarget, 'place' | 'tableName'>;
  rejectPathOf(source: Source): string;
}

/** Flags that say how an input is read: another value gives other edges. */
const READING = [
  'tsColumn',
  'tsFormat',
  'memberColumns',
  'memberColumn',
  'separator',
  'memberIds',
  'propertyColumns',
  'types',
  'delimiter',
] as const;

export class ProgressFiles {
  readonly limits: BatchLimits;
  readonly #options: ProgressOptions;
  readonly #files = new Map<Source, ProgressFile>();

  private constructor(options: ProgressOptions, limits: BatchLimits) {
    this.#options = options;
    this.limits = limits;
  }

  /** Throws when an import was interrupted and is not to be gone on with, or cannot be. Inputs that cannot be read again have no file. */
  static async open(inputs: readonly Input[], options: ProgressOptions): Promise<ProgressFiles> {
    const { flags, limits } = options;
    const places = inputs
      .filter(({ source }) => source.totalBytes !== undefined)
      .map((input) => ({ input, path: pathOf(input.source, inputs, options), facts: factsOf(input, options) }));
    const found = places.map(({ path }) => readProgress(path));
    const old = found.findIndex((state) => state !== undefined);
    if (old >= 0 && flags.resume !== true) {
      const { path } = places[old]!;
      const { position, input } = found[old]!;
      throw new Error(
        `An import of ${input} was interrupted before line ${position.line}. Go on with --resume; or remove ${path} to begin anew, which inserts its lines again.`,
      );
    }
    const rows = found[old]?.batchRows ?? limits.rows;
    const files = new ProgressFiles(options, { ...limits, rows });
    for (const [at, { input, path, facts }] of places.entries()) {
      const state = found[at];
      const file =
        state === undefined
          ? await ProgressFile.begin(path, { ...facts, batchRows: rows })
          : ProgressFile.resume(path, state, facts);
      files.#files.set(input.source, file);
    }
    return files;
  }

  of(source: Source): ProgressFile | undefined {
    return this.#files.get(source);
  }

  startOf(source: Source): Position {
    return this.#files.get(source)?.state.position ?? START;
  }

  isDone(source: Source): boolean {
    return this.#files.get(source)?.state.done === true;
  }

  async resumeRejects(rejects: RejectFiles): Promise<void> {
    const bytes = new Map<string, number>();
    for (const [source, { state }] of this.#files) {
      const path = this.#options.rejectPathOf(source);
      bytes.set(path, Math.max(bytes.get(path) ?? 0, state.rejectBytes));
    }
    for (const [path, count] of bytes) await rejects.resume(path, count);
  }

  /** All inputs are read to their ends. */
  remove(): void {
    for (const file of this.#files.values()) file.remove();
  }

  /** Removes the files where it is certain that nothing was inserted. */
  forgetUnbegun(stop: Stop | undefined): void {
    const isCertain =
      stop?.why !== 'failure' || stop.error instanceof HedgerowError || stop.error instanceof ServerRefusal;
    const isUnbegun = [...this.#files.values()].every(({ state }) => state.inserted === 0 && !state.done);
    if (!isCertain || !isUnbegun) return;
    this.remove();
    this.#files.clear();
  }

  /** How to go on. */
  get advice(): string {
    return this.#files.size === 0 ? '' : ' To go on there: the same call with --resume.';
  }
}

function pathOf(source: Source, inputs: readonly Input[], { rejectPathOf }: ProgressOptions): string {
  const alike = inputs.filter((input) => input.source.label === source.label);
  const number = alike.length === 1 ? '' : `.${alike.findIndex((input) => input.source === source) + 1}`;
  return join(dirname(rejectPathOf(source)), `${source.label}${number}.progress.json`);
}

function factsOf({ source, format }: Input, { flags, target }: ProgressOptions) {
  const reading = READING.flatMap((name) => (flags[name] === undefined ? [] : [`${name} ${flags[name]}`]));
  return {
    input: source.path,
    isText: format === 'csv' || format === 'ndjson',
    plan: [`into ${target.tableName} at ${target.place}`, `as ${format}`, ...reading].join(', '),
  };
}
