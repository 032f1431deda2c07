// Structured log lines on standard error, as text or JSON.

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LogOptions {
  format: 'text' | 'json';
  level: LogLevel;
  write: (line: string) => void;
  now: () => Date;
}

export function createLogger(options: LogOptions): Logger {
  const least = LOG_LEVELS.indexOf(options.level);
  const format = options.format === 'json' ? jsonLine : textLine;
  const at = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < least) return () => {};
    return (message: string, fields: LogFields = {}) => {
      options.write(format(options.now().toISOString(), level, message, fields));
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

function jsonLine(ts: string, level: LogLevel, msg: string, fields: LogFields): string {
  return `${JSON.stringify({ ts, level, msg, ...fields })}\n`;
}

function textLine(ts: string, level: LogLevel, msg: string, fields: LogFields): string {
  let line = `${ts} ${level} ${oneLine(msg)}`;
  for (const [name, value] of Object.entries(fields)) line += ` ${name}=${oneLine(asText(value))}`;
  return `${line}\n`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/** A line break in a value must not look like another log line. */
function oneLine(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
}
