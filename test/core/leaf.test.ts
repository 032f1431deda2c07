// Compares the core's leaf functions, with and without SIMD, with naive JavaScript on random inputs
// and on edge cases.
import { beforeAll, describe, expect, it } from 'vitest';
import { buildLeaf, FREE_AT, type Leaf } from './support/leaf-build.ts';
import { ascending, randomFrom } from './support/random.ts';

const MIB = 1 << 20;
const A = FREE_AT;
const B = FREE_AT + 8 * MIB;
const OUT = FREE_AT + 16 * MIB;
const SCRATCH = FREE_AT + 32 * MIB;
const GUARD = 0xa5;
const decoder = new TextDecoder();

describe.each([
  { name: 'SIMD', simd: true },
  { name: 'plain', simd: false },
])('leaf functions, $name build', ({ simd }) => {
  let leaf: Leaf;
  const bytes = () => new Uint8Array(leaf.memory.buffer);
  const textAt = (start: number, end: number) => decoder.decode(bytes().subarray(start, end));

  beforeAll(async () => {
    leaf = await buildLeaf(simd);
  });

  describe('crc32c', () => {
    it('gives the published check values', () => {
      const crcOf = (input: Uint8Array) => {
        bytes().set(input, A);
        return leaf.crc32c(A, input.length, 0) >>> 0;
      };
      expect(crcOf(Buffer.from('123456789'))).toBe(0xe3069283);
      expect(crcOf(new Uint8Array(0))).toBe(0);
      expect(crcOf(new Uint8Array(32))).toBe(0x8a9136aa); // RFC 3720, B.4
      expect(crcOf(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
      expect(crcOf(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    });

    it('chains over any split at any alignment, and agrees with the bitwise definition', () => {
      const random = randomFrom(1);
      for (let length = 0; length < 200; length++) {
        const start = A + random.below(16);
        const input = Uint8Array.from({ length }, () => random.below(256));
        bytes().set(input, start);
        const cut = random.below(length + 1);
        const whole = leaf.crc32c(start, length, 0) >>> 0;
        expect(whole).toBe(naiveCrc(input));
        expect(leaf.crc32c(start + cut, length - cut, leaf.crc32c(start, cut, 0)) >>> 0).toBe(whole);
      }
    });
  });

  describe('sorted lists', () => {
    /**
     * Runs one operation, and checks that it wrote nothing beyond the part of the output that it
     * may use.
     */
    function combine(
      name: 'intersect16' | 'intersect32' | 'difference32' | 'union32',
      a: number[],
      b: number[],
      inPlace = false,
    ): number[] {
      const List = name === 'intersect16' ? Uint16Array : Uint32Array;
      const width = List.BYTES_PER_ELEMENT;
      // Zeros follow both lists, so a read past the end of both would report a false match.
      bytes().fill(0, A, A + (a.length + 16) * width);
      bytes().fill(0, B, B + (b.length + 16) * width);
      new List(leaf.memory.buffer, A, a.length).set(a);
      new List(leaf.memory.buffer, B, b.length).set(b);
      const out = inPlace ? A : OUT;
      const room = {
        intersect16: Math.min(a.length, b.length),
        intersect32: Math.min(a.length, b.length),
        difference32: a.length,
        union32: a.length + b.length,
      }[name];
      const slack = !inPlace && name.startsWith('intersect') ? 16 : 0;
      const limit = inPlace ? A + a.length * width : OUT + room * width + slack;
      bytes().fill(GUARD, limit, limit + 64);
      const count = leaf[name](A, a.length, B, b.length, out);
      expect(bytes().subarray(limit, limit + 64)).toEqual(new Uint8Array(64).fill(GUARD));
      expect([...new List(leaf.memory.buffer, B, b.length)]).toEqual(b);
      return [...new List(leaf.memory.buffer, out, count)];
    }

    function checkPair(a: number[], b: number[], narrow: boolean) {
      const inA = new Set(a);
      const inB = new Set(b);
      const common = a.filter((value) => inB.has(value));
      const missing = a.filter((value) => !inB.has(value));
      const either = [...new Set([...inA, ...inB])].sort((x, y) => x - y);
      for (const inPlace of [false, true]) {
        if (narrow) expect(combine('intersect16', a, b, inPlace)).toEqual(common);
        expect(combine('intersect32', a, b, inPlace)).toEqual(common);
        expect(combine('difference32', a, b, inPlace)).toEqual(missing);
      }
      expect(combine('union32', a, b)).toEqual(either);
    }

    it('agree with sets on random short lists of every length and density', () => {
      const random = randomFrom(2);
      for (let round = 0; round < 600; round++) {
        const span = 1 + random.below(1 << random.below(9));
        const a = ascending(random, random.below(70), span);
        const b = ascending(random, random.below(70), span);
        checkPair(a, b, true);
      }
    });

    it('agree with sets in place when the short list begins below the long one', () => {
      const long = Array.from({ length: 100 }, (_, i) => i + 10);
      for (const short of [[1, 10], [1, 2, 11], [9], [10], [1, 200]]) {
        checkPair(long, short, true);
        checkPair(short, long, true);
      }
    });

    it('agree with sets on long lists and on lists of very different lengths', () => {
      const random = randomFrom(3);
      for (const [na, nb] of [
        [5000, 5000],
        [20000, 3],
        [3, 20000],
        [20000, 100],
        [100, 20000],
        [4000, 129],
        [1, 1],
      ]) {
        for (const density of [1.2, 4, 40]) {
          const span = Math.min(65536, Math.ceil(Math.max(na!, nb!) * density));
          checkPair(ascending(random, na!, span), ascending(random, nb!, span), true);
        }
      }
    });

    it('compare values as unsigned and include both ends of the range', () => {
      checkPair([], [], true);
      checkPair([], [1, 2, 3], true);
      checkPair([0], [0], true);
      checkPair([0, 65535], [0, 1, 2, 3, 4, 5, 6, 7, 8, 32767, 32768, 65535], true);
      const high = [0, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff];
      checkPair(high, high, false);
      checkPair(high, [0, 1, 2, 3, 0x80000000, 0xffffffff], false);
      checkPair(high, ascending(randomFrom(4), 500, 2 ** 32), false);
    });

    it('are widened from 16 to 32 bits for any count, without changing the bytes after them', () => {
      const random = randomFrom(5);
      for (let count = 0; count < 50; count++) {
        const list = ascending(random, count, 65536);
        new Uint16Array(leaf.memory.buffer, A, list.length).set(list);
        bytes().fill(GUARD, OUT, OUT + 512);
        leaf.widen16(A, list.length, OUT);
        expect([...new Uint32Array(leaf.memory.buffer, OUT, list.length)]).toEqual(list);
        expect(bytes()[OUT + 4 * list.length]).toBe(GUARD);
      }
    });

    it('are searched for the first value that is not below a given one', () => {
      const random = randomFrom(6);
      for (let count = 0; count < 70; count++) {
        const list = ascending(random, count, 200);
        new Uint16Array(leaf.memory.buffer, A, list.length).set(list);
        new Uint32Array(leaf.memory.buffer, B, list.length).set(list);
        for (let value = 0; value <= 201; value++) {
          const below = list.filter((each) => each < value).length;
          expect(leaf.lowerBound16(A, list.length, value)).toBe(below);
          expect(leaf.lowerBound32(B, list.length, value)).toBe(below);
        }
        expect(leaf.lowerBound32(B, list.length, -1)).toBe(list.length);
      }
    });
  });

  it('sorted lists at the very end of memory are read without a trap', () => {
    const end = leaf.memory.buffer.byteLength;
    for (let count = 0; count < 70; count++) {
      const a32 = end - 4 * count;
      const a16 = end - 2 * count;
      const ordinals = Uint16Array.from({ length: count }, (_, i) => i * 2);
      new Uint16Array(leaf.memory.buffer, a16, count).set(ordinals);
      new Uint16Array(leaf.memory.buffer, B, count).set(ordinals);
      expect(leaf.intersect16(a16, count, B, count, OUT)).toBe(count);
      expect(leaf.intersect16(B, count, a16, count, OUT)).toBe(count);
      leaf.widen16(a16, count, OUT);
      new Uint32Array(leaf.memory.buffer, a32, count).set(ordinals);
      new Uint32Array(leaf.memory.buffer, B, count).set(ordinals);
      expect(leaf.intersect32(a32, count, B, count, OUT)).toBe(count);
      expect(leaf.intersect32(B, count, a32, count, a32)).toBe(count);
      expect(leaf.difference32(B, count, a32, count, OUT)).toBe(0);
      expect(leaf.difference32(a32, count, B, count, a32)).toBe(0);
      expect(leaf.union32(a32, count, B, count, OUT)).toBeGreaterThanOrEqual(count);
      leaf.crc32c(end - count, count, 0);
      bytes().fill(97, end - count, end);
      expect(leaf.writeText(OUT, end - count, count) - OUT).toBe(count + 2);
    }
  });

  describe('the node filter', () => {
    function build(nodes: bigint[], out: number): number {
      new BigInt64Array(leaf.memory.buffer, A, nodes.length).set(nodes);
      const size = leaf.filterBytes(nodes.length);
      bytes().fill(GUARD, out, out + size + 64);
      leaf.filterBuild(A, nodes.length, out, size);
      expect(bytes()[out + size]).toBe(GUARD);
      return size;
    }

    it('has no false negatives and few false positives', () => {
      for (const count of [0, 1, 40, 43, 1000, 50000]) {
        const nodes = Array.from({ length: count }, (_, i) => BigInt(i) * 3n - 7n);
        const size = build(nodes, OUT);
        expect(size % 64).toBe(0);
        expect(size).toBeGreaterThanOrEqual(64);
        expect(size).toBeLessThanOrEqual(64 + (count * 12) / 8);
        expect(nodes.every((node) => leaf.filterTest(OUT, size, node) === 1)).toBe(true);
        let admitted = 0;
        for (let i = 0; i < 50000; i++) admitted += leaf.filterTest(OUT, size, BigInt(i) * 3n - 8n);
        expect(admitted / 50000).toBeLessThan(0.01);
      }
    });

    it('is probed in a directory, which finds the filters that may contain every node', () => {
      const random = randomFrom(7);
      const groups = Array.from({ length: 300 }, (_, i) =>
        i % 50 === 49 ? [] : ascending(random, 1 + random.below(60), 2000).map((node) => BigInt(node - 1000)),
      );
      const directory = new DataView(leaf.memory.buffer, SCRATCH);
      let at = OUT;
      for (const [index, group] of groups.entries()) {
        const size = build(group, at);
        directory.setUint32(index * 24, at, true);
        directory.setUint32(index * 24 + 4, group.length === 0 ? 0 : size, true);
        directory.setBigInt64(index * 24 + 8, group[0] ?? 0n, true);
        directory.setBigInt64(index * 24 + 16, group.at(-1) ?? 0n, true);
        at += size;
      }
      const probe = (nodes: number[]) => {
        new Float64Array(leaf.memory.buffer, B, nodes.length).set(nodes);
        const count = leaf.filtersProbe(SCRATCH, groups.length, B, nodes.length, A);
        return [...new Uint32Array(leaf.memory.buffer, A, count)];
      };
      let extra = 0;
      for (let round = 0; round < 300; round++) {
        const wanted = Array.from({ length: 1 + random.below(2) }, () => random.below(2000) - 1000);
        const holders = [...groups.keys()].filter((i) => wanted.every((node) => groups[i]!.includes(BigInt(node))));
        const found = probe(wanted);
        expect(found).toEqual([...new Set(found)].sort((x, y) => x - y));
        expect(holders.every((index) => found.includes(index))).toBe(true);
        extra += found.length - holders.length;
      }
      expect(extra).toBeLessThan(300 * groups.length * 0.01);
      expect(probe([])).toHaveLength(groups.length);
      for (const odd of [0.5, Number.NaN, Infinity, -Infinity, 1e300]) expect(probe([odd])).toEqual([]);
    });
  });

  describe('the text of numbers', () => {
    const floatText = (value: number) => {
      bytes().fill(GUARD, OUT + 25, OUT + 32);
      const end = leaf.writeFloat(OUT, value);
      if (bytes()[OUT + 25] !== GUARD) throw new Error(`writeFloat(${value}) wrote past MAX_FLOAT_TEXT`);
      return textAt(OUT, end);
    };
    const intText = (value: bigint) => {
      bytes().fill(GUARD, OUT + 20, OUT + 32);
      const end = leaf.writeInt(OUT, value);
      if (bytes()[OUT + 20] !== GUARD) throw new Error(`writeInt(${value}) wrote past MAX_INT_TEXT`);
      return textAt(OUT, end);
    };

    it('is right for integers of every length', () => {
      const random = randomFrom(8);
      const cases = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)];
      for (let power = 0n; power < 19n; power++) {
        for (const near of [-1n, 0n, 1n]) cases.push(10n ** power + near, -(10n ** power) - near);
      }
      for (let i = 0; i < 20000; i++) cases.push(BigInt.asIntN(64, random.bits64() >> BigInt(random.below(64))));
      for (const value of cases) if (intText(value) !== String(value)) expect(intText(value)).toBe(String(value));
    });

    it('is what JSON.stringify writes for chosen doubles', () => {
      const edges = [
        0,
        -0,
        1,
        -1,
        0.1,
        0.3,
        1 / 3,
        100,
        1e15,
        1e20,
        1e21,
        1e22,
        1.5e21,
        123456789012345680000,
        5e-324,
        1e-323,
        2.2250738585072014e-308,
        2.225073858507201e-308,
        1.7976931348623157e308,
        1e-5,
        1e-6,
        9.999999e-7,
        1e-7,
        1.5e-7,
        0.000001234567890123,
        4.35,
        0.5,
        999999.999999999,
        1000000.5,
        99999999999.9999,
        2 ** 53,
        2 ** 53 + 2,
        2 ** 63,
        4503599627370495.5,
        9007199254740991,
        1e23,
        8.41e21,
        2 ** -44,
        5e-7,
        1.7976931348623155e308,
        -2.5e-9,
        -0.0000012345678901234567,
        -1.2345678901234568e-300,
        Number.NaN,
        Infinity,
        -Infinity,
      ];
      for (const value of edges) expect(floatText(value)).toBe(JSON.stringify(value));
      for (let power = -1074; power <= 1023; power++) {
        for (const value of neighbours(2 ** power)) expect(floatText(value)).toBe(JSON.stringify(value));
      }
      for (let power = -323; power <= 308; power++) {
        for (const value of neighbours(Number(`1e${power}`))) expect(floatText(value)).toBe(JSON.stringify(value));
      }
    });

    it('is what JSON.stringify writes for random doubles of every kind', () => {
      const random = randomFrom(9);
      const view = new DataView(new ArrayBuffer(8));
      for (let i = 0; i < 150000; i++) {
        view.setBigUint64(0, random.bits64());
        const scaled = Math.round(random.unit() * 10 ** (i % 18)) / 10 ** (i % 13);
        for (const value of [view.getFloat64(0), scaled, random.unit() * 10 ** ((i % 30) - 9)]) {
          const text = floatText(value);
          if (text !== JSON.stringify(value)) expect(text).toBe(JSON.stringify(value));
        }
      }
    });
  });

  describe('the text of strings', () => {
    function check(text: string) {
      const utf8 = new TextEncoder().encode(text);
      bytes().set(utf8, A);
      const limit = OUT + leaf.textNeed(utf8.length);
      bytes().fill(GUARD, limit, limit + 32);
      const end = leaf.writeText(OUT, A, utf8.length);
      expect(textAt(OUT, end)).toBe(JSON.stringify(text));
      expect(bytes().subarray(limit, limit + 32)).toEqual(new Uint8Array(32).fill(GUARD));
    }

    it('escapes every code point below 256 as JSON.stringify does, at any position', () => {
      for (let code = 0; code < 256; code++) {
        for (const before of [0, 3, 8, 15, 16, 31]) {
          check('x'.repeat(before) + String.fromCharCode(code) + 'y'.repeat(20));
          check('x'.repeat(before) + String.fromCharCode(code));
        }
      }
    });

    it('is right for random strings of every length', () => {
      const random = randomFrom(10);
      const alphabet = [
        'a',
        'Z',
        '"',
        '\\',
        '\n',
        '\u0001',
        '\u007f',
        '\u0080',
        'é',
        '€',
        '\u2028',
        '😀',
        ' ',
        '!',
        '#',
      ];
      for (let length = 0; length < 400; length++) {
        const rare = random.below(2) === 0 ? alphabet.length : 2;
        check(Array.from({ length: length % 100 }, () => alphabet[random.below(rare)]).join(''));
      }
      check('\u0000'.repeat(100));
    });
  });

  describe('the order of a column', () => {
    it('sorts keys and rows together, with equal keys in row order', () => {
      const random = randomFrom(11);
      const kinds = [
        () => random.below(5) - 2,
        () => random.below(100000) / 100,
        () => (random.unit() - 0.5) * 10 ** (random.below(600) - 300),
        () => [0, -0, Infinity, -Infinity, 5e-324, -5e-324, 1.7e308, -1.7e308][random.below(8)]!,
        () => 7,
        () => 1.7e12 + random.below(1e9),
      ];
      for (const count of [0, 1, 2, 3, 47, 48, 49, 300, 5000]) {
        for (const kind of kinds) {
          const keys = Array.from({ length: count }, kind);
          const rows = keys.map((_, i) => i * 2 + 5);
          const want = [...keys.keys()].sort((x, y) => (keys[x] === keys[y] ? x - y : keys[x]! < keys[y]! ? -1 : 1));
          new Float64Array(leaf.memory.buffer, A, count).set(keys);
          new Uint32Array(leaf.memory.buffer, B, count).set(rows);
          bytes().fill(GUARD, SCRATCH + 12 * count, SCRATCH + 12 * count + 32);
          leaf.psiOrder(A, B, count, SCRATCH);
          expect([...new Float64Array(leaf.memory.buffer, A, count)]).toEqual(want.map((i) => keys[i]! + 0));
          expect([...new Uint32Array(leaf.memory.buffer, B, count)]).toEqual(want.map((i) => rows[i]));
          expect(bytes().subarray(SCRATCH + 12 * count, SCRATCH + 12 * count + 32)).toEqual(
            new Uint8Array(32).fill(GUARD),
          );
        }
      }
    });

    it('finds the first and the last position of a value', () => {
      const random = randomFrom(12);
      for (let count = 0; count < 60; count++) {
        const keys = Array.from({ length: count }, () => random.below(20) - 10).sort((x, y) => x - y);
        new Float64Array(leaf.memory.buffer, A, count).set(keys);
        for (const value of [-Infinity, -11, -10, -3.5, -1, -0, 0, 1, 2.5, 9, 10, Infinity]) {
          expect(leaf.psiLower(A, count, value)).toBe(keys.filter((key) => key < value).length);
          expect(leaf.psiUpper(A, count, value)).toBe(keys.filter((key) => key <= value).length);
        }
      }
    });
  });
});

function naiveCrc(input: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of input) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

/** Returns a double and its neighbours just below and above. */
function neighbours(value: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  return [bits, bits - 1n, bits + 1n].map((each) => {
    view.setBigUint64(0, each);
    return view.getFloat64(0);
  });
}
