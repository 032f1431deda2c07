// Carries the messages of the protocol as lines on standard input and output. A line that is not a
// message is answered with an error instead of being ignored.

import type { Readable, Writable } from 'node:stream';

/** Longer lines are refused without being parsed. */
export const MOST_LINE_BYTES = 10 * 1024 * 1024;
/**
 * After the end of the input, waits for outstanding answers as long as each arrives within this
 * time. Scripts write all their requests at once and then end the input.
 */
const LAST_ANSWERS_MS = 1000;
const NEWLINE = 10;

/** Error codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { requestId?: unknown } | undefined;
  error?: { code: number; message: string };
}

/** The SDK's interface of a transport, on the two streams of this process. */
export class LineTransport {
  onmessage?: (message: object) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #isMessage: (value: unknown) => boolean;
  readonly #line = new Line();
  /** Ids of requests that have been received but not answered. */
  readonly #unanswered = new Set<unknown>();
  #ending: NodeJS.Timeout | undefined;
  /** Resolves when the output accepts more data; shared by all waiting senders. */
  #drained: Promise<void> | undefined;
  #isClosed = false;

  constructor(input: Readable, output: Writable, isMessage: (value: unknown) => boolean) {
    this.#input = input;
    this.#output = output;
    this.#isMessage = isMessage;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#take);
    for (const event of ['end', 'close', 'error'] as const) this.#input.once(event, this.#finish);
  }

  async send(given: object): Promise<void> {
    const message = plainError(given);
    this.#unanswered.delete(message.id);
    if (this.#isClosed) return;
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) await this.#drain();
    if (this.#ending !== undefined) this.#finish();
  }

  #drain(): Promise<void> {
    this.#drained ??= new Promise((drained) => {
      this.#output.once('drain', () => {
        this.#drained = undefined;
        drained();
      });
    });
    return this.#drained;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#ending);
    this.#input.off('data', this.#take);
    for (const event of ['end', 'close', 'error'] as const) this.#input.off(event, this.#finish);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #finish = (): void => {
    clearTimeout(this.#ending);
    if (this.#unanswered.size === 0) void this.close();
    else this.#ending = setTimeout(() => void this.close(), LAST_ANSWERS_MS);
  };

  readonly #take = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !this.#isClosed; at = chunk.indexOf(NEWLINE, from)) {
      this.#line.add(chunk.subarray(from, at));
      from = at + 1;
      this.#hear(this.#line.take());
    }
    this.#line.add(chunk.subarray(from));
  };

  #hear(line: string | undefined): void {
    const heard = messageOf(line, this.#isMessage);
    if (heard === undefined) return;
    if ('refusal' in heard) {
      void this.send({ jsonrpc: '2.0', ...heard.refusal });
      return;
    }
    const { id, method, params } = heard.message;
    if (method !== undefined && id !== undefined) this.#unanswered.add(id);
    if (method === 'notifications/cancelled') this.#unanswered.delete(params?.requestId);
    this.onmessage?.(heard.message);
  }
}

type Heard =
  | { message: Message }
  | { refusal: { id: string | number | null; error: { code: number; message: string } } };

/** Parses a line; returns undefined for an empty one. `line` is undefined when it was too long. */
function messageOf(line: string | undefined, isMessage: (value: unknown) => boolean): Heard | undefined {
  const refused = (id: string | number | null, code: number, message: string): Heard => ({
    refusal: { id, error: { code, message } },
  });
  if (line === undefined) return refused(null, INVALID_REQUEST, `The line is longer than ${MOST_LINE_BYTES} bytes.`);
  if (line.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refused(null, PARSE_ERROR, 'The line is not JSON; a message is one line of JSON.');
  }
  return isMessage(value) ? { message: value as Message } : refused(idOf(value), INVALID_REQUEST, faultOf(value));
}

/** Collects the bytes of a line as they arrive; discards them once the line is too long. */
class Line {
  #pieces: Buffer[] = [];
  #bytes = 0;

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > MOST_LINE_BYTES) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Returns the line; undefined when it was too long. */
  take(): string | undefined {
    const text = this.#bytes > MOST_LINE_BYTES ? undefined : Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }
}

function idOf(value: unknown): string | number | null {
  const id = (value as Message | null)?.id;
  return typeof id === 'string' || Number.isInteger(id) ? (id as string | number) : null;
}

function faultOf(value: unknown): string {
  return Array.isArray(value)
    ? 'Messages are not taken in batches; send each as a line of its own.'
    : 'The line is not a message: a request has "jsonrpc": "2.0", an "id" that is a text or an integer, a "method" that is a text, and "params" that are an object or left out.';
}

/**
 * The SDK reports an invalid request as an internal error with a list in JSON. This turns it into a
 * sentence and into the code for invalid parameters.
 */
function plainError(message: Message): Message {
  const { error } = message;
  if (error?.code !== INTERNAL_ERROR || !error.message.startsWith('[')) return message;
  try {
    const faults = JSON.parse(error.message) as { path: (string | number)[]; message: string }[];
    const texts = faults.map((fault) => `${fault.path.join('.')}: ${fault.message.replace(/^Invalid input: /, '')}`);
    const sentence = `The request does not follow the protocol: ${texts.join('; ')}.`;
    return { ...message, error: { ...error, code: INVALID_PARAMS, message: sentence } };
  } catch {
    return message;
  }
}
