import { describe, expect, test } from 'vitest';
import type { Measure, NodeTable, Table } from '../../src/client/index.ts';
import {
  CATEGORIES,
  colouringOf,
  NO_VALUE,
  type NodeValue,
  OTHER,
  STEPS,
  sizingOf,
  UNKNOWN,
} from '../../src/console/graph/scales.ts';
import { nodeId, sourcesOf } from '../../src/console/graph/value-sources.ts';

/** Colours the nodes 0, 1, ... with these values. */
function coloured(...values: (NodeValue | undefined)[]) {
  const { lookOf, legend } = colouringOf([...values.keys()], (node) => values[node]);
  return { looks: values.map((_, node) => lookOf(node)), legend };
}

describe('colours of nodes', () => {
  test('are one for each category, in the order of the texts', () => {
    const { looks, legend } = coloured('Rome', 'Bern', 'Rome', null, undefined, '');
    expect(looks).toEqual(['category-2', 'category-1', 'category-2', NO_VALUE, UNKNOWN, 'category-0']);
    expect(legend).toEqual([
      { look: 'category-0', text: 'empty text', count: 1 },
      { look: 'category-1', text: 'Bern', count: 1 },
      { look: 'category-2', text: 'Rome', count: 2 },
      { look: NO_VALUE, text: 'no value (NULL)', count: 1 },
      { look: UNKNOWN, text: 'not known', count: 1 },
    ]);
    expect(coloured(true, false, true).legend.map(({ text }) => text)).toEqual(['false', 'true']);
  });

  test('are given to the most frequent categories, the others share one', () => {
    const many = Array.from({ length: 30 }, (_, at) => `c${String(at).padStart(2, '0')}`);
    const { looks, legend } = coloured(...many, ...many.slice(20), ...many.slice(20));
    expect(legend).toHaveLength(CATEGORIES + 1);
    expect(legend.at(-1)).toEqual({ look: OTHER, text: '20 other values', count: 20 });
    expect(looks.slice(0, 20)).toEqual(Array(20).fill(OTHER));
    expect(looks[20]).toBe('category-0');
  });

  test('are steps of equal width for numbers, whose texts cover the whole range', () => {
    const { looks, legend } = coloured(0, 35, 70, 69.9, null);
    expect(looks).toEqual(['scale-0', 'scale-3', `scale-${STEPS - 1}`, `scale-${STEPS - 1}`, NO_VALUE]);
    expect(legend.map(({ text, count }) => [text, count])).toEqual([
      ['0 to 10', 1],
      ['30 to 40', 1],
      ['60 to 70', 2],
      ['no value (NULL)', 1],
    ]);
  });

  test('are steps of equal ratio for numbers that are far apart', () => {
    const { legend } = coloured(1, 10, 100, 1000, 10_000_000);
    expect(legend.map(({ text }) => text)).toEqual(
      ['1 to 10', '10 to 100', '100 to 1,000', '1,000 to 10,000', '1e+6 to 10,000,000'].map((text) =>
        text.replace('1e+6', '1,000,000'),
      ),
    );
  });

  test('are one for each of a few whole numbers, and one if all are equal', () => {
    const { looks, legend } = coloured(2, 4, 3);
    expect(looks).toEqual(['scale-0', `scale-${STEPS - 1}`, 'scale-3']);
    expect(legend.map(({ text }) => text)).toEqual(['2', '3', '4']);
    expect(coloured(5, 5).legend).toEqual([{ look: `scale-${STEPS - 1}`, text: '5', count: 2 }]);
    expect(coloured(0.0020001, 0.0020008).legend.map(({ text }) => text)).toEqual([
      '0.0020001 to 0.0020002',
      '0.0020007 to 0.0020008',
    ]);
    expect(coloured(null, undefined).looks).toEqual([NO_VALUE, UNKNOWN]);
  });

  test('exist for the largest and smallest numbers', () => {
    const { looks } = coloured(-Number.MAX_VALUE, 0, Number.MAX_VALUE, Number.MIN_VALUE);
    expect(looks[0]).toBe('scale-0');
    expect(looks[2]).toBe(`scale-${STEPS - 1}`);
    for (const look of looks) expect(look).toMatch(/^scale-[0-6]$/);
  });
});

describe('sizes of nodes', () => {
  test('are areas that grow with the numbers; nodes without one are dots', () => {
    const values = [1, 5, 9, null, undefined];
    const { radiusOf, text } = sizingOf([...values.keys()], (node) => values[node]);
    const [small, middle, large, nothing, unknown] = values.map((_, node) => radiusOf(node));
    expect([small, large]).toEqual([8, 20]);
    expect(middle! ** 2).toBeCloseTo((8 ** 2 + 20 ** 2) / 2);
    expect([nothing, unknown]).toEqual([4.5, 4.5]);
    expect(text).toBe('1 (small) to 9 (large); dots: 2 without a value');
  });

  test('are equal for equal numbers, and finite for the largest', () => {
    const same = sizingOf([1, 2], () => 7);
    expect([same.radiusOf(1), same.text]).toEqual([same.radiusOf(2), 'all 7']);
    const wide = sizingOf([1, 2], (node) => (node === 1 ? -Number.MAX_VALUE : Number.MAX_VALUE));
    expect([wide.radiusOf(1), wide.radiusOf(2)]).toEqual([8, 20]);
    expect(sizingOf([1], () => null).text).toBe('no values; dots: 1 without a value');
  });
});

describe('what nodes can be coloured by', () => {
  const table = (changes: Partial<Table>) =>
    ({ name: 'mail', nodes: 'named', member_tables: ['Person'], roles: [], ...changes }) as Table;
  const people = {
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [
      { name: 'city', type: 'TEXT' },
      { name: 'born', type: 'INTEGER' },
    ],
  } as unknown as NodeTable;
  const byNode = { type: 'object', description: 'By node id; in a named table by key.', additionalProperties: {} };
  const measures = [
    { measure: 'pagerank', params: { properties: { from: {}, to: {} } }, result: byNode },
    { measure: 'zhou_clustering', params: { properties: {} }, result: byNode },
    { measure: 'edge_size', params: {}, result: { ...byNode, description: 'By edge id.' } },
    { measure: 'density', params: {}, result: { type: 'number' } },
  ] as unknown as Measure[];
  const titles = (of: Table | undefined) => sourcesOf(of, [people], measures).map(({ title }) => title);

  test('is the edges of a result, attributes, and measures with a value for each node', () => {
    expect(titles(table({}))).toEqual(['edges in this result', 'city', 'born', 'pagerank', 'zhou_clustering']);
    expect(sourcesOf(table({}), [people], []).map(({ isNumber }) => isNumber)).toEqual([true, false, true]);
    expect(titles(undefined)).toEqual(['edges in this result']);
  });

  test('has directed measures if the table has two roles', () => {
    expect(titles(table({ roles: ['sender', 'recipient'] })).slice(3)).toEqual([
      'pagerank',
      'pagerank from sender to recipient',
      'zhou_clustering',
    ]);
    expect(titles(table({ roles: ['a', 'b', 'c'] }))).toHaveLength(5);
  });

  test('names the kinds if there are several, and has no attributes in a table of numbers', () => {
    const several = table({ member_tables: ['Person', 'Room'] });
    expect(titles(several).slice(0, 4)).toEqual(['edges in this result', 'kind of node', 'Person.city', 'Person.born']);
    expect([nodeId(several, 'Room', 12), nodeId(table({}), 'Person', 'Ada')]).toEqual(['Room:12', 'Ada']);
    // The kinds of a table of numbers bind nothing, even if a node table has that name.
    expect(titles(table({ nodes: 'numbers' }))).toEqual(['edges in this result', 'pagerank', 'zhou_clustering']);
    expect(nodeId(table({ nodes: 'numbers', member_tables: ['a', 'b'] }), 'a', 12)).toBe('12');
  });
});
