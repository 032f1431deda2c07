// Compares the key dictionary with a naive model, over random histories, and checks its limits.

import { describe, expect, it } from 'vitest';
import { KeyDictionary, loadCore } from '../../src/core/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { BUILDS, Instance } from './support/instance.ts';
import { describeKeys, describeModel, KeysModel } from './support/keys-model.ts';
import { concat, edgeOf, naiveRecord } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const PERSON = 0;
const PLACE = 7;
const YEAR = 3;

/** Keys that are easily confused: by case, Unicode form, length, padding, kind. */
const TEXTS = [
  'Ada',
  'ada',
  'ADA',
  '\u00e9',
  'e\u0301',
  'a',
  'aa',
  'aaa',
  'aaaa',
  'aaaaa',
  'a a',
  ' ',
  '"',
  '\\',
  'a"b\\c',
  '.',
  '..',
  '/',
  '0',
  '1',
  '-1',
  'null',
  '\u{1f33f}',
  '\uffff',
  '\u00a0',
  '\u2028',
  'x'.repeat(7),
  'x'.repeat(8),
  'x'.repeat(9),
  'x'.repeat(511),
  'x'.repeat(512),
  '\u00e9'.repeat(256),
  '\u{10ffff}'.repeat(128),
];
const NAME = [{ id: 5, name: 'name', type: 'TEXT', byDefault: null, indexed: false } as const];
const NUMBERS = [0, 1, -1, 10, 1984, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

function open(build: (typeof BUILDS)[number]): KeyDictionary {
  const dictionary = new KeyDictionary(loadCore(build).instantiate());
  dictionary.setKind(PERSON, 'Person', false);
  dictionary.setKind(PLACE, 'Place', false);
  dictionary.setKind(YEAR, 'Year', true);
  return dictionary;
}

function randomKey(random: Random): [number, string | number] {
  const slot = [PERSON, PLACE, YEAR][random.below(3)]!;
  if (slot === YEAR) return [slot, random.below(2) ? NUMBERS[random.below(NUMBERS.length)]! : random.below(30)];
  return [slot, random.below(2) ? TEXTS[random.below(TEXTS.length)]! : `k${random.below(40)}`];
}

/** Does one random thing to both. */
function step(random: Random, dictionary: KeyDictionary, model: KeysModel, held: number[]): void {
  const number = 1 + random.below(model.next + 1);
  const node = model.nodes.get(number);
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: {
      const [slot, key] = randomKey(random);
      const given = dictionary.hold(slot, key);
      expect(given).toBe(model.hold(slot, key));
      if (model.nodes.get(given)!.state === 'held') held.push(given);
      return;
    }
    case 3:
    case 4: {
      const list = Array.from({ length: random.below(4) }, () => held.splice(random.below(held.length), 1)[0] ?? 0);
      dictionary.release(list);
      model.release(list);
      return;
    }
    case 5: {
      const list = held.filter(() => random.below(4) === 0);
      const able = list.filter((each) => model.nodes.get(each)?.state !== 'dead');
      dictionary.makeLive(able);
      model.makeLive(able);
      return;
    }
    case 6: {
      dictionary.kill(number);
      model.kill(number);
      return;
    }
    default: {
      // The same node again, or a new one whose key is free.
      const [slot, key] = node === undefined ? randomKey(random) : [node.slot, node.key];
      const owner = model.find(slot, key);
      if (owner !== 0 && owner !== number) return;
      dictionary.add(slot, key, number);
      model.add(slot, key, number);
    }
  }
}

describe.each(BUILDS)('the key dictionary, %s build', (build) => {
  it('agrees with a model over random histories', () => {
    const random = randomFrom(SEED);
    for (let history = 0; history < 12; history++) {
      const dictionary = open(build);
      const model = new KeysModel();
      const held: number[] = [];
      for (let i = 0; i < 400; i++) {
        step(random, dictionary, model, held);
        if (i % 20 > 0) continue;
        const last = model.next + 3;
        expect(describeKeys(dictionary, last)).toEqual(describeModel(model, last));
        const list = Array.from({ length: 30 }, () => random.below(last));
        const unborn = dictionary.unborn(Uint32Array.from(list));
        expect(unborn.map(({ slot, numbers }) => ({ slot, numbers: [...numbers] }))).toEqual(model.unborn(list));
      }
    }
  });

  it('keeps 100,000 keys of many lengths apart while its table grows, and after half are gone', () => {
    const dictionary = open(build);
    const count = build === 'debug' ? 40_000 : 100_000;
    const keyOf = (i: number) => `${'p'.repeat(i % 23)}${i}`;
    const odd = Array.from({ length: count / 2 }, (_, i) => 2 * i + 2);
    const wrong: number[] = [];
    for (let i = 0; i < count; i++) if (dictionary.hold(i % 2 ? PERSON : PLACE, keyOf(i)) !== i + 1) wrong.push(i);
    for (let i = 0; i < count; i++) if (dictionary.find(i % 2 ? PERSON : PLACE, keyOf(i)) !== i + 1) wrong.push(i);
    for (let i = 0; i < count; i++) if (dictionary.find(i % 2 ? PLACE : PERSON, keyOf(i)) !== 0) wrong.push(i);
    expect(wrong).toEqual([]);
    const bytes = dictionary.bytes;
    dictionary.release(odd);
    expect(dictionary.next).toBe(count);
    for (let i = 0; i < count; i++) {
      if (dictionary.find(i % 2 ? PERSON : PLACE, keyOf(i)) !== (i % 2 ? 0 : i + 1)) wrong.push(i);
    }
    expect(wrong).toEqual([]);
    // The memory of forgotten entries is used again.
    for (let i = 1; i < count; i += 2) dictionary.hold(PLACE, keyOf(i));
    expect(dictionary.bytes - bytes).toBeLessThan(600_000);
  });

  it('takes less than 45 MB for a million keys of 12 bytes', () => {
    if (build !== 'release') return;
    const dictionary = open(build);
    for (let i = 0; i < 1_000_000; i++) dictionary.hold(PERSON, `key${String(i).padStart(9, '0')}`);
    expect(dictionary.bytes).toBeLessThan(45_000_000);
    expect(dictionary.find(PERSON, 'key000999999')).toBe(1_000_000);
  });

  it('refuses what cannot be a key, and finds nothing for it', () => {
    const dictionary = open(build);
    const bad = [
      '',
      'x'.repeat(513),
      '\u00e9'.repeat(257),
      'a\u0000',
      '\u001f',
      '\u007f',
      '\u0080',
      'a\u009f',
      '\ud800',
    ];
    for (const key of [...bad, 5]) {
      expect(() => dictionary.hold(PERSON, key)).toThrow(/A key of Person must be a text of 1 to 512 bytes/);
      expect(dictionary.find(PERSON, key)).toBe(0);
    }
    for (const key of [1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '5']) {
      expect(() => dictionary.hold(YEAR, key)).toThrow(/A key of Year must be an integer/);
      expect(dictionary.find(YEAR, key)).toBe(0);
    }
    expect(dictionary.hold(YEAR, -0)).toBe(dictionary.hold(YEAR, 0));
    expect(dictionary.next).toBe(2);
  });

  it('gives numbers out up to the limit', () => {
    const dictionary = open(build);
    dictionary.limit = 2;
    const held = [dictionary.hold(PERSON, 'a'), dictionary.hold(PERSON, 'b')];
    expect(() => dictionary.hold(PERSON, 'c')).toThrow('All node numbers are used.');
    expect(dictionary.hold(PERSON, 'b')).toBe(2);
    dictionary.release([...held, 2]);
    expect([dictionary.next, dictionary.hold(PERSON, 'c')]).toEqual([1, 1]);
    dictionary.limit = 2 ** 32 - 1;
    dictionary.next = 2 ** 32 - 1;
    expect(dictionary.hold(PERSON, 'last')).toBe(2 ** 32 - 1);
    expect(dictionary.keyOf(2 ** 32 - 1)).toBe('last');
    expect(() => dictionary.hold(PERSON, 'none')).toThrow('All node numbers are used.');
    expect(() => {
      dictionary.next = 5;
    }).toThrow('assertion');
    expect(dictionary.next).toBe(2 ** 32);
    dictionary.release([2 ** 32 - 1]);
    expect(dictionary.next).toBe(2 ** 32 - 1);
    expect([dictionary.isLive(2 ** 32 + 1), dictionary.slotOf(-1), dictionary.keyOf(0.5)]).toEqual([
      false,
      undefined,
      undefined,
    ]);
  });

  it('does not give a number out again that was in use or raised over', () => {
    const dictionary = open(build);
    const [a, b, c] = ['a', 'b', 'c'].map((key) => dictionary.hold(PERSON, key));
    dictionary.makeLive([b!]);
    dictionary.release([c!, a!]);
    expect([dictionary.next, dictionary.find(PERSON, 'a')]).toEqual([3, 0]);
    dictionary.kill(b!);
    expect([dictionary.hold(PERSON, 'b'), dictionary.keyOf(b!)]).toEqual([3, 'b']);
    dictionary.next = 10;
    dictionary.release([3]);
    expect(dictionary.next).toBe(10);
  });

  it('writes node records, and reads them again', () => {
    const dictionary = open(build);
    const keys = [...TEXTS, ...Array.from({ length: 5000 }, (_, i) => `n${i}`)];
    const numbers = Uint32Array.from(keys, (key) => dictionary.hold(PERSON, key));
    const records = dictionary.records(numbers, PERSON, 5);
    const naive = keys.map((key, i) => naiveRecord(edgeOf(numbers[i]!, numbers[i]!, [numbers[i]!], { 5: key }), NAME));
    expect(Buffer.compare(records, concat(naive))).toBe(0);
    const copy = open(build);
    copy.addRecords(PLACE, records, keys.length, 5);
    expect([copy.live, copy.next]).toEqual([keys.length, dictionary.next]);
    for (const [i, key] of keys.entries()) expect(copy.find(PLACE, key)).toBe(numbers[i]);
    copy.addRecords(PLACE, records, keys.length, 5);
    expect(copy.live).toBe(keys.length);
    expect(() => copy.addRecords(PERSON, records, keys.length, 5)).toThrow('This is a bug');
    expect(() => copy.addRecords(PLACE, records, keys.length, 6)).toThrow('This is a bug');
  });

  it('reads integer keys from records, and keys of records of any size', () => {
    const dictionary = open(build);
    const numbers = Uint32Array.from(NUMBERS, (key) => dictionary.hold(YEAR, key));
    const records = dictionary.records(numbers, YEAR, 3);
    const copy = open(build);
    copy.addRecords(YEAR, records, NUMBERS.length, 3);
    expect(Array.from(numbers, (number) => copy.keyOf(number))).toEqual(NUMBERS);
    expect(() => copy.addRecords(YEAR, records, 1, 4)).toThrow('This is a bug');
    const columns = [3, 4, 5, 6].map(
      (id) => ({ id, name: `c${id}`, type: 'TEXT', byDefault: null, indexed: false }) as const,
    );
    const large = { 3: null, 4: 'x'.repeat(65_000), 5: 'Gr\u00fc\u00df "Gott"', 6: 'y'.repeat(65_000) };
    const edges = [
      edgeOf(20, 20, [20], { 5: 'small' }),
      edgeOf(21, 21, [21], large),
      edgeOf(22, 22, [22], { 5: 'end' }),
    ];
    const bytes = concat(edges.map((edge) => naiveRecord(edge, columns)));
    copy.addRecords(PERSON, bytes, 3, 5);
    expect([20, 21, 22].map((number) => copy.keyOf(number))).toEqual(['small', large[5], 'end']);
    const years = concat([naiveRecord(edgeOf(23, 23, [23], large), columns)]);
    expect(() => copy.addRecords(PERSON, years, 1, 9)).toThrow('has no key');
  });

  it('refuses a number with another key, and a key with another number', () => {
    const dictionary = open(build);
    dictionary.add(PERSON, 'Ada', 5);
    expect(() => dictionary.add(PERSON, 'Grace', 5)).toThrow('Node 5 of Person');
    expect(() => dictionary.add(PERSON, 'Ada', 6)).toThrow('Node 6 of Person');
    expect(() => dictionary.add(PERSON, 'Zoe', 0)).toThrow('Node 0 of Person');
    expect([dictionary.next, dictionary.live, dictionary.find(PERSON, 'Grace')]).toEqual([6, 1, 0]);
  });
});

/** Allocates all memory of an instance. */
function exhaust(dictionary: KeyDictionary): void {
  const { exports } = dictionary.core;
  for (let bytes = 0xe0000000; bytes >= 1; bytes = Math.floor((bytes * 15) / 16)) {
    while (exports.hg_memory_alloc(bytes) !== 0);
  }
}

describe.each(BUILDS)('the key dictionary without free memory, %s build', (build) => {
  it('refuses further keys with nothing changed, and goes on with what it has', () => {
    const dictionary = open(build);
    const model = new KeysModel();
    for (let i = 0; i < 600; i++) expect(dictionary.hold(PERSON, `k${i}`)).toBe(model.hold(PERSON, `k${i}`));
    exhaust(dictionary);
    let refused = '';
    for (let i = 0; refused === '' && i < 100_000; i++) {
      try {
        dictionary.hold(PLACE, `place${i}`);
        model.hold(PLACE, `place${i}`);
      } catch (error) {
        refused = error instanceof HedgerowError ? error.code : String(error);
      }
    }
    expect(refused).toBe('overloaded');
    expect(describeKeys(dictionary, 610)).toEqual(describeModel(model, 610));
    expect(() => dictionary.reserve(100_000, 10_000_000)).toThrow('ran out of memory');
    expect(() => dictionary.setKind(60_000, 'Far', false)).toThrow('ran out of memory');
    dictionary.makeLive([1, 2, 3]);
    model.makeLive([1, 2, 3]);
    dictionary.release([4, 5]);
    model.release([4, 5]);
    expect(dictionary.hold(PLACE, 'k4')).toBe(model.hold(PLACE, 'k4'));
    expect(describeKeys(dictionary, 610)).toEqual(describeModel(model, 610));
  });

  it('adds what memory was reserved for', () => {
    const dictionary = open(build);
    dictionary.hold(PERSON, 'first');
    dictionary.reserve(70_000, 70_000 * 9, 200_000);
    exhaust(dictionary);
    for (let i = 0; i < 70_000; i++) dictionary.add(PLACE, `k${String(i).padStart(8, '0')}`, 130_000 + i);
    expect([dictionary.live, dictionary.find(PLACE, 'k00069999')]).toEqual([70_000, 199_999]);
  });

  it('starts anew after a reset of memory', () => {
    const instance = new Instance(build);
    const first = new KeyDictionary(instance.core);
    first.setKind(PERSON, 'Person', false);
    first.hold(PERSON, 'Ada');
    instance.x.hg_memory_reset();
    const second = new KeyDictionary(instance.core);
    second.setKind(PERSON, 'Person', false);
    expect([second.next, second.find(PERSON, 'Ada'), second.hold(PERSON, 'Grace'), second.keyOf(1)]).toEqual([
      1,
      0,
      1,
      'Grace',
    ]);
  });
});
