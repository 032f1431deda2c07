// Records how far the import of one input has come, in a file beside the reject file. With it, an
// import that was killed can be resumed without a duplicate or a gap.
//
// Every batch has a number and is committed under an idempotency key made from that number. The
// file is written only now and then, so it may be older than the last commits. For example, the
// file may name batch 7 as the next one although batches 7 and 8 are committed. The resumed import
// cuts batches 7 and 8 again in the same way, finds the answers that were stored under their keys,
// and does not insert them again.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { HedgerowError } from '../../../errors.ts';
import { nodeFs, writeFileAtomically } from '../../../storage/index.ts';
import type { Position } from '../line-batches.ts';

export interface ProgressState {
  readonly format: 'hedgerow-import';
  readonly version: 1;
  /** Part of all keys; new for every import that does not resume another import. */
  readonly id: string;
  readonly input: string;
  /**
   * Hash of the input's first bytes, as they are on disk. For uncompressed text it covers only
   * lines that are done, because later lines may be corrected before the import is resumed.
   */
  readonly head: { readonly bytes: number; readonly sha256: string };
  /** The target and how the input is read; both must be the same to resume. */
  readonly plan: string;
  readonly batchRows: number;
  /** The input is text. Unless it is compressed or decoded, offsets are bytes of the file. */
  readonly isText: boolean;
  /**
   * The input has an encoding other than UTF-8; offsets are bytes of the text converted to UTF-8.
   */
  readonly isDecoded?: boolean | undefined;
  /** Number of the next batch. */
  readonly number: number;
  readonly position: Position;
  readonly inserted: number;
  readonly rejected: number;
  /** Size in bytes of the part of the reject file that belongs to completed batches. */
  readonly rejectBytes: number;
  readonly done: boolean;
  /** When the state was recorded, in epoch milliseconds. */
  readonly at: number;
}

export type Done = Pick<ProgressState, 'number' | 'position' | 'inserted' | 'rejected' | 'rejectBytes'>;

/** Minimum time between two writes of the file while batches are recorded. */
const WRITE_EVERY_MS = 300;
/**
 * The longest pause after which an import can be resumed. Answers are kept under their keys for one
 * day; after that it cannot be determined whether a batch was committed.
 */
const LONGEST_PAUSE_MS = 23 * 3600 * 1000;
const HEAD_BYTES = 64 * 1024;

export class ProgressFile {
  readonly path: string;
  state: ProgressState;
  #writtenAt = 0;

  private constructor(path: string, state: ProgressState) {
    this.path = path;
    this.state = state;
  }

  /** Resolves when the file is durable: its id must be durable before the first key is used. */
  static async begin(
    path: string,
    facts: Pick<ProgressState, 'input' | 'plan' | 'isText' | 'isDecoded' | 'batchRows'>,
  ): Promise<ProgressFile> {
    const file = new ProgressFile(path, {
      format: 'hedgerow-import',
      version: 1,
      id: randomBytes(12).toString('base64url'),
      ...facts,
      head: headOf(facts.input, headBytes(facts, 0)),
      number: 0,
      position: { offset: 0, line: 1 },
      inserted: 0,
      rejected: 0,
      rejectBytes: 0,
      done: false,
      at: Date.now(),
    });
    await file.write();
    return file;
  }

  /**
   * Throws when the file is about another input, target or way of reading, or is too old, or when
   * the beginning of the input has changed.
   */
  static resume(path: string, state: ProgressState, facts: Pick<ProgressState, 'input' | 'plan'>): ProgressFile {
    const anew = `To start over, remove ${path}; what was inserted stays in the table.`;
    if (state.input !== facts.input) throw new Error(`${path} is about ${state.input}, not ${facts.input}. ${anew}`);
    if (state.plan !== facts.plan)
      throw new Error(
        `The import that ${path} is about had other flags or another target (${state.plan}). Give the same ones. ${anew}`,
      );
    const head = headOf(facts.input, state.head.bytes);
    if (head.sha256 !== state.head.sha256)
      throw new Error(`${facts.input} is no longer the file it was when its import began. ${anew}`);
    if (!state.done && Date.now() - state.at > LONGEST_PAUSE_MS)
      throw new Error(
        `The import was interrupted more than 23 hours ago at line ${state.position.line}, and it is no longer possible to find out whether the lines shortly after it are in the table. Look for them. ${anew}`,
      );
    return new ProgressFile(path, state);
  }

  keyOf(number: number): string {
    return `hedgerow-import-${this.state.id}-${number}`;
  }

  /** Records what is done. Writes the file only when it has not been written for a while. */
  async note(done: Done): Promise<void> {
    const { input, head } = this.state;
    const bytes = headBytes(this.state, done.position.offset);
    this.state = { ...this.state, ...done, head: bytes === head.bytes ? head : headOf(input, bytes), at: Date.now() };
    if (this.state.at - this.#writtenAt >= WRITE_EVERY_MS) await this.write();
  }

  /** Records that the whole input is in the table. */
  async finish(): Promise<void> {
    this.state = { ...this.state, done: true, at: Date.now() };
    await this.write();
  }

  async write(): Promise<void> {
    this.#writtenAt = Date.now();
    try {
      await writeFileAtomically(nodeFs, this.path, Buffer.from(`${JSON.stringify(this.state, null, 1)}\n`));
    } catch (error) {
      throw new Error(
        `The progress file ${this.path} cannot be written (${(error as NodeJS.ErrnoException).code}). Its folder is that of the reject file; --rejects names another one.`,
        { cause: error },
      );
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** Returns the state; undefined when there is no file. Throws when the file has another format. */
export function readProgress(path: string): ProgressState | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(
      `The progress file ${path} cannot be read (${code}). Move it away, or name another place with --rejects.`,
      {
        cause: error,
      },
    );
  }
  let state: Partial<ProgressState> | null = null;
  try {
    state = JSON.parse(text) as Partial<ProgressState>;
  } catch {
    // The error is thrown below.
  }
  const { position } = state ?? {};
  const numbers = [
    position?.offset,
    position?.line,
    state?.number,
    state?.rejectBytes,
    state?.batchRows,
    state?.at,
    state?.head?.bytes,
  ];
  if (state?.format === 'hedgerow-import' && state.version === 1 && numbers.every(Number.isSafeInteger))
    return state as ProgressState;
  throw new HedgerowError('invalid_input', `${path} is not a progress file of an import. Move it away.`);
}

/**
 * Returns the number of bytes at the beginning of the input to hash. For uncompressed text,
 * includes only lines that are done.
 */
function headBytes(
  { input, isText, isDecoded }: Pick<ProgressState, 'input' | 'isText' | 'isDecoded'>,
  offset: number,
): number {
  // A byte in any encoding becomes at most three bytes of UTF-8.
  const done = isDecoded === true ? Math.floor(offset / 3) : offset;
  return isText && !isPacked(input) ? Math.min(HEAD_BYTES, done) : HEAD_BYTES;
}

function isPacked(path: string): boolean {
  const file = nodeFs.open(path, 'read');
  try {
    const mark = Buffer.alloc(2);
    return file.read(mark, 0) === 2 && mark[0] === 0x1f && mark[1] === 0x8b;
  } finally {
    file.close();
  }
}

function headOf(path: string, most: number): ProgressState['head'] {
  const file = nodeFs.open(path, 'read');
  try {
    const bytes = Buffer.alloc(Math.min(most, file.size()));
    const count = file.read(bytes, 0);
    return { bytes: count, sha256: createHash('sha256').update(bytes.subarray(0, count)).digest('hex') };
  } finally {
    file.close();
  }
}
