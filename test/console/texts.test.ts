import { describe, expect, test } from 'vitest';
import { withNumbers } from '../../src/console/ask/names-in-question.ts';
import { linesOf, partsOf } from '../../src/console/ask/sentences.ts';
import { latenciesOf, samplesOf, sampleValue } from '../../src/console/operations/metrics-text.ts';
import { orderedColumns } from '../../src/console/query/column-order.ts';
import { ruleText } from '../../src/console/rules/rule-words.ts';
import { bare, firstWord, isMatch, limitOf, patternsOf, quoted } from '../../src/console/statement-words.ts';

test('answers are split at their tags', () => {
  expect(partsOf('It met [STEP-1] [HEDGE-7]. [OTHER-1]')).toEqual([
    { kind: 'text', text: 'It met ' },
    { kind: 'step', tag: 'STEP-1' },
    { kind: 'text', text: ' ' },
    { kind: 'edge', tag: 'HEDGE-7', edgeId: 7 },
    { kind: 'text', text: '. [OTHER-1]' },
  ]);
  expect(linesOf('a\n\n b ')).toEqual(['a', ' b ']);
});

test('rules are written as sentences, and an incomplete rule as an empty text', () => {
  const rule = {
    if: [{ pred: 'member', args: ['?E', 3] }, { not: { pred: 'p', args: ['?E'] } }, { compare: ['?E', '<', 'x'] }],
    then: { pred: 'q', args: ['?E', true] },
  };
  expect(ruleText(rule)).toBe('q(?E, true) if member(?E, 3), not p(?E), ?E < x');
  expect(ruleText({ ...rule, if: [{}] })).toBe('');
  expect(ruleText(null)).toBe('');
});

test('values and quantiles are computed from metrics', () => {
  const samples = samplesOf(
    [
      '# HELP x y',
      'hedgerow_records_total 12',
      'h_bucket{le="1",route="/a"} 50',
      'h_bucket{le="2",route="/a"} 100',
      'h_bucket{le="+Inf",route="/a"} 100',
      'h_bucket{le="+Inf",route="/none"} 0',
    ].join('\n'),
  );
  expect(sampleValue(samples, 'hedgerow_records_total')).toBe(12);
  expect(latenciesOf(samples, 'h', 'route')).toEqual([{ label: '/a', count: 100, p50: 1, p99: 1.98 }]);
});

test('statements are inspected without their texts and comments', () => {
  expect(bare(`a 'it''s' // c\n"d\\"" /* e\nf */ \`g\``)).toBe(
    'a _______     \n_____     \n     ___'.replace('     \n_', '     \n_'),
  );
  expect(isMatch('/* SHOW */ match (e:t) RETURN e')).toBe(true);
  expect(isMatch('SHOW TABLES // MATCH')).toBe(false);
});

test('names that are keywords are written in backquotes', () => {
  expect([quoted('ships'), quoted('order'), quoted('Table')]).toEqual(['ships', '`order`', '`Table`']);
});

test('the first word and the patterns of a statement are found despite comments and texts', () => {
  expect([firstWord('/* a */ // b\n begin;'), firstWord(''), firstWord('(x)')]).toEqual(['BEGIN', '', '']);
  expect(patternsOf("MATCH (e:ships), ( o : `order`) WHERE e.note = '(x:y)' RETURN size(e.members)")).toEqual([
    { alias: 'e', table: 'ships' },
    { alias: 'o', table: 'order' },
  ]);
});

test.each([
  ['MATCH (e:t) RETURN * LIMIT 200', 200],
  ['MATCH (e:t)\nRETURN *\nLIMIT 5 SKIP 2;\n', 5],
  ['MATCH (e:t) RETURN * SKIP 2 limit 5 // LIMIT 9', 5],
  ["MATCH (e:t) WHERE e.note = 'LIMIT 4' RETURN *", undefined],
  ['MATCH (e:t) RETURN * LIMIT $most', undefined],
])('the limit of %j is %j', (statement, limit) => {
  expect(limitOf(statement)).toBe(limit);
});

describe('names in a question', () => {
  const names = new Map([
    [4, 'Ada'],
    [5, 'Ada Lovelace'],
    [6, 'Zoë (Delft)'],
    [7, '12'],
  ]);

  test('are replaced by numbers, with the longest name first, as whole words and in their letter case', () => {
    expect(withNumbers('Whom did Ada Lovelace, node Ada and Zoë (Delft) meet with Adam, ada or 12?', names)).toEqual({
      text: 'Whom did node 5, node 4 and node 6 meet with Adam, ada or 12?',
      found: [
        { name: 'Ada Lovelace', node: 5 },
        { name: 'Ada', node: 4 },
        { name: 'Zoë (Delft)', node: 6 },
      ],
    });
  });

  test('remain text when the table has no names', () => {
    expect(withNumbers('Whom did Ada meet?', new Map())).toEqual({ text: 'Whom did Ada meet?', found: [] });
  });
});

test('built-in columns come last when they are empty and were not requested', () => {
  const columns = ['id', 'weight', 'formation', 'topic'];
  const rows = [
    { id: 1, weight: null, formation: null, topic: null },
    { id: 2, weight: 0, formation: null, topic: 'x' },
  ];
  const of = (statement: string) => orderedColumns({ statement, columns, rows });
  expect(of('MATCH (e:t) RETURN *')).toEqual(['id', 'weight', 'topic', 'formation']);
  expect(of('MATCH (e:t) RETURN e.id, e.weight, e.formation, e.topic')).toEqual(columns);
});
