// Sends the result of a statement: small ones as one body, large ones as a stream.

import { refusal } from '../errors.ts';
import {
  type AnswerFormat,
  type Call,
  type ChunkSource,
  checkDeadline,
  type Reply,
  type ReplyFacts,
  typeOf,
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
import { headBytes, tailBytes } from './result-frame.ts';

/** Results up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_BYTES = 64 * 1024;
/**
 * The same for computed results, whose later rows may still fail: the error is then the answer,
 * rather than cutting off one that has begun.
 */
const WHOLE_COMPUTED_BYTES = 8 * 2 ** 20;
/** Maximum work before other sockets are served. */
const STEP_MS = 3;
/** Maximum bytes of rows that the operations of a batch may return together. */
export const MOST_COLLECTED = 16 * 2 ** 20;
/** Rows of a batch parsed into objects in one step. */
const LINES_A_STEP = 500;

export interface ResultReplyOptions {
  readonly format: AnswerFormat;
  /** Whether times are written as ISO 8601. */
  readonly iso: boolean;
  readonly audit: ReplyFacts['audit'];
  readonly kept: boolean;
  /** Whether the answer must begin before the deadline. */
  readonly deadline: boolean;
}

/** The body for a statement that wrote, which is one row, as stored under an Idempotency-Key. */
export function resultBody(row: object, format: AnswerFormat): string {
  if (format === 'ndjson') return `${JSON.stringify(row)}\n`;
  const columns = Object.keys(row);
  const column_types = typesOfAnswer(columns);
  return JSON.stringify({ columns, column_types, rows: [row], num_tuples: 1, query_plan: null });
}

/** Answers synchronously if the first two steps give the whole answer. */
export function resultReply(call: Call, result: StatementResult, options: ResultReplyOptions): Reply | Promise<Reply> {
  const text = new ResultText(call, result, options);
  const whole = result.computes === true ? WHOLE_COMPUTED_BYTES : WHOLE_BODY_BYTES;
  const step = (): boolean => {
    if (call.client.gone) return false;
    if (options.deadline) checkDeadline(call);
    text.fill();
    text.charge();
    return !text.ended && text.length < whole;
  };
  const reply = (): Reply => {
    const { ended } = text;
    if (ended) text.close();
    return {
      status: 200,
      contentType: typeOf(options.format),
      body: ended ? text.take() : '',
      lsn: result.lsn,
      headers: undefined,
      source: ended ? undefined : text,
      tag: undefined,
      facts: factsOf(text, result, options),
    };
  };
  try {
    // The last step of a small answer only finds that there are no more rows.
    if (!step() || !step()) return reply();
  } catch (error) {
    text.close();
    throw error;
  }
  const replied = call.services.scheduler.run(step).then(reply);
  return replied.catch((error) => {
    text.close();
    throw error;
  });
}

/**
 * All rows as objects, and the bytes of their text, up to a limit, for use in another answer.
 * Rejects with `query_too_large`.
 */
export async function collectRows(
  call: Call,
  result: StatementResult,
  most: number,
  iso: boolean,
): Promise<{ rows: unknown[]; bytes: number }> {
  const text = new ResultText(call, result, { format: 'ndjson', iso });
  try {
    const step = (): boolean => {
      checkDeadline(call);
      text.fill();
      text.charge();
      if (text.length > most)
        throw refusal(
          'query_too_large',
          'The statements of this batch give too many rows; add a LIMIT, or send them alone.',
        );
      return !text.ended;
    };
    if (step()) await call.services.scheduler.run(step);
    const bytes = text.length;
    const lines = Buffer.from(text.take()).toString().trimEnd().split('\n');
    const rows: unknown[] = [];
    const parse = (): boolean => {
      const end = Math.min(text.rows, rows.length + LINES_A_STEP);
      while (rows.length < end) rows.push(JSON.parse(lines[rows.length]!));
      return end < text.rows;
    };
    if (parse()) await call.services.scheduler.run(parse);
    return { rows, bytes };
  } finally {
    text.close();
  }
}

function factsOf(text: ResultText, result: StatementResult, { audit, kept }: ResultReplyOptions): ReplyFacts {
  const { table } = result;
  const detail = audit === undefined || audit === 'none' || table === undefined ? audit : { ...audit, table };
  // Whether rows were searched is known only when the plan is, at the end.
  const query = result.plan() === null ? undefined : new ReadFacts(text, result);
  if (query === undefined) return detail === undefined ? { kept } : { kept, audit: detail };
  return detail === undefined ? { kept, query } : { kept, audit: detail, query };
}

class ReadFacts implements QueryFacts {
  readonly table: string;
  private readonly text: ResultText;
  private readonly result: StatementResult;

  constructor(text: ResultText, result: StatementResult) {
    this.text = text;
    this.result = result;
    this.table = result.table ?? '';
  }

  get strategy(): string {
    return this.result.plan()?.strategy ?? 'FULL_SCAN';
  }

  get records(): number {
    return this.text.rows;
  }
}

/** Writes the text of an answer, step by step. */
class ResultText implements ChunkSource {
  readonly #call: Call;
  readonly #result: StatementResult;
  readonly #format: AnswerFormat;
  readonly #keys: RowKeys;
  readonly #written: ReturnType<typeof isoValues>;
  readonly #sink = new JsonSink();
  /** The chunk being written. */
  #writing: Generator<void, void, void> | undefined;
  #charged = 0;
  /** Rows written or begun so far. */
  rows = 0;
  /** Everything has been written. */
  ended = false;

  constructor(call: Call, result: StatementResult, { format, iso }: Pick<ResultReplyOptions, 'format' | 'iso'>) {
    this.#call = call;
    this.#result = result;
    this.#format = format;
    this.#keys = rowKeys(result.columns);
    this.#written = iso ? isoValues(result.forms) : [];
    if (format === 'json') this.#sink.bytes(headBytes(result));
  }

  /** Bytes written and not yet taken. */
  get length(): number {
    return this.#sink.length;
  }

  /** Charges what is buffered before the answer begins to the statement's memory. */
  charge(): void {
    if (this.length <= this.#charged) return;
    this.#result.charge?.(this.length - this.#charged);
    this.#charged = this.length;
  }

  /** Writes some more, or nothing. Bounded to a few ms. */
  fill(): void {
    const { now } = this.#call.services;
    const end = now() + STEP_MS;
    do {
      if (this.#writing !== undefined) {
        if (this.#writing.next().done === true) this.#writing = undefined;
        continue;
      }
      const step = this.#result.steps.next();
      if (step.done === true) {
        this.#end();
        return;
      }
      const chunk = step.value;
      if (chunk === null || chunk.count === 0) continue;
      if (this.#format === 'json' && this.rows > 0) this.#sink.text(',');
      this.#writing = writeChunk(chunk, this.#keys, this.#format === 'ndjson' ? '\n' : '', this.#sink, this.#written);
      this.rows += chunk.count;
    } while (now() < end && this.length < WHOLE_BODY_BYTES);
  }

  #end(): void {
    this.ended = true;
    if (this.#format === 'json') this.#sink.bytes(tailBytes(this.rows, this.#result.plan()));
  }

  take(): Uint8Array {
    return this.#sink.take();
  }

  next(): Uint8Array | null {
    if (this.length === 0 && !this.ended) this.fill();
    return this.length === 0 && this.ended ? null : this.take();
  }

  close(): void {
    this.#result.close();
  }
}
