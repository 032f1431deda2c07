// Answers a statement's result: small ones as one body, large ones as a stream.

import { refusal } from '../errors.ts';
import { checkDeadline } from '../http/deadline.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../http/media.ts';
import type { ChunkSource, Reply, ReplyFacts } from '../http/reply.ts';
import type { Call } from '../http/route.ts';
import { chunkText, rowKeys } from '../query/executor/result-text.ts';
import type { StatementResult } from '../query/result.ts';
import type { Written } from '../query/write.ts';

/** Results up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_CHARACTERS = 64 * 1024;
/** Work between two looks at the sockets. */
const STEP_MS = 3;
/** Characters of rows that one operation of a batch may answer. */
const MOST_COLLECTED = 16 * 2 ** 20;

export interface ResultReplyOptions {
  readonly ndjson: boolean;
  readonly audit: ReplyFacts['audit'];
  readonly kept: boolean;
}

/** The answer of a statement that wrote rows, as it is kept for an Idempotency-Key. */
export function resultBody(written: Written): string {
  return JSON.stringify({ columns: Object.keys(written), rows: [written], num_tuples: 1, query_plan: null });
}

export async function resultReply(call: Call, result: StatementResult, options: ResultReplyOptions): Promise<Reply> {
  const text = new ResultText(call, result, options.ndjson);
  try {
    let body = '';
    let ended = false;
    const step = (): boolean => {
      if (call.client.gone) return false;
      checkDeadline(call);
      const piece = text.next();
      if (piece === null) ended = true;
      else body += piece;
      return !ended && body.length < WHOLE_BODY_CHARACTERS;
    };
    if (step()) await call.services.slices.run(step);
    const source = ended ? undefined : streamOf(text, body);
    if (ended) text.close();
    return {
      status: 200,
      contentType: options.ndjson ? NDJSON_TYPE : JSON_TYPE,
      body: ended ? body : '',
      lsn: result.lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: factsOf(text, result, options),
    };
  } catch (error) {
    text.close();
    throw error;
  }
}

/** All rows as objects, up to a limit: they go into another answer. Rejects `query_too_large`. */
export async function collectRows(call: Call, result: StatementResult): Promise<unknown[]> {
  const text = new ResultText(call, result, true);
  const lines: string[] = [];
  let size = 0;
  try {
    const step = (): boolean => {
      checkDeadline(call);
      const piece = text.next();
      if (piece === null) return false;
      lines.push(piece);
      size += piece.length;
      if (size > MOST_COLLECTED)
        throw refusal('query_too_large', 'This statement gives too many rows for a batch; add a LIMIT.');
      return true;
    };
    if (step()) await call.services.slices.run(step);
    return lines
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  } finally {
    text.close();
  }
}

function factsOf(text: ResultText, result: StatementResult, { audit, kept }: ResultReplyOptions): ReplyFacts {
  const { table } = result;
  const detail = audit === undefined || audit === 'none' || table === undefined ? audit : { ...audit, table };
  const facts = { kept, ...(detail === undefined ? {} : { audit: detail }) };
  // Whether rows were searched is known when the plan is: at the end.
  if (result.plan() === null) return facts;
  return {
    ...facts,
    query: {
      get strategy() {
        return result.plan()?.strategy ?? 'FULL_SCAN';
      },
      get records() {
        return text.rows;
      },
      table: table ?? '',
    },
  };
}

/** The text of an answer, piece by piece. */
class ResultText {
  readonly #call: Call;
  readonly #result: StatementResult;
  readonly #ndjson: boolean;
  readonly #keys: readonly string[];
  #begun = false;
  #ended = false;
  /** Rows written so far. */
  rows = 0;

  constructor(call: Call, result: StatementResult, ndjson: boolean) {
    this.#call = call;
    this.#result = result;
    this.#ndjson = ndjson;
    this.#keys = rowKeys(result.columns);
  }

  /** The next piece, null at the end; it may be empty. Bounded to a few ms. */
  next(): string | null {
    if (this.#ended) return null;
    let text = this.#begun ? '' : this.#head();
    this.#begun = true;
    const { now } = this.#call.services;
    const end = now() + STEP_MS;
    do {
      const step = this.#result.steps.next();
      if (step.done === true) {
        this.#ended = true;
        return text + this.#tail();
      }
      const chunk = step.value;
      if (chunk === null || chunk.count === 0) continue;
      if (!this.#ndjson && this.rows > 0) text += ',';
      text += chunkText(chunk, this.#keys, this.#ndjson ? '\n' : '');
      this.rows += chunk.count;
    } while (now() < end && text.length < WHOLE_BODY_CHARACTERS);
    return text;
  }

  close(): void {
    this.#result.close();
  }

  #head(): string {
    return this.#ndjson ? '' : `{"columns":${JSON.stringify(this.#result.columns)},"rows":[`;
  }

  #tail(): string {
    if (this.#ndjson) return '';
    return `],"num_tuples":${this.rows},"query_plan":${JSON.stringify(this.#result.plan())}}`;
  }
}

function streamOf(text: ResultText, first: string): ChunkSource {
  let waiting: string | undefined = first;
  return {
    next() {
      const piece = waiting ?? text.next();
      waiting = undefined;
      return piece === null ? null : Buffer.from(piece);
    },
    close: () => text.close(),
  };
}
