// Answers with the result of a statement, or collects its rows for another answer.

import { refusal } from '../errors.ts';
import {
  type AnswerFormat,
  type AnswerFrame,
  type AnswerText,
  type ChunkSource,
  checkDeadline,
  OPENINGS,
  type Reply,
  type ReplyFacts,
  writeAnswer,
} from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import {
  isoValues,
  JsonSink,
  type RowKeys,
  rowKeys,
  type StatementResult,
  typesOfAnswer,
  writeChunk,
} from '../query/index.ts';
import type { Call } from './application.ts';
import { headBytes, LONGEST_TAIL, writeTail } from './result-frame.ts';

/**
 * A step ends after STEP_MS milliseconds, so that other sockets are served, or after it has written
 * about PIECE_BYTES of text.
 */
const STEP_MS = 2;
const PIECE_BYTES = 64 * 1024;
/** Maximum total size in bytes of the rows that the operations of a batch may return. */
export const MOST_COLLECTED = 16 * 2 ** 20;
/** Number of rows of a batch that are parsed into objects in one step. */
const LINES_A_STEP = 500;

export interface ResultReplyOptions {
  readonly format: AnswerFormat;
  /** True if times are written as ISO 8601. */
  readonly iso: boolean;
  readonly audit: ReplyFacts['audit'];
  readonly kept: boolean;
  /** True if the answer must begin before the deadline. */
  readonly deadline: boolean;
}

/**
 * Returns the body of the answer to a statement that writes, which has one row. This body is stored
 * under an Idempotency-Key.
 */
export function resultBody(row: object, format: AnswerFormat): string {
  if (format.rows === 'ndjson') return `${JSON.stringify(row)}\n`;
  const columns = Object.keys(row);
  const column_types = typesOfAnswer(columns);
  return JSON.stringify({ columns, column_types, rows: [row], num_tuples: 1, query_plan: null });
}

/** Answers with the rows of a result. `atOnce` is as in `writeAnswer`. */
export function resultReply(
  call: Call,
  result: StatementResult,
  options: ResultReplyOptions,
  atOnce: boolean,
): Reply | Promise<Reply> {
  const opening = result.computes === true ? OPENINGS.computed : OPENINGS.statement;
  return writeAnswer(call, new ResultAnswer(call, result, options), opening, atOnce);
}

/**
 * Returns all rows as objects, for use in another answer, and the size of their text in bytes.
 * Rejects with `query_too_large` if the text is larger than `most` bytes.
 */
export async function collectRows(
  call: Call,
  result: StatementResult,
  most: number,
  iso: boolean,
): Promise<{ rows: unknown[]; bytes: number }> {
  const text = new ResultText(call, result, 'ndjson', iso);
  try {
    const step = (): boolean => {
      checkDeadline(call);
      const bytes = text.fill();
      result.charge?.(bytes);
      if (text.length > most)
        throw refusal(
          'query_too_large',
          'The statements of this batch return too many rows; add a LIMIT, or send them alone.',
        );
      return !text.isEnded;
    };
    if (step()) await call.services.scheduler.run('statement', step);
    const bytes = text.length;
    const lines = Buffer.from(text.take()).toString().trimEnd().split('\n');
    const rows: unknown[] = [];
    const parse = (): boolean => {
      const end = Math.min(text.rows, rows.length + LINES_A_STEP);
      while (rows.length < end) rows.push(JSON.parse(lines[rows.length]!));
      return end < text.rows;
    };
    if (parse()) await call.services.scheduler.run('statement', parse);
    return { rows, bytes };
  } finally {
    result.close();
  }
}

/** The rows of a result as text, written step by step. */
class ResultText {
  readonly #call: Call;
  readonly #result: StatementResult;
  readonly #format: AnswerFormat['rows'];
  readonly #keys: RowKeys;
  readonly #written: ReturnType<typeof isoValues>;
  readonly #sink = new JsonSink();
  /** The chunk being written. */
  #writing: Generator<void, void, void> | undefined;
  /** Number of rows written or begun so far. */
  rows = 0;
  /** True once everything has been written. */
  isEnded = false;

  constructor(call: Call, result: StatementResult, format: AnswerFormat['rows'], iso: boolean) {
    this.#call = call;
    this.#result = result;
    this.#format = format;
    this.#keys = rowKeys(result.columns);
    this.#written = iso ? isoValues(result.forms) : [];
  }

  /** Number of bytes written and not yet taken. */
  get length(): number {
    return this.#sink.length;
  }

  /**
   * Continues writing for a few milliseconds at most. Returns the number of bytes written, which
   * may be 0.
   */
  fill(): number {
    const { now } = this.#call.services;
    const end = now() + STEP_MS;
    const before = this.length;
    do {
      if (this.#writing !== undefined) {
        if (this.#writing.next().done === true) this.#writing = undefined;
        continue;
      }
      const step = this.#result.steps.next();
      if (step.done === true) {
        this.isEnded = true;
        break;
      }
      const chunk = step.value;
      if (chunk === null || chunk.count === 0) continue;
      if (this.#format === 'json' && this.rows > 0) this.#sink.text(',');
      this.#writing = writeChunk(chunk, this.#keys, this.#format === 'ndjson' ? '\n' : '', this.#sink, this.#written);
      this.rows += chunk.count;
    } while (now() < end && this.length < PIECE_BYTES);
    return this.length - before;
  }

  take(): Uint8Array {
    return this.#sink.take();
  }
}

/** The result of a statement as the text of an answer. */
class ResultAnswer implements AnswerText, AnswerFrame, QueryFacts {
  get work() {
    return 'statement' as const;
  }

  readonly #call: Call;
  readonly #result: StatementResult;
  readonly #options: ResultReplyOptions;
  readonly #text: ResultText;
  /** True once the answer has begun. */
  #hasBegun = false;

  constructor(call: Call, result: StatementResult, options: ResultReplyOptions) {
    this.#call = call;
    this.#result = result;
    this.#options = options;
    this.#text = new ResultText(call, result, options.format.rows, options.iso);
  }

  get format(): AnswerFormat {
    return this.#options.format;
  }

  get frame(): AnswerFrame {
    return this;
  }

  get frameBytes(): number {
    return headBytes(this.#result).length + LONGEST_TAIL;
  }

  look(): void {
    if (this.#options.deadline) checkDeadline(this.#call);
  }

  /**
   * Returns the next piece. Text that must be kept because the answer has not begun is charged to
   * the memory of the statement.
   */
  next(): Uint8Array | null {
    const text = this.#text;
    if (text.isEnded) return null;
    const bytes = text.fill();
    if (!this.#hasBegun) this.#result.charge?.(bytes);
    return text.isEnded && bytes === 0 ? null : text.take();
  }

  get isEnded(): boolean {
    return this.#text.isEnded;
  }

  writeHead(into: Uint8Array): number {
    const head = headBytes(this.#result);
    into.set(head, 0);
    return head.length;
  }

  writeTail(into: Uint8Array, from: number): number {
    return writeTail(into, from, this.#text.rows, this.#result.plan());
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    this.#hasBegun = true;
    return {
      status: 200,
      contentType: this.#options.format.mediaType,
      body: body ?? '',
      lsn: this.#result.lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: this.#facts(),
    };
  }

  #facts(): ReplyFacts {
    const { audit, kept } = this.#options;
    const { table } = this.#result;
    const detail = audit === undefined || audit === 'none' || table === undefined ? audit : { ...audit, table };
    // Whether rows were searched is known only at the end, together with the plan.
    const query = this.#result.plan() === null ? undefined : this;
    if (query === undefined) return detail === undefined ? { kept } : { kept, audit: detail };
    return detail === undefined ? { kept, query } : { kept, audit: detail, query };
  }

  close(): void {
    this.#result.close();
  }

  // Facts for the observer.

  get table(): string {
    return this.#result.table ?? '';
  }

  get strategy(): string {
    return this.#result.plan()?.strategy ?? 'FULL_SCAN';
  }

  get records(): number {
    return this.#text.rows;
  }
}
