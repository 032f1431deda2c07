// Answers a statement whose rows are encoded by the core: small results as one body, large ones as
// a stream of the scan's own slices.

import { type AnswerFormat, type Call, type ChunkSource, checkDeadline, type Reply, typeOf } from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import type { WrittenRead } from '../query/index.ts';
import { headBytes, LONGEST_TAIL, tailBytes, writeTail } from './result-frame.ts';

/** Results up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_BYTES = 64 * 1024;
/** Slices read before yielding: one with rows, and one that finds no more. */
const SLICES_AT_ONCE = 2;

/** Answers synchronously if the first slices are all there is. */
export function writtenReply(call: Call, read: WrittenRead, format: AnswerFormat): Reply | Promise<Reply> {
  const answer = new WrittenAnswer(call, read, format);
  try {
    for (let count = 0; count < SLICES_AT_ONCE; count++) if (!answer.step()) return answer.reply(true);
  } catch (error) {
    read.close();
    throw error;
  }
  const replied = call.services.scheduler.run(() => answer.step()).then(() => answer.reply(false));
  return replied.catch((error) => {
    read.close();
    throw error;
  });
}

// One is created for every answer, so it has plain fields only.
class WrittenAnswer implements ChunkSource {
  private readonly call: Call;
  private readonly read: WrittenRead;
  private readonly format: AnswerFormat;
  private readonly slices: Uint8Array[];
  private size: number;
  private ended: boolean;
  /**
   * While streaming: the rest of head and slices to be sent, and whether the tail has been sent.
   */
  private waiting: Uint8Array[];
  private tailed: boolean;

  constructor(call: Call, read: WrittenRead, format: AnswerFormat) {
    this.call = call;
    this.read = read;
    this.format = format;
    this.slices = [];
    this.size = 0;
    this.ended = false;
    this.waiting = this.slices;
    this.tailed = format === 'ndjson';
  }

  /** Reads a slice; false if the answer can begin. */
  step(): boolean {
    if (this.call.client.gone) return false;
    checkDeadline(this.call);
    const slice = this.read.next();
    if (slice === null) {
      this.ended = true;
      return false;
    }
    if (slice.length > 0) this.slices.push(slice);
    this.size += slice.length;
    return this.size < WHOLE_BODY_BYTES;
  }

  /** `atOnce`: the handler has not yielded since it began. */
  reply(atOnce: boolean): Reply {
    const { read, format, ended } = this;
    let body: Uint8Array | string = '';
    if (ended) body = format === 'ndjson' ? joined(this.slices) : this.whole(atOnce);
    else if (format === 'json') this.waiting = [headBytes(read), ...this.slices];
    return {
      status: 200,
      contentType: typeOf(format),
      body,
      lsn: read.lsn,
      headers: undefined,
      source: ended ? undefined : this,
      tag: undefined,
      facts: { kept: false, audit: 'none', query: new ReadFacts(read) },
    };
  }

  private whole(atOnce: boolean): Uint8Array {
    const head = headBytes(this.read);
    const { call, slices } = this;
    const { space } = call.services;
    const size = head.length + this.size + LONGEST_TAIL;
    // With an Idempotency-Key the answer is sent later, when the space may contain another one.
    const isShared = atOnce && call.once === undefined && size <= space.bytes.length;
    const bytes = isShared ? space.bytes : new Uint8Array(size);
    bytes.set(head, 0);
    let offset = head.length;
    for (let i = 0; i < slices.length; i++) {
      bytes.set(slices[i]!, offset);
      offset += slices[i]!.length;
    }
    offset = writeTail(bytes, offset, this.read.rows, this.read.plan());
    return isShared ? space.view(offset) : bytes.subarray(0, offset);
  }

  next(): Uint8Array | null {
    const piece = this.waiting.shift() ?? this.read.next();
    if (piece !== null || this.tailed) return piece;
    this.tailed = true;
    return tailBytes(this.read.rows, this.read.plan());
  }

  close(): void {
    this.read.close();
  }
}

class ReadFacts implements QueryFacts {
  private readonly read: WrittenRead;

  constructor(read: WrittenRead) {
    this.read = read;
  }

  get strategy(): string {
    return this.read.strategy;
  }

  get table(): string {
    return this.read.table;
  }

  get records(): number {
    return this.read.rows;
  }
}

function joined(slices: readonly Uint8Array[]): Uint8Array | string {
  if (slices.length === 0) return '';
  return slices.length === 1 ? slices[0]! : Buffer.concat(slices);
}
