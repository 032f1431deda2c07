// The audit log: a separate file with one JSON line for each change, and for each request that was
// refused because of its key, role or origin.
//
// The file is created with mode 0600 and only appended to. Lines are written within 100 ms and on
// close. If the disk fails, the service continues: one line in the log reports it, and lines that
// no longer fit in memory are counted as lost.

import { dirname } from 'node:path';
import { HedgerowError } from '../errors.ts';
import { jsonText } from './json-text.ts';
import { LineSink } from './line-sink.ts';
import type { Logger } from './log.ts';
import type { AuditFacts } from './observer.ts';
import { openFile } from './pino.ts';
import { isOwnId } from './query-line.ts';
import type { Redactor } from './redact.ts';
import { timestamps } from './timestamps.ts';

/** Longer statements are truncated: a line records what was done and is not a copy of the data. */
const LONGEST_STATEMENT = 4096;
const HEAD = Buffer.from('{"ts":"');
const TIME_LENGTH = 24;
const TAIL = Buffer.from('"}\n');

export interface AuditOptions {
  /** Absolute path. */
  file: string;
  log: Logger;
  redactor: Redactor;
  now: () => Date;
  /**
   * Creates the directory of the file if it is missing; throws on failure. Without `makeDir`, a
   * missing directory is created with the permissions that the umask allows.
   */
  makeDir?: (dir: string) => void;
}

export class AuditLog {
  readonly #sink: LineSink;
  readonly #redactor: Redactor;
  readonly #timestamp: () => string;
  readonly #atExit: () => void;
  /**
   * The facts of the last line that was written as bytes. `#middle` is the encoded part of that
   * line between the time and the request id.
   */
  #last: AuditFacts | undefined;
  #middle = Buffer.alloc(0);

  /** Throws when the file cannot be opened for appending. */
  constructor({ file, log, redactor, now, makeDir }: AuditOptions) {
    this.#redactor = redactor;
    this.#timestamp = timestamps(now);
    this.#sink = new LineSink({
      open: (listener) => {
        try {
          makeDir?.(dirname(file));
          return openFile(file, listener);
        } catch (cause) {
          throw new HedgerowError(
            'disk_failed',
            `The audit log ${file} cannot be written (${(cause as Error).message}). Name a file that this user may write.`,
            { fields: { settings: ['auditLog'] }, cause },
          );
        }
      },
      mask: (lines) => redactor.lines(lines),
      failed: (error) =>
        log.error('the audit log cannot be written; lines are kept in memory while there is room, then lost', {
          file,
          error: error.message,
        }),
      lost: (lines) => log.error('audit lines lost', { file, lines }),
    });
    const sink = this.#sink;
    this.#atExit = () => sink.flushSync();
    process.on('exit', this.#atExit);
  }

  /** Number of lines lost so far. */
  get lost(): number {
    return this.#sink.lost;
  }

  write(facts: AuditFacts): void {
    if (facts.statement === undefined && isOwnId(facts.requestId)) this.#writeBytes(facts);
    else this.#writeText(facts);
  }

  /**
   * Writes a line from encoded parts. Consecutive changes are often alike: their lines differ only
   * in the time and the request id, so the rest of the last line is reused.
   */
  #writeBytes(facts: AuditFacts): void {
    if (!isAlike(facts, this.#last)) {
      this.#last = facts;
      this.#middle = Buffer.from(this.#redactor.lines(`${middleOf(facts)},"status":${facts.status},"request_id":"`));
    }
    const middle = this.#middle;
    const { requestId } = facts;
    const start = this.#sink.room(HEAD.length + TIME_LENGTH + middle.length + requestId.length + TAIL.length);
    if (start < 0) return;
    const { buffer } = this.#sink;
    buffer.set(HEAD, start);
    let at = start + HEAD.length;
    at += buffer.write(this.#timestamp(), at, 'latin1');
    buffer.set(middle, at);
    at += middle.length;
    for (let i = 0; i < requestId.length; i++) buffer[at++] = requestId.charCodeAt(i);
    buffer.set(TAIL, at);
    this.#sink.took(at + TAIL.length);
  }

  #writeText(facts: AuditFacts): void {
    const { statement } = facts;
    let line = `{"ts":"${this.#timestamp()}${middleOf(facts)}`;
    if (statement !== undefined) line += `,"statement":${jsonText(this.#statement(statement))}`;
    this.#sink.write(`${line},"status":${facts.status},"request_id":${jsonText(facts.requestId)}}\n`);
  }

  /** Continues in a new file of the same name after the old one was moved away. */
  reopen(): void {
    this.#sink.reopen();
  }

  async close(): Promise<void> {
    await this.#sink.close();
    process.off('exit', this.#atExit);
  }

  #statement(text: string): string {
    const masked = this.#redactor.text(text);
    return masked.length > LONGEST_STATEMENT ? `${masked.slice(0, LONGEST_STATEMENT)}...` : masked;
  }
}

/** Returns the part of a line that follows the time and ends with the table. */
function middleOf({ event, keyId, remoteIp, role, table }: AuditFacts): string {
  let text = `","audit":true,"event":"${event}","key_id":`;
  text += keyId === null ? 'null' : jsonText(keyId);
  text += `,"remote_ip":${jsonText(remoteIp)},"role":${jsonText(role)}`;
  return table === undefined ? text : `${text},"table":${jsonText(table)}`;
}

function isAlike(a: AuditFacts, b: AuditFacts | undefined): boolean {
  return (
    b !== undefined &&
    a.event === b.event &&
    a.keyId === b.keyId &&
    a.remoteIp === b.remoteIp &&
    a.role === b.role &&
    a.table === b.table &&
    a.status === b.status
  );
}
