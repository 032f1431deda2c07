// Manages the progress files of all inputs of one import. With `--resume` existing files are used,
// otherwise new ones are begun; all are removed when the import is complete.

import { dirname, join } from 'node:path';
import { HedgerowError } from '../../../errors.ts';
import type { Input } from '../inputs.ts';
import { type BatchLimits, type Position, START } from '../line-batches.ts';
import type { ImportFlags } from '../options.ts';
import type { Stop, Tally } from '../run.ts';
import type { Source } from '../source.ts';
import { ServerRefusal } from '../targets/server-client.ts';
import type { BatchTarget } from '../targets/target.ts';
import { ProgressFile, type ProgressState, readProgress } from './progress-file.ts';
import type { RejectFiles } from './rejects.ts';

type RejectPathOf = (source: Source) => string;

export interface ProgressOptions {
  readonly flags: ImportFlags;
  readonly limits: BatchLimits;
  /** Returns the target of an input. */
  readonly targetOf: (input: Input) => Pick<BatchTarget, 'place' | 'tableName'>;
  /** The result of `findProgress`, of the inputs that are imported. */
  readonly found: readonly FoundProgress[];
}

/** The progress file, in its state before this import, of an input that can be read again. */
export interface FoundProgress {
  readonly input: Input;
  readonly path: string;
  readonly rejectPath: string;
  readonly state: ProgressState | undefined;
}

/**
 * The target of the import, before anything is created there. Without `table`, the primary table;
 * without `nodeTable`, a node table that follows from the table.
 */
export interface Wanted {
  readonly place: string;
  readonly table: string | undefined;
  readonly nodeTable: string | undefined;
}

/**
 * Finds the progress files of the inputs. Throws when an import was interrupted and is not being
 * resumed, or went into another table.
 */
export function findProgress(
  inputs: readonly Input[],
  resumes: boolean,
  wanted: Wanted,
  rejectPathOf: RejectPathOf,
): FoundProgress[] {
  const found = inputs
    .filter(({ source }) => source.totalBytes !== undefined)
    .map((input) => {
      const path = pathOf(input.source, inputs, rejectPathOf);
      return { input, path, rejectPath: rejectPathOf(input.source), state: readProgress(path) };
    });
  for (const { path, state, input } of found) {
    if (state === undefined) continue;
    const target = targetOf(state);
    const anew = `remove ${path} to start over, which inserts its lines again`;
    const table = input.holds === 'nodes' ? wanted.nodeTable : wanted.table;
    if (target.place !== wanted.place || (table !== undefined && target.table.toLowerCase() !== table.toLowerCase()))
      throw new Error(
        `${path} is about an import of ${state.input} into ${target.table} at ${target.place}, which was interrupted before line ${state.position.line}; this one goes elsewhere. Finish that one with its own flags and --resume, or remove the file, or name another folder for the files of this one with --rejects FOLDER/FILE.`,
      );
    if (!resumes)
      throw new Error(
        `An import of ${state.input} into ${target.table} was interrupted before line ${state.position.line}. Go on with --resume, past bad lines with --resume --on-error skip; or ${anew}.`,
      );
  }
  return found;
}

function targetOf({ plan }: ProgressState): { table: string; place: string } {
  const [, table = '?', place = '?'] = /^into (\w+) at (.*?), as (?:csv|ndjson|parquet|hif)\b/.exec(plan) ?? [];
  return { table, place };
}

/** Flags that determine how an input is read; with another value the edges would differ. */
const READING = [
  'tsColumn',
  'tsFormat',
  'endColumn',
  'memberColumns',
  'memberColumn',
  'separator',
  'memberIds',
  'role',
  'propertyColumns',
  'types',
  'delimiter',
  'decimal',
  'header',
  'columns',
  'encoding',
  'ts',
  'nodes',
  'key',
  'nodeTable',
] as const;

export class ProgressFiles {
  readonly limits: BatchLimits;
  readonly #options: ProgressOptions;
  readonly #files = new Map<Source, ProgressFile>();

  private constructor(options: ProgressOptions, limits: BatchLimits) {
    this.#options = options;
    this.limits = limits;
  }

  /**
   * Throws when an interrupted import cannot be resumed. Inputs that cannot be read again have no
   * progress file.
   */
  static async open(options: ProgressOptions): Promise<ProgressFiles> {
    const { found, limits } = options;
    const rows = found.find(({ state }) => state !== undefined)?.state?.batchRows ?? limits.rows;
    const files = new ProgressFiles(options, { ...limits, rows });
    for (const { input, path, state } of found) {
      const facts = factsOf(input, options);
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
    for (const { input, rejectPath } of this.#options.found) {
      const now = this.#files.get(input.source)?.state.rejectBytes ?? 0;
      bytes.set(rejectPath, Math.max(bytes.get(rejectPath) ?? 0, now));
    }
    for (const [path, count] of bytes) await rejects.resume(path, count);
  }

  /** Removes all files; called when all inputs have been read to their ends. */
  remove(): void {
    for (const file of this.#files.values()) file.remove();
  }

  /** Removes the files when it is certain that nothing was inserted. */
  forgetUnbegun(stop: Stop | undefined): void {
    const isCertain =
      stop?.why !== 'failure' || stop.error instanceof HedgerowError || stop.error instanceof ServerRefusal;
    const isUnbegun = [...this.#files.values()].every(({ state }) => state.inserted === 0 && !state.done);
    if (!isCertain || !isUnbegun) return;
    this.remove();
    this.#files.clear();
  }

  /** Returns the sentence that explains how to resume after a stop. */
  adviceFor({ stop, inserted }: Tally): string {
    const isBadLine = stop?.why === 'bad_line';
    if (this.#files.size > 0)
      return isBadLine
        ? ' To go on there: mend the line and give the same call with --resume, or leave bad lines out with --resume --on-error skip.'
        : ' To go on there: the same call with --resume.';
    if (!isBadLine) return '';
    return inserted === 0
      ? ' The same call with --on-error skip sets bad lines aside and goes on.'
      : ' Give what follows in another call; --on-error skip sets bad lines aside and goes on.';
  }
}

function pathOf(source: Source, inputs: readonly Input[], rejectPathOf: RejectPathOf): string {
  const alike = inputs.filter((input) => input.source.label === source.label);
  const number = alike.length === 1 ? '' : `.${alike.findIndex((input) => input.source === source) + 1}`;
  return join(dirname(rejectPathOf(source)), `${source.label}${number}.progress.json`);
}

function factsOf(input: Input, { flags, targetOf }: ProgressOptions) {
  const { source, format } = input;
  const target = targetOf(input);
  const reading = READING.flatMap((name) =>
    flags[name] === undefined || flags[name] === true ? [] : [`${name} ${flags[name]}`],
  );
  return {
    input: source.path,
    isText: format === 'csv' || format === 'ndjson',
    isDecoded: source.decodedFrom() !== undefined,
    plan: [`into ${target.tableName} at ${target.place}`, `as ${format}`, ...reading].join(', '),
  };
}
