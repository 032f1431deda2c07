// How far an import of one input is, kept in a file beside its reject file, so that an import that
// was killed is resumed without a duplicate or a gap.
//
// Every batch has a number, and is committed together with a key made from it. The file is written
// now and then, behind the commits: batches that were committed since are cut the same way again,
// and what was stored under their keys says that they are there.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { HedgerowError } from '../../../errors.ts';
import { nodeFs, writeFileAtomically } from '../../../storage/index.ts';
import type { Position } from '../line-batches.ts';

export interface ProgressState {
  readonly format: 'hedgerow-import';
  readonly version: 1;
  /** Part of all keys; new for every import that does not resume another. */
  readonly id: string;
  readonly input: string;
  /**
   * Of the input's first bytes, as they are on disk; of lines only those that were done: later ones
   * may be corrected before the import is resumed.
   */
  readonly head: { readonly bytes: number; readonly sha256: string };
  /** Where to, and how the input is read: to resume, both must be the same. */
  readonly plan: string;
  readonly batchRows: number;
  /** The input is text, and offsets are bytes of it as long as it is not packed. */
  readonly isText: boolean;
  /** Offsets are bytes of the text in UTF-8, and the input has another encoding. */
  readonly isDecoded?: boolean | undefined;
  /** Of the next batch. */
  readonly number: number;
  readonly position: Position;
  readonly inserted: number;
  readonly rejected: number;
  /** Bytes of the reject file that belong to what was done. */
  readonly rejectBytes: number;
  readonly done: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type Done = Pick<ProgressState, 'number' | 'position' | 'inserted' | 'rejected' | 'rejectBytes'>;

/** How long commits may be ahead of the file. */
const WRITE_EVERY_MS = 300;
/**
 * Answers are kept under their keys for a day: after that nobody can tell whether a batch is there.
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

  /** Durable when it resolves: the id must be before the first key is used. */
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
   * Throws when the input, the target or the way of reading are not those of the file, or when it
   * is too old.
   */
  static resume(path: string, state: ProgressState, facts: Pick<ProgressState, 'input' | 'plan'>): ProgressFile {
    const anew = `To begin anew, remove ${path}; what was inserted stays in the table.`;
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
        `The import was interrupted more than 23 hours ago at line ${state.position.line}, and whether lines shortly behind that are in the table cannot be told any more. Look for them. ${anew}`,
      );
    return new ProgressFile(path, state);
  }

  keyOf(number: number): string {
    return `hedgerow-import-${this.state.id}-${number}`;
  }

  /** Remembers what was done, and writes it when it was not written for a while. */
  async note(done: Done): Promise<void> {
    const { input, head } = this.state;
    const bytes = headBytes(this.state, done.position.offset);
    this.state = { ...this.state, ...done, head: bytes === head.bytes ? head : headOf(input, bytes), at: Date.now() };
    if (this.state.at - this.#writtenAt >= WRITE_EVERY_MS) await this.write();
  }

  /** All of the input is in the table. */
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
        `The progress file ${this.path} cannot be written (${(error as NodeJS.ErrnoException).code}). It stands beside the reject file; --rejects names another place.`,
        { cause: error },
      );
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** Undefined: there is none. Throws for what is no such file. */
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
    // Told below.
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
  throw new HedgerowError('invalid_input', `${path} is no progress file of an import. Move it away.`);
}

/** Of text that is not packed, what is done. */
function headBytes(
  { input, isText, isDecoded }: Pick<ProgressState, 'input' | 'isText' | 'isDecoded'>,
  offset: number,
): number {
  // A byte of any encoding becomes three of UTF-8, at most.
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
