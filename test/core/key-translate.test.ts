// Compares row text in which marks are replaced by keys with the JSON that JavaScript writes.

import { describe, expect, it } from 'vitest';
import { KeyDictionary, type KeyForm, loadCore } from '../../src/core/index.ts';
import { BUILDS } from './support/instance.ts';
import { type Random, randomFrom } from './support/random.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const FORMS: readonly KeyForm[] = ['keys', 'objects', 'texts', 'kind texts'];
const KIND = 'A "kind" \\ \u00fc';
const KEYS = [
  'Ada',
  '',
  '"',
  '\\',
  'a "b" c',
  '\u{1f33f}',
  'x'.repeat(512),
  '"'.repeat(512),
  '\u00e9'.repeat(256),
  'k,]}',
];

function open(build: (typeof BUILDS)[number]): { dictionary: KeyDictionary; keys: Map<number, string | number> } {
  const dictionary = new KeyDictionary(loadCore(build).instantiate());
  dictionary.setKind(2, 'Old', false);
  dictionary.setKind(2, KIND, false);
  dictionary.setKind(5, 'Year', true);
  const keys = new Map<number, string | number>();
  // Numbers with bytes that are marks, newlines and quotes themselves.
  for (const number of [1, 0x01010101, 0x0a01220a, 0x5c5c5c5c, 4294967295]) {
    dictionary.add(2, `n${number}`, number);
    keys.set(number, `n${number}`);
  }
  for (const key of KEYS.filter((text) => text !== '')) {
    const number = 300 + keys.size * 7;
    dictionary.add(2, key, number);
    keys.set(number, key);
  }
  for (const year of [0, -44, 1984, Number.MIN_SAFE_INTEGER]) {
    const number = 70_000 + keys.size;
    dictionary.add(5, year, number);
    keys.set(number, year);
  }
  dictionary.kill(300 + 5 * 7);
  return { dictionary, keys };
}

function mark(number: number): Buffer {
  const bytes = Buffer.alloc(5, 1);
  bytes.writeUInt32LE(number, 1);
  return bytes;
}

/** Returns row text with marks, and the two texts that it becomes. */
function rowsOf(random: Random, keys: Map<number, string | number>, rows: number) {
  const numbers = [...keys.keys()];
  const marked: Buffer[] = [];
  const texts: Record<KeyForm, string[]> = { keys: [], objects: [], texts: [], 'kind texts': [] };
  for (let row = 0; row < rows; row++) {
    const members = Array.from({ length: random.below(6) }, () =>
      random.below(10) ? numbers[random.below(numbers.length)]! : 12_345_678,
    );
    const head = `{"id":${random.below(1e9)},"members":[`;
    const tail = `],"note":${JSON.stringify('y'.repeat(random.below(80)))}}\n`;
    marked.push(
      Buffer.from(head),
      Buffer.concat(members.flatMap((n, i) => [Buffer.from(i ? ',' : ''), mark(n)])),
      Buffer.from(tail),
    );
    const plain = members.map((number) => keys.get(number) ?? null);
    const objects = plain.map((key) => (key === null ? null : { kind: typeof key === 'number' ? 'Year' : KIND, key }));
    texts.keys.push(head, plain.map((key) => JSON.stringify(key)).join(','), tail);
    texts.objects.push(head, objects.map((key) => JSON.stringify(key)).join(','), tail);
    texts.texts.push(head, plain.map((key) => JSON.stringify(String(key))).join(','), tail);
    const named = objects.map((one) => (one === null ? 'null' : `${one.kind}:${one.key}`));
    texts['kind texts'].push(head, named.map((key) => JSON.stringify(key)).join(','), tail);
  }
  const whole = FORMS.map((form) => [form, texts[form].join('')] as const);
  return { text: Buffer.concat(marked), ...(Object.fromEntries(whole) as Record<KeyForm, string>) };
}

describe.each(BUILDS)('row text with keys, %s build', (build) => {
  it('is what JSON.stringify writes, for texts of any size', () => {
    const { dictionary, keys } = open(build);
    const random = randomFrom(SEED);
    for (const rows of [0, 1, 1, 2, 3, 5, 10, 50, 400, 3000]) {
      const expected = rowsOf(random, keys, rows);
      for (const form of FORMS) {
        const text = dictionary.translate(expected.text, form);
        expect(Buffer.isBuffer(text)).toBe(true);
        expect(text.toString() === expected[form]).toBe(true);
        for (const line of text.toString().split('\n')) if (line !== '') JSON.parse(line);
      }
    }
  });

  it('has marks at every offset from the begin and the end of the text and of its slices', () => {
    const { dictionary } = open(build);
    for (const length of [40, 2048 + 20, 65_536 + 40]) {
      for (let at = length - 40; at <= length; at++) {
        const text = Buffer.concat([Buffer.alloc(at, 'a'), mark(1), mark(0x01010101), Buffer.alloc(length - at, 'b')]);
        const expected = `${'a'.repeat(at)}"n1""n16843009"${'b'.repeat(length - at)}`;
        expect(dictionary.translate(text, 'keys').toString() === expected).toBe(true);
      }
    }
  });

  it('returns a copy of text without marks, and nothing for no text', () => {
    const { dictionary } = open(build);
    const text = Buffer.from('{"id":1}\n');
    const copy = dictionary.translate(new Uint8Array(text), 'keys');
    text.fill(0);
    expect([copy.toString(), dictionary.translate(new Uint8Array(0), 'objects').length]).toEqual(['{"id":1}\n', 0]);
  });

  it('takes a kind with a long name, and refuses text that ends inside of a mark', () => {
    const { dictionary } = open(build);
    const name = 'N'.repeat(300_000);
    dictionary.setKind(9, name, true);
    dictionary.add(9, 5, 80_000);
    const text = dictionary.translate(mark(80_000), 'objects');
    expect(text.toString() === JSON.stringify({ kind: name, key: 5 })).toBe(true);
    expect(() => dictionary.translate(Buffer.concat([mark(1), mark(1).subarray(0, 4)]), 'keys')).toThrow('assertion');
  });
});
