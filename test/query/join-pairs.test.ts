import { describe, expect, it } from 'vitest';
import { bandPairs, type PairFinder } from '../../src/query/executor/joins/join-pairs.ts';
import { MemberMemory, memberPairs } from '../../src/query/executor/joins/member-pairs.ts';
import { partOf, type RowSet } from '../../src/query/executor/rows/row-set.ts';
import { type Random, randomFrom } from '../core/support/random.ts';

/**
 * Returns rows with a few nodes each. Times ascend, with some ties. Every seventh node exceeds 32
 * bits.
 */
function randomSet(random: Random, rows: number, nodes: number): RowSet {
  const times = Float64Array.from({ length: rows }, () => random.below(rows)).sort();
  const offsets = new Uint32Array(rows + 1);
  const members: number[] = [];
  for (let row = 0; row < rows; row++) {
    const own = new Set(Array.from({ length: 1 + random.below(4) }, () => random.below(nodes)));
    members.push(...[...own].map((node) => (node % 7 === 0 ? node * 2 ** 33 : node)).sort((a, b) => a - b));
    offsets[row + 1] = members.length;
  }
  const ids = Float64Array.from({ length: rows }, (_, row) => row + 1);
  return {
    rows,
    times,
    ids,
    offsets,
    members: Float64Array.from(members),
    masks: new Uint16Array(0),
    columns: new Map(),
  };
}

function pairsOf(finder: PairFinder): string[] {
  const found: string[] = [];
  for (const pairs of finder)
    for (let i = 0; i < (pairs?.count ?? 0); i++) found.push(`${pairs!.left[i]} ${pairs!.right[i]}`);
  return found.sort();
}

function naive(leftCount: number, right: RowSet, test: (place: number, row: number) => boolean): string[] {
  const found: string[] = [];
  for (let place = 0; place < leftCount; place++)
    for (let row = 0; row < right.rows; row++) if (test(place, row)) found.push(`${place} ${row}`);
  return found.sort();
}

function membersOf({ members, offsets }: RowSet, row: number): Set<number> {
  return new Set(members.subarray(offsets[row]!, offsets[row + 1]!));
}

function shared(left: RowSet, leftRow: number, right: RowSet, rightRow: number): number {
  const others = membersOf(right, rightRow);
  return [...membersOf(left, leftRow)].filter((node) => others.has(node)).length;
}

describe('pairs with common members', () => {
  const random = randomFrom(911);
  const whole = randomSet(random, 120, 20);
  const other = randomSet(random, 100, 20);
  const sides: [name: string, left: RowSet, right: RowSet][] = [
    ['of two sets', whole, other],
    ['of two parts of one set', partOf(whole, 15, 75), partOf(whole, 30, 117)],
    ['of a small part and the whole', partOf(whole, 60, 66), partOf(whole, -Infinity, Infinity)],
    ['of the whole and a small part', partOf(whole, 0, 1000), partOf(whole, 60, 66)],
    ['of a part and another set', partOf(whole, 15, 75), other],
  ];
  for (const [name, left, right] of sides) {
    it(`are the same as in a nested loop: ${name}`, () => {
      const memory = new MemberMemory(true);
      const picked = Uint32Array.from({ length: 2 * left.rows }, () => random.below(left.rows));
      for (const rows of [undefined, picked])
        for (const least of [1, 2])
          for (const band of [undefined, [1, 12], [-9, 9], [-Infinity, -2]] as const)
            for (const ofRow of [true, false]) {
              const count = rows?.length ?? left.rows;
              const rowOf = (place: number) => rows?.[place] ?? place;
              const times = Float64Array.from({ length: count }, (_, place) =>
                ofRow ? left.times[rowOf(place)]! : random.below(400),
              );
              const [low, high] = band ?? [-Infinity, Infinity];
              const bounds = band && { times, ofRow, low, high };
              const found = pairsOf(memberPairs({ set: left, rows, count }, right, least, bounds, memory, () => {}));
              const wanted = naive(count, right, (place, row) => {
                const apart = right.times[row]! - times[place]!;
                return apart >= low && apart <= high && shared(left, rowOf(place), right, row) >= least;
              });
              expect(found).toEqual(wanted);
            }
    });
  }

  it('are all returned when they fill more than one chunk', () => {
    const dense = randomSet(random, 300, 3);
    const part = partOf(dense, 0, 250);
    const found = pairsOf(
      memberPairs(
        { set: part, rows: undefined, count: part.rows },
        part,
        1,
        undefined,
        new MemberMemory(false),
        () => {},
      ),
    );
    expect(found.length).toBeGreaterThan(3 * 8192);
    expect(found).toEqual(naive(part.rows, part, (place, row) => shared(part, place, part, row) >= 1));
  });

  it('are found in an index that is built in short steps', () => {
    const large = randomSet(random, 20_000, 1_000_000);
    const side = { set: large, rows: undefined, count: large.rows };
    let steps = 0;
    for (const pairs of memberPairs(side, large, 4, undefined, new MemberMemory(false), () => {}))
      if (pairs === null) steps++;
    // Nodes get codes, codes are counted, and rows are put into lists.
    expect(steps).toBeGreaterThan((2 * large.members.length + large.rows) / 2048 - 4);
  });
});

describe('pairs within a band', () => {
  it('are the same as in a nested loop, whatever the order of the left rows', () => {
    const random = randomFrom(912);
    const right = randomSet(random, 500, 5);
    const ascending = Float64Array.from({ length: 400 }, () => random.below(700) - 100).sort();
    const mixed = Float64Array.from({ length: 400 }, () => random.below(700) - 100);
    for (const times of [ascending, mixed])
      for (const [low, high] of [
        [1, 9],
        [-80, 80],
        [-Infinity, 3],
        [4, Infinity],
        [5, 4],
      ] as const) {
        const wanted = naive(times.length, right, (place, row) => {
          const apart = right.times[row]! - times[place]!;
          return apart >= low && apart <= high;
        });
        expect(pairsOf(bandPairs(times, right, low, high))).toEqual(wanted);
      }
  });
});
