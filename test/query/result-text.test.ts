// Checks that result rows as JSON bytes are what JSON.stringify writes, for every kind of value.

import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/query/binder/bound.ts';
import { JsonSink } from '../../src/query/executor/rows/json-sink.ts';
import { chunkText, rowKeys, writeChunk } from '../../src/query/executor/rows/result-text.ts';
import { constant, type Vector, vectorOf } from '../../src/query/executor/values/vector.ts';
import { Random } from '../support/random.ts';

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  9,
  10,
  99,
  100,
  999_999_999,
  1e9,
  1_000_000_001,
  -1e9,
  1e15,
  123_456_789_012,
  1e18,
  -1e18,
  9_007_199_254_740_991,
  -9_007_199_254_740_991,
  0.5,
  -0.25,
  1e-7,
  1e21,
  1.7976931348623157e308,
  5e-324,
  1e16,
  2 ** 53,
];
const TEXTS = [
  '',
  'a',
  'ä',
  '"\\\n\u0000',
  '\u2028',
  '😀',
  'x'.repeat(33),
  'é'.repeat(32),
  `${'x'.repeat(31)}é`,
  '\ud800',
  'z'.repeat(5000),
];

function written(items: readonly Vector[], count: number, names = items.map((_, place) => `c${place}`)): string {
  return chunkText({ count, items }, rowKeys(names), '');
}

describe('a JSON sink', () => {
  it.each(NUMBERS)('writes the number %d as JSON.stringify does', (value) => {
    const sink = new JsonSink();
    sink.number(value);
    expect(Buffer.from(sink.take()).toString()).toBe(JSON.stringify(value));
  });

  it('writes random integers as JSON.stringify does', () => {
    const random = new Random(5);
    const sink = new JsonSink();
    const values = Array.from({ length: 5000 }, () => (random.below(2) * 2 - 1) * random.below(10 ** random.below(16)));
    sink.numbers(values);
    expect(Buffer.from(sink.take()).toString()).toBe(JSON.stringify(values));
  });

  it('grows, and is empty again after its bytes were taken', () => {
    const sink = new JsonSink();
    let wanted = '';
    for (let i = 0; i < 3000; i++) {
      const text = `${i} äöü😀 ${'y'.repeat(i % 70)}`;
      sink.text(text);
      wanted += text;
    }
    expect(sink.length).toBe(Buffer.byteLength(wanted));
    const first = sink.take();
    expect(sink.length).toBe(0);
    sink.byte(65);
    sink.bytes(Buffer.from('bcd'));
    sink.bytes(new Uint8Array(100).fill(66));
    expect(Buffer.from(sink.take()).toString()).toBe(`Abcd${'B'.repeat(100)}`);
    expect(Buffer.from(first).toString()).toBe(wanted);
  });
});

describe('rows as JSON', () => {
  it.each([
    ['numbers', NUMBERS, 'real'],
    ['numbers and null', [1, null, 2.5, null], 'real'],
    ['texts', TEXTS, 'text'],
    ['texts and null', ['a', null, 'a', ''], 'text'],
    ['booleans', [true, false, null], 'boolean'],
    ['lists', [[], [1], [1, 2, -0], [2 ** 53, 0.5], [null], ['a', 'ä'], [true], null], 'list'],
    ['row objects', [{ id: 1, members: [1, 2], s: 'ä', n: null, ok: true }, {}], 'row'],
  ] as const)('are what JSON.stringify writes for %s', (_, values, type) => {
    const wanted = values.map((value) => JSON.stringify({ 'na"me': value, k: 5 })).join(',');
    const vector = vectorOf(values as readonly Value[], type);
    expect(written([vector, constant(5)], values.length, ['na"me', 'k'])).toBe(wanted);
  });

  it('have commas between them or a separator after each', () => {
    const chunk = { count: 2, items: [constant('x')] };
    expect(chunkText(chunk, rowKeys(['a']), '')).toBe('{"a":"x"},{"a":"x"}');
    expect(chunkText(chunk, rowKeys(['a']), '\n')).toBe('{"a":"x"}\n{"a":"x"}\n');
    expect(chunkText({ count: 0, items: [constant('x')] }, rowKeys(['a']), '')).toBe('');
  });

  it('are written with pauses, even inside a long list, and are the same whenever the bytes are taken', () => {
    const list = Array.from({ length: 5000 }, (_, i) => (i % 3 === 0 ? `ä${i}` : i));
    const rows = Array.from({ length: 900 }, (_, i) => `${'y'.repeat(200)}${i}`);
    const lists = rows.map((_, i) => (i % 300 === 7 ? list : i % 300 === 8 ? list.slice(0, 1024) : []));
    const chunk = {
      count: 900,
      items: [{ kind: 'value', values: lists } as const, vectorOf(rows, 'text'), constant(list)],
    };
    const keys = rowKeys(['a', 'b', 'c']);
    const wanted = rows.map((b, i) => `${JSON.stringify({ a: lists[i], b, c: list })}\n`).join('');
    const sink = new JsonSink();
    let found = '';
    let most = 0;
    for (const _ of writeChunk(chunk, keys, '\n', sink)) {
      most = Math.max(most, sink.length);
      found += Buffer.from(sink.take()).toString();
    }
    found += Buffer.from(sink.take()).toString();
    expect(found === wanted).toBe(true);
    expect(most).toBeLessThan(128 * 1024);
    expect(chunkText(chunk, keys, '\n') === wanted).toBe(true);
  });
});
