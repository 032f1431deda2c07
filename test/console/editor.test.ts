import { describe, expect, test } from 'vitest';
import type { Table } from '../../src/client/index.ts';
import { bracketAt } from '../../src/console/editor/brackets.ts';
import { insertionOf } from '../../src/console/editor/insertion.ts';
import { namesAt } from '../../src/console/editor/names.ts';
import { rangeAt } from '../../src/console/editor/statement-editor.ts';
import { tokensOf } from '../../src/console/editor/tokens.ts';
import { tokenize } from '../../src/query/lexer/lexer.ts';

const shown = (text: string) => tokensOf(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

describe('the colours of a statement', () => {
  test('depend on the position of words', () => {
    expect(shown('MATCH (e:order) RETURN count(*), e.limit, count')).toEqual([
      'keyword MATCH',
      'symbol (',
      'symbol :',
      'table order',
      'symbol )',
      'keyword RETURN',
      'function count',
      'symbol (',
      'symbol *',
      'symbol )',
      'symbol ,',
      'symbol .',
      'symbol ,',
    ]);
  });

  test('treat texts, names and comments as one token each, across lines and when they are not closed', () => {
    expect(shown("'it''s \\' /* no */' /* a\nb */ `MATCH` $p 1.5e-3 // 'x\n\"open")).toEqual([
      "text 'it''s \\' /* no */'",
      'comment /* a\nb */',
      'parameter $p',
      'number 1.5e-3',
      "comment // 'x",
      'text "open',
    ]);
    expect(shown("'\\")).toEqual(["text '\\"]);
  });

  test('begin and end where the tokens of the server begin and end', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const parts =
      "MATCH|e|.|:|(|)|[|]|,|'a''b'|\"c\\\"d\"|`n m`|$x|12|1.5|.5|2e3|/* c */|// l\n| |\n|<|=|count|-|'\\u00e4'".split(
        '|',
      );
    for (let round = 0; round < 500; round += 1) {
      const text = Array.from({ length: 1 + random(12) }, () => parts[random(parts.length)]!).join(' ');
      const wanted = tokenize(text)
        .filter(({ kind }) => ['text', 'parameter', 'integer', 'float'].includes(kind))
        .map(({ start, end }) => text.slice(start, end));
      const found = tokensOf(text)
        .filter(({ kind }) => ['text', 'parameter', 'number'].includes(kind))
        .map(({ start, end }) => text.slice(start, end));
      expect([text, found]).toEqual([text, wanted]);
    }
  });

  test('are computed only up to a given position', () => {
    expect(tokensOf('MATCH (e:t) RETURN e', 6).length).toBe(1);
  });
});

const tables = [
  { name: 'mail', columns: [{ name: 'note', type: 'TEXT' }] },
  { name: 'order', columns: [{ name: 'limit', type: 'INTEGER' }] },
] as unknown as Table[];

const offered = (text: string, isAsked = false) =>
  namesAt(text, text.length, tables, isAsked)?.names.map(({ label, apply }) => apply ?? label);

describe('completion', () => {
  test('offers tables where a table is expected', () => {
    for (const text of [
      'MATCH (e:',
      'INSERT INTO ',
      'COPY x FROM ',
      'MATCH (e:ma',
      'DROP HYPEREDGE TABLE IF EXISTS ',
      'MATCH (e:mail) WHERE NOT EXISTS ((x:',
    ])
      expect([text, offered(text)]).toEqual([text, ['mail', '`order`']]);
    expect(offered('MATCH (e:mail) WHERE NOT EXISTS ')).toBe(undefined);
  });

  test('offers the columns of the table of an alias, in backquotes where needed', () => {
    expect(offered('MATCH (e:mail) WHERE e.')).toContain('note');
    expect(offered('MATCH (a:mail), (o:`order`) RETURN o.l')).toEqual(
      expect.arrayContaining(['id', 'members', '`limit`']),
    );
    expect(offered('MATCH (a:mail), (o:`order`) RETURN o.l')).not.toContain('note');
    expect(offered('MATCH (a:mail) WHERE EXISTS ((o:`order`) WHERE o.l')).toContain('`limit`');
    expect(offered('MATCH (o:`order`) WHERE EXISTS ((x:mail) WHERE o.l')).toContain('`limit`');
    expect(offered('MATCH (e:none) RETURN e.')).toEqual([
      'id',
      'event_ts',
      'members',
      'weight',
      'mean_dist_m',
      'formation',
    ]);
  });

  test('offers the aliases of the current statement first, and no aliases of others', () => {
    const first = (text: string) =>
      namesAt(text, text.length, tables, false)
        ?.names.filter(({ boost }) => boost === 99)
        .map(({ label, detail }) => `${label} ${detail}`);
    expect(first('MATCH (a:mail), (o:`order`) RETURN a.id AS found ORDER BY f')).toEqual([
      'a mail',
      'o order',
      'found result',
    ]);
    expect(first('MATCH (x:mail) RETURN x; MATCH (y:order) RETURN z')).toEqual(['y order']);
    expect(offered('MATCH (e:mail) RETURN e; MATCH (e:order) RETURN e.l')).toContain('`limit`');
  });

  test('offers nothing after a complete word or a new name, unless requested', () => {
    for (const text of [
      'MATCH (e:mail) RETURN',
      'MATCH (e:mail) RETURN e',
      'MATCH (e:mail) RETURN e.note',
      'MATCH (e:mail',
      'MATCH (e',
      'MATCH (a:mail), (e',
      'MATCH (a:mail) WHERE EXISTS ((e',
      'MATCH (a:mail) WHERE NOT exists ( (x:mail), (e',
      'MATCH (e:mail) RETURN e.id AS e',
      'MATCH (e:mail) WHERE e.id = $i',
    ])
      expect([text, offered(text)]).toEqual([text, undefined]);
    expect(offered('MATCH (e:mail) RETURN e', true)).toContain('e');
    expect(offered('MATCH (e:mail) WHERE e.id IN (e')).toBe(undefined);
    expect(offered('MATCH (e:mail) WHERE (no')).toContain('NOT');
  });

  test('offers keywords once one is begun, or on request', () => {
    expect(offered('MATCH (e:mail) RET')).toContain('RETURN');
    expect(offered('MATCH (e:mail) ')).toBe(undefined);
    expect(offered('MATCH (e:mail) ', true)).toContain('COUNT(');
  });

  test('offers nothing inside texts and comments', () => {
    for (const text of ["WHERE e.note = 'MAT", 'RETURN e // MAT', '/* MAT', 'MATCH (e:`ma'])
      expect([text, offered(text)]).toEqual([text, undefined]);
  });
});

describe('a clicked name', () => {
  const written = (text: string, table: string, column?: string) =>
    insertionOf(text, text.length, column === undefined ? { table } : { table, column });

  test('is inserted in the form that the statement needs', () => {
    expect(written('MATCH (e:', 'order')).toBe('`order`');
    expect(written('INSERT INTO', 'mail')).toBe(' mail');
    expect(written('MATCH (e:mail) RETURN ', 'mail', 'note')).toBe('e.note');
    expect(written('MATCH (e:mail) RETURN e.', 'mail', 'note')).toBe('note');
    expect(written('MATCH (e:mail), (o:`order`) RETURN e.id,', 'order', 'limit')).toBe('o.`limit`');
    expect(written('MATCH (e:mail) WHERE', 'order', 'members')).toBe(' members');
  });
});

test('an error is marked from its column, counted in characters, to the end of the word', () => {
  expect(rangeAt('a\n\u{1f33f}bc d', 2, 2)).toEqual({ from: 4, to: 6 });
  expect(rangeAt('RETURN', 1, 7)).toEqual({ from: 5, to: 6 });
  expect(rangeAt('', 1, 1)).toEqual({ from: 0, to: 0 });
  expect(rangeAt('x', 9, 9)).toEqual({ from: 0, to: 1 });
});

test('a bracket is matched with its partner, ignoring texts and comments', () => {
  const text = "f([1, ')'] /* ) */) (";
  expect(bracketAt(text, 1)).toEqual({ at: 1, other: text.indexOf(') (') });
  expect(bracketAt(text, 10)).toEqual({ at: 9, other: 2 });
  expect(bracketAt(text, text.length)).toEqual({ at: text.length - 1, other: undefined });
  expect(bracketAt('(]', 1)).toEqual({ at: 0, other: undefined });
  expect(bracketAt(text, 5)).toBe(undefined);
});
