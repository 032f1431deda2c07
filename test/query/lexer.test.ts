// Tests the lexer: every kind of token, every escape, and every refusal with its position. The work
// must be linear in the length of the text.

import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { tokenize, tokenizing } from '../../src/query/lexer/lexer.ts';
import { describeToken, lineAndColumn } from '../../src/query/lexer/token.ts';
import { MAX_LITERAL_LENGTH, MAX_STATEMENT_LENGTH } from '../../src/query/limits.ts';

function kinds(text: string): string[] {
  return tokenize(text).map((token) => (token.kind === 'end' ? 'end' : `${token.kind} ${token.value}`));
}

function refusal(text: string): { code: string; detail: string; fields: Record<string, unknown> } {
  try {
    tokenize(text);
  } catch (error) {
    if (error instanceof HedgerowError) return { code: error.code, detail: error.message, fields: error.fields ?? {} };
    throw error;
  }
  throw new Error(`${JSON.stringify(text.slice(0, 80))} was read`);
}

function value(text: string): string {
  const [token] = tokenize(text);
  expect(token!.kind).toBe('text');
  return token!.value;
}

describe('tokens', () => {
  it('of a long text are read in steps of at most 4,096', () => {
    const steps = [...tokenizing(`[${'1, '.repeat(50_000)}1]`)];
    expect(steps.length).toBe(24);
  });

  it('are words, with their form in capitals, and names in backquotes', () => {
    expect(kinds('match _a1 `order by` `a``b`')).toEqual([
      'word match',
      'word _a1',
      'name order by',
      'name a',
      'name b',
      'end',
    ]);
    const [word, name] = tokenize('Match `Match`');
    expect([word!.upper, name!.upper]).toEqual(['MATCH', '']);
  });

  it('have the right form in capitals after texts that become longer in capitals', () => {
    for (const before of ["'ab'", "'straße ŉ ﬃ'", '`ß`', '/* ΐ */', '// ß\n'])
      expect(tokenize(`${before} match _x9 Return`).flatMap((token) => token.upper || [])).toEqual([
        'MATCH',
        '_X9',
        'RETURN',
      ]);
  });

  it.each([
    ['0', 'integer 0'],
    ['007', 'integer 007'],
    ['9007199254740991', 'integer 9007199254740991'],
    ['1.5', 'float 1.5'],
    ['.5', 'float .5'],
    ['1e3', 'float 1e3'],
    ['1E+3', 'float 1E+3'],
    ['2.5e-3', 'float 2.5e-3'],
    ['1.7976931348623157e308', 'float 1.7976931348623157e308'],
    ['1e-400', 'float 1e-400'],
  ])('are numbers: %s', (text, expected) => {
    expect(kinds(text)).toEqual([expected, 'end']);
  });

  it('do not join a number with a sign, or with a dot that no digit follows', () => {
    expect(kinds('1.x')).toEqual(['integer 1', 'symbol .', 'word x', 'end']);
    expect(kinds('-1+2')).toEqual(['symbol -', 'integer 1', 'symbol +', 'integer 2', 'end']);
    expect(kinds('1..5')).toEqual(['integer 1', 'symbol .', 'float .5', 'end']);
  });

  it('are symbols, of which the longest match is taken', () => {
    expect(kinds('<=>=<>!=<>')).toEqual(
      ['<=', '>=', '<>', '!=', '<>'].map((symbol) => `symbol ${symbol}`).concat('end'),
    );
    expect(kinds('()[],:.;=<>+-*/%')).toEqual([
      ...[...'()[],:.;='].map((symbol) => `symbol ${symbol}`),
      'symbol <>',
      ...[...'+-*/%'].map((symbol) => `symbol ${symbol}`),
      'end',
    ]);
  });

  it('are parameters, which keep their case', () => {
    expect(kinds('$a $A_1 $_')).toEqual(['parameter a', 'parameter A_1', 'parameter _', 'end']);
  });

  it('may have comments and blanks between them', () => {
    expect(kinds('a// b\nc/* d \n e */f\u00a0g\ufeffh\t\v\f\r\n/**/i //')).toEqual(
      ['a', 'c', 'f', 'g', 'h', 'i'].map((word) => `word ${word}`).concat('end'),
    );
    expect(kinds('a /* // */ b // /* c')).toEqual(['word a', 'word b', 'end']);
    expect(kinds('')).toEqual(['end']);
  });

  it('have their positions in the text', () => {
    const text = "a  'b''c' $d";
    expect(tokenize(text).map(({ start, end }) => text.slice(start, end))).toEqual(['a', "'b''c'", '$d', '']);
  });
});

describe('the value of a text token', () => {
  it.each([
    ["''", ''],
    ['""', ''],
    ["'a'", 'a'],
    ["'it''s'", "it's"],
    ["''''", "'"],
    ['"say ""x"""', 'say "x"'],
    ["'a\"b'", 'a"b'],
    ['"it\'s"', "it's"],
    ["'\\\\ \\' \\\" \\n \\r \\t'", '\\ \' " \n \r \t'],
    ["'\\u00e9\\u0041'", 'éA'],
    ["'\\ud83d\\ude00'", '😀'],
    ["'😀 é \n'", '😀 é \n'],
    ["'-- // /* '", '-- // /* '],
    ["'\\u0000'", '\0'],
  ])('is right for %s', (written, expected) => {
    expect(value(written)).toBe(expected);
  });

  it('ends at the first quote that is not doubled', () => {
    expect(kinds("'a' 'b'")).toEqual(['text a', 'text b', 'end']);
    expect(kinds("'a''' 'b'")).toEqual(["text a'", 'text b', 'end']);
  });
});

describe('a refusal by the lexer', () => {
  it.each([
    ["'abc", 1, 1, "close it with '", ["'"]],
    ['x "abc\'', 1, 3, 'close it with "', ['"']],
    ["'abc\\'", 1, 1, 'does not end', ["'"]],
    ['a\n  `b', 2, 3, 'close it with a backquote', ['`']],
    ['``', 1, 1, 'at least one character', ['a name']],
    ['a /* b', 1, 3, 'close it with */', ['*/']],
    ["'\\x41'", 1, 2, 'escape is unknown', ['\\\\', "\\'", '\\"', '\\n', '\\r', '\\t', '\\uXXXX']],
    ["'ab\\u12G4'", 1, 4, 'escape is unknown', undefined],
    ["'\\u12'", 1, 2, 'escape is unknown', undefined],
    ["'\\", 1, 2, 'escape is unknown', undefined],
    ["'\\ud83d'", 1, 1, 'half of a surrogate pair', undefined],
    ["'\\ude00\\ud83d'", 1, 1, 'half of a surrogate pair', undefined],
    ['$1', 1, 1, 'a parameter has a name', ['a name']],
    ['a $', 1, 3, 'a parameter has a name', ['a name']],
    ['5abc', 1, 1, 'neither a number nor a name', undefined],
    ['0x10', 1, 1, 'neither a number nor a name', undefined],
    ['1e5x', 1, 1, 'neither a number nor a name', undefined],
    ['9007199254740992', 1, 1, 'larger than 9007199254740991', undefined],
    ['1e309', 1, 1, 'too large', undefined],
    ['a ? b', 1, 3, '"?" has no meaning', undefined],
    ['a !b', 1, 3, '"!" has no meaning', undefined],
    ['é', 1, 1, '"é" has no meaning', undefined],
    ['a\n😀', 2, 1, '"😀" has no meaning', undefined],
    ['{', 1, 1, 'has no meaning', undefined],
  ] as const)('is right for %j at line %i, column %i: %s', (text, line, column, part, expected) => {
    const { code, detail, fields } = refusal(text);
    expect(code).toBe('syntax_error');
    expect(detail).toContain(`Line ${line}, column ${column}: `);
    expect(detail).toContain(part);
    expect([fields.line, fields.column]).toEqual([line, column]);
    if (expected !== undefined) expect(fields.expected).toEqual(expected);
  });

  it('names the limit if the statement or a literal is too long', () => {
    expect(refusal('a'.repeat(MAX_STATEMENT_LENGTH + 1)).detail).toContain(String(MAX_STATEMENT_LENGTH));
    expect(refusal(`'${'a'.repeat(MAX_LITERAL_LENGTH + 1)}'`).detail).toContain(String(MAX_LITERAL_LENGTH));
    expect(value(`'${"''".repeat(MAX_LITERAL_LENGTH)}'`)).toHaveLength(MAX_LITERAL_LENGTH);
    expect(tokenize(' '.repeat(MAX_STATEMENT_LENGTH))).toHaveLength(1);
  });
});

describe('places in a text', () => {
  it('are lines counted by line feeds, and columns counted by characters', () => {
    expect(lineAndColumn('ab\ncd', 0)).toEqual({ line: 1, column: 1 });
    expect(lineAndColumn('ab\ncd', 2)).toEqual({ line: 1, column: 3 });
    expect(lineAndColumn('ab\ncd', 3)).toEqual({ line: 2, column: 1 });
    expect(lineAndColumn('😀😀x', 4)).toEqual({ line: 1, column: 3 });
    expect(lineAndColumn('a\r\n\nb', 4)).toEqual({ line: 3, column: 1 });
  });

  it('are described by the tokens there', () => {
    const shown = tokenize(`word 'text' $p \`name\` 12 ${'x'.repeat(80)}`).map(describeToken);
    expect(shown).toEqual([
      '"word"',
      'the text "text"',
      '$p',
      '`name`',
      '"12"',
      `"${'x'.repeat(60)}..."`,
      'the end of the statement',
    ]);
  });
});

/** Returns a string that counts how often its characters are read. */
function countingText(text: string): { text: string; reads: () => number } {
  let reads = 0;
  const counted = new Proxy(new String(text), {
    get: (target, key) => {
      const found = Reflect.get(target, key) as unknown;
      if (typeof found !== 'function') {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
        return found;
      }
      return (...args: never[]) => {
        const result = (found as (...given: never[]) => unknown).apply(String(target), args);
        reads +=
          typeof result === 'string'
            ? result.length
            : key === 'indexOf'
              ? Math.max(1, (result as number) - Number(args[1] ?? 0))
              : 1;
        return result;
      };
    },
  });
  return { text: counted as unknown as string, reads: () => reads };
}

describe('the work of the lexer', () => {
  const LENGTH = 100_000;
  it.each([
    ['words', 'ab '],
    ['digits', '1'],
    ['one word', 'a'],
    ['blanks', ' '],
    ['symbols', '<'],
    ['parameters', '$a'],
    ['comments', '/**/'],
    ['line comments', '//\n'],
    ['doubled quotes', "''"],
    ['escapes', "'\\n'"],
    ['backquotes', '`a`'],
    ['dots', '.5'],
    ['numbers with exponents', '1e1 '],
  ])('is a few reads of each character for 100 KB of %s', (_, piece) => {
    const { text, reads } = countingText(piece.repeat(LENGTH / piece.length));
    try {
      tokenize(text);
    } catch (error) {
      expect(error).toBeInstanceOf(HedgerowError);
    }
    expect(reads()).toBeGreaterThan(LENGTH / 20);
    expect(reads()).toBeLessThan(12 * LENGTH);
  });
});
