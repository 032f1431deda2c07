import { describe, expect, it } from 'vitest';
import { createLogger, LOG_LEVELS, type LogLevel, SILENT } from '../../src/observe/log.ts';
import { MASK, Redactor } from '../../src/observe/redact.ts';

const TIME = '2026-01-02T03:04:05.678Z';

function logTo(options: { format?: 'text' | 'json'; level?: LogLevel; redactor?: Redactor } = {}) {
  const lines: string[] = [];
  const urgent: boolean[] = [];
  const log = createLogger({
    format: options.format ?? 'json',
    level: options.level ?? 'debug',
    now: () => new Date(TIME),
    write: (line, isUrgent) => {
      lines.push(line);
      urgent.push(isUrgent);
    },
    ...(options.redactor ? { redactor: options.redactor } : {}),
  });
  return { log, lines, urgent };
}

describe('JSON lines', () => {
  it('contain level, time, fields and message, and nothing else', () => {
    const { log, lines } = logTo();
    log.info('database open', { dir: '/data', last_lsn: 7, nested: { a: [1, null] } });
    log.warn('alone');
    expect(lines).toEqual([
      `{"level":"info","ts":"${TIME}","dir":"/data","last_lsn":7,"nested":{"a":[1,null]},"msg":"database open"}\n`,
      `{"level":"warn","ts":"${TIME}","msg":"alone"}\n`,
    ]);
  });

  it('are one line each, whatever the message contains', () => {
    const { log, lines } = logTo();
    log.error('a\nb "c" \\ \u2028', { text: 'x\r\ny', 'odd "name"\n': 1, number: Number.NaN });
    expect(lines).toHaveLength(1);
    expect(lines[0]!.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toEqual({
      level: 'error',
      ts: TIME,
      text: 'x\r\ny',
      'odd "name"\n': 1,
      number: null,
      msg: 'a\nb "c" \\ \u2028',
    });
  });

  it('rename fields that are called level, ts or msg', () => {
    const { log, lines } = logTo();
    log.info('m', { msg: 'x', level: 'y', ts: 'z' });
    expect(lines).toEqual([`{"level":"info","ts":"${TIME}","msg_":"x","level_":"y","ts_":"z","msg":"m"}\n`]);
  });

  it('do not interpret a % in the message as a placeholder', () => {
    const { log, lines } = logTo();
    log.info('100 %s %d %j', { a: 1 });
    expect(JSON.parse(lines[0]!).msg).toBe('100 %s %d %j');
  });

  it('contain the fields of a child logger', () => {
    const { log, lines } = logTo();
    const child = log.child({ request_id: 'r1' }).child({ route: '/x' });
    child.info('m', { a: 1 });
    child.serialised('info', 'n', ',"b":2');
    log.info('m');
    expect(lines).toEqual([
      `{"level":"info","ts":"${TIME}","request_id":"r1","route":"/x","a":1,"msg":"m"}\n`,
      `{"level":"info","ts":"${TIME}","request_id":"r1","route":"/x","b":2,"msg":"n"}\n`,
      `{"level":"info","ts":"${TIME}","msg":"m"}\n`,
    ]);
  });
});

describe('text lines', () => {
  it('contain the message followed by the fields as name=value', () => {
    const { log, lines } = logTo({ format: 'text' });
    log.warn('stopping', { signal: 'SIGTERM', count: 3, list: [1, 2], none: null });
    log.serialised('info', 'query_complete', ',"records":4,"table":"t"');
    expect(lines).toEqual([
      `${TIME} warn stopping signal=SIGTERM count=3 list=[1,2] none=null\n`,
      `${TIME} info query_complete records=4 table=t\n`,
    ]);
  });

  it('escape line breaks and control characters', () => {
    const { log, lines } = logTo({ format: 'text' });
    log.info('a\nb', { text: 'c\r\nd\u001b[31m\u2028' });
    expect(lines).toEqual([`${TIME} info a\\nb text=c\\r\\nd\\u001b[31m\\u2028\n`]);
  });
});

describe('levels', () => {
  it.each(LOG_LEVELS)('write lines of their own level and of more urgent levels: %s', (level) => {
    const { log, lines } = logTo({ level });
    for (const each of LOG_LEVELS) {
      log[each](each);
      log.serialised(each, each, '');
    }
    const expected = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).flatMap((each) => [each, each]);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(expected);
    expect(LOG_LEVELS.filter((each) => log.isEnabled(each))).toEqual(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
  });

  it('make a line urgent if they are warn or error', () => {
    const { log, urgent } = logTo();
    for (const level of LOG_LEVELS) {
      log[level]('m');
      log.serialised(level, 'm', '');
    }
    expect(urgent).toEqual([false, false, false, false, true, true, true, true]);
  });

  it('have no effect on the silent log', () => {
    for (const level of LOG_LEVELS) expect(SILENT[level]('m')).toBeUndefined();
  });
});

describe('secrets', () => {
  it.each(['json', 'text'] as const)(
    'are masked in %s lines: in messages, fields, children and serialised members',
    (format) => {
      const redactor = new Redactor();
      redactor.registerSecret('known-secret-1');
      const { log, lines } = logTo({ format, redactor });
      log.info('known-secret-1', { a: 'hgr_0123456789abcdef', b: { password: 'p' }, c: 'x://u:w0rd@h' });
      log.child({ d: 'known-secret-1' }).info('m');
      log.serialised('info', 'm', ',"request_id":"known-secret-1","table":"hgr_0123456789abcdef"');
      expect(lines).toHaveLength(3);
      expect(lines.join('')).not.toMatch(/known-secret-1|hgr_|w0rd|"p"|=p\b/);
      expect(lines.join('').split(MASK)).toHaveLength(8);
    },
  );
});
