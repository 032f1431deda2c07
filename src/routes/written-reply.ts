// Answers a statement whose rows are encoded by the core.

import {
  type AnswerFormat,
  type AnswerFrame,
  type AnswerText,
  type ChunkSource,
  checkDeadline,
  OPENINGS,
  type Reply,
  writeAnswer,
} from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import type { WrittenRead } from '../query/index.ts';
import type { Call } from './application.ts';
import { headBytes, LONGEST_TAIL, writeTail } from './result-frame.ts';

/** Answers with the rows of a read. `atOnce` is as in `writeAnswer`. */
export function writtenReply(
  call: Call,
  read: WrittenRead,
  format: AnswerFormat,
  atOnce: boolean,
): Reply | Promise<Reply> {
  return writeAnswer(call, new WrittenText(call, read, format), OPENINGS.statement, atOnce);
}

// An object of this class is created for every answer. It has plain fields only, which are faster
// than private ones (#).
class WrittenText implements AnswerText, AnswerFrame, QueryFacts {
  get work() {
    return 'statement' as const;
  }

  private readonly call: Call;
  private readonly read: WrittenRead;
  readonly format: AnswerFormat;

  constructor(call: Call, read: WrittenRead, format: AnswerFormat) {
    this.call = call;
    this.read = read;
    this.format = format;
  }

  get frame(): AnswerFrame {
    return this;
  }

  get frameBytes(): number {
    return headBytes(this.read).length + LONGEST_TAIL;
  }

  look(): void {
    checkDeadline(this.call);
  }

  next(): Uint8Array | null {
    return this.read.next();
  }

  get isEnded(): boolean {
    return this.read.isEnded;
  }

  writeHead(into: Uint8Array): number {
    const head = headBytes(this.read);
    into.set(head, 0);
    return head.length;
  }

  writeTail(into: Uint8Array, from: number): number {
    return writeTail(into, from, this.read.rows, this.read.plan());
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return {
      status: 200,
      contentType: this.format.mediaType,
      body: body ?? '',
      lsn: this.read.lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: { kept: false, audit: 'none', query: this },
    };
  }

  close(): void {
    this.read.close();
  }

  // Facts for the observer.

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
