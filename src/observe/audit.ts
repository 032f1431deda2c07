// The audit log: who changed what, one JSON line each, appended to a file of its own (contract section 7).
//
// The file is made with mode 0600 and only ever appended to. Lines are written within 100 ms and at close; when the disk fails, the service goes on: one
// line in the log tells it, and lines that find no room any more are counted as lost.

import { jsonText } from './json-text.ts';
import { LineSink } from './line-sink.ts';
import type { Logger } from './log.ts';
import type { AuditFacts } from './observer.ts';
import { openFile } from './pino.ts';
import type { Redactor } from './redact.ts';
import { timestamps } from './timestamps.ts';

/** A longer statement is cut: the line tells what was done, it is no copy of the data. */
const LONGEST_STATEMENT = 4096;

export interface AuditOptions {
  /** Absolute path. */
  file: string;
  log: Logger;
  redactor: Redactor;
  now: () => Date;
}

export class AuditLog {
  readonly #sink: LineSink;
  readonly #redactor: Redactor;
  readonly #timestamp: () => string;
  readonly #atExit: () => void;

  /** Throws when the file cannot be opened for appending. */
  constructor({ file, log, redactor, now }: AuditOptions) {
    this.#redactor = redactor;
    this.#timestamp = timestamps(now);
    this.#sink = new LineSink({
      open: (listener) => {
        try {
          return openFile(file, listener);
        } catch (cause) {
          throw new Error(
            `The audit log ${file} cannot be written (${(cause as Error).message}). Set HEDGEROW_AUDIT_LOG to a file this user may write.`,
            { cause },
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

  /** Lines lost so far. */
  get lost(): number {
    return this.#sink.lost;
  }

  write(facts: AuditFacts): void {
    const { table, statement } = facts;
    let line = `{"ts":"${this.#timestamp()}","audit":true,"event":"${facts.event}","key_id":`;
    line += facts.keyId === null ? 'null' : jsonText(facts.keyId);
    line += `,"remote_ip":${jsonText(facts.remoteIp)},"role":${jsonText(facts.role)}`;
    if (table !== undefined) line += `,"table":${jsonText(table)}`;
    if (statement !== undefined) line += `,"statement":${jsonText(this.#statement(statement))}`;
    this.#sink.write(`${line},"status":${facts.status},"request_id":${jsonText(facts.requestId)}}\n`);
  }

  /** After the file was moved away: goes on in a new one of the same name. */
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
