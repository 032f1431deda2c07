// Structured log lines, as JSON (`{"level":"info","ts":"...",<fields>,"msg":"..."}`) or as text for
// a terminal; secrets are masked.

import { LineSink } from './line-sink.ts';
import { openStandard, type PinoLogger, pinoLogger } from './pino.ts';
import { QueryLines } from './query-line.ts';
import { Redactor } from './redact.ts';
import { timestamps } from './timestamps.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** The result of `createLogger`: a logger, plus what the observer needs. */
export interface ServiceLog extends Logger {
  /** Returns the same log with fields added to every line. */
  child(fields: LogFields): ServiceLog;
  /** Returns true if lines of this level are written. */
  isEnabled(level: LogLevel): boolean;
  /**
   * Writes a line whose `members` are finished JSON members, each preceded by a comma
   * (`,"records":4,"table":"t"`). It is meant for lines that are written tens of thousands of times
   * a second. Only known secrets and API keys are masked in the finished line.
   */
  serialised(level: LogLevel, message: string, members: string): void;
}

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

interface LogForm {
  format: 'text' | 'json';
  level: LogLevel;
  now: () => Date;
  /** By default a redactor that masks by patterns only and has no registered secrets. */
  redactor?: Redactor;
}

export interface LogOptions extends LogForm {
  /** Receives each line immediately; `urgent` is true at level warn and above. */
  write: (line: string, urgent: boolean) => void;
  /** True if `write` masks finished lines itself, many at a time. */
  writeMasks?: boolean;
}

export function createLogger(options: LogOptions): ServiceLog {
  const { format, level, now, write, writeMasks = false, redactor = new Redactor() } = options;
  const timestamp = timestamps(now);
  const take = (line: string, urgent: boolean): void => {
    const formed = format === 'json' ? line : textLine(line);
    write(writeMasks ? formed : redactor.lines(formed), urgent);
  };
  const pino = pinoLogger({ level, timestamp, write: take });
  return loggerOf({ pino, redactor, timestamp, take, least: LOG_LEVELS.indexOf(level), bindings: '' });
}

/** A log on standard error or standard output that never makes the service wait (line-sink.ts). */
export interface OpenLog {
  readonly log: ServiceLog;
  /** Writes the lines about finished reads as bytes; undefined if the format is text. */
  readonly queryLines: QueryLines | undefined;
  /** Number of lines dropped so far. */
  readonly lost: number;
  close(): Promise<void>;
}

export function openLog(form: LogForm & { descriptor?: 1 | 2 }): OpenLog {
  const { descriptor = 2, redactor = new Redactor() } = form;
  const sink: LineSink = new LineSink({
    open: (listener) => openStandard(descriptor, listener),
    mask: (lines) => redactor.lines(lines),
    lost: (lines) => log.warn('log lines lost: they came faster than they could be written', { lines }),
  });
  const write = (line: string, urgent: boolean): void => sink.write(line, urgent);
  const log = createLogger({ ...form, redactor, write, writeMasks: true });
  const flush = (): void => sink.flushSync();
  process.on('exit', flush);
  const mask = (text: string): string => redactor.lines(text);
  const queryLines =
    form.format === 'json' ? new QueryLines({ sink, timestamp: timestamps(form.now), mask }) : undefined;
  return {
    log,
    queryLines,
    get lost() {
      return sink.lost;
    },
    close: async () => {
      await sink.close();
      process.off('exit', flush);
    },
  };
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

interface LoggerParts {
  pino: PinoLogger;
  redactor: Redactor;
  timestamp: () => string;
  take: (line: string, urgent: boolean) => void;
  /** Index in LOG_LEVELS of the lowest level that is written. */
  least: number;
  /** The fields of this child log, as finished JSON members. */
  bindings: string;
}

function loggerOf(parts: LoggerParts): ServiceLog {
  const { pino, redactor, timestamp, take, least, bindings } = parts;
  const at = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < least) return () => {};
    return (message: string, fields: LogFields = {}) => {
      pino[level](withoutReserved(redactor.fields(fields)), redactor.text(message));
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => {
      const own = withoutReserved(redactor.fields(fields));
      const members = JSON.stringify(own).slice(1, -1);
      return loggerOf({
        ...parts,
        pino: pino.child(own),
        bindings: members === '' ? bindings : `${bindings},${members}`,
      });
    },
    isEnabled: (level) => LOG_LEVELS.indexOf(level) >= least,
    serialised: (level, message, members) => {
      const place = LOG_LEVELS.indexOf(level);
      if (place < least) return;
      take(`{"level":"${level}","ts":"${timestamp()}"${bindings}${members},"msg":"${message}"}\n`, place >= URGENT);
    },
  };
}

const URGENT = LOG_LEVELS.indexOf('warn');

const RESERVED: readonly string[] = ['ts', 'level', 'msg'];

/** Renames fields that would repeat one of the line's own members: `ts` becomes `ts_`. */
function withoutReserved(fields: Record<string, unknown>): Record<string, unknown> {
  if (!RESERVED.some((name) => name in fields)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED.includes(name) ? `${name}_` : name, value]),
  );
}

/** Converts a JSON line to one line of text for people. */
function textLine(line: string): string {
  const { ts, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  let text = `${ts} ${level} ${oneLine(asText(msg))}`;
  for (const [name, value] of Object.entries(fields)) text += ` ${oneLine(name)}=${oneLine(asText(value))}`;
  return `${text}\n`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Escapes control characters: a line break in a value must not look like another log line, and an
 * escape code must not act on the terminal.
 */
function oneLine(text: string): string {
  return text.replace(CONTROL, (character) => ESCAPES[character] ?? `\\u${hex(character)}`);
}

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}
