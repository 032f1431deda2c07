// Tests the ids of large groups, which are sorted in steps. They must equal the ids of a list that
// is sorted at once, and other work must be able to run in between.

import { describe, expect, test } from 'vitest';
import { compareTexts } from '../../src/model/text-order.ts';
import type { ColumnKind } from '../../src/virtual/backend.ts';
import type { RowReading } from '../../src/virtual/compile/compile.ts';
import { isLongList, listIds, prepareIds } from '../../src/virtual/hydrate/group-ids.ts';
import { hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import { idText } from '../../src/virtual/hydrate/values.ts';
import { Random } from '../support/random.ts';

type Item = string | number | null;

const LONG = 30_000;
const PROVENANCE = { graph: 'g', spec_version: 1, captured_at: 0 };

/**
 * Returns pauses that count how often they are used. Their clock makes every step seem to take a
 * whole slice.
 */
function countingPauses() {
  let us = 0;
  const pauses = {
    count: 0,
    nowUs: () => (us += 10_000),
    pause: async () => {
      pauses.count += 1;
    },
  };
  return pauses;
}

const random = new Random(5);
const numberBelow = (most: number) => () => random.below(most) - most / 2;

const LISTS: [kind: ColumnKind, item: () => Item, order: (a: Item, b: Item) => number][] = [
  ['integer', numberBelow(2 ** 20), (a, b) => Number(a) - Number(b)],
  ['integer', () => String(2n ** 62n + BigInt(random.below(1000))), (a, b) => (BigInt(a!) < BigInt(b!) ? -1 : 1)],
  ['real', () => random.below(1e6) / 64, (a, b) => Number(a) - Number(b)],
  [
    'text',
    () => 'aZé𝒳￿ 7'.charAt(random.below(8)) + random.below(40_000),
    (a, b) => compareTexts(String(a), String(b)),
  ],
  ['decimal', () => `${random.below(9000)}.${random.below(10)}0`, (a, b) => Number(a) - Number(b)],
  ['timestamp', numberBelow(2 ** 40), (a, b) => Number(a) - Number(b)],
];

describe('ids of a large group', () => {
  test.each(LISTS)('are distinct and sorted for values of kind %s', async (kind, item, order) => {
    const list = Array.from({ length: LONG }, (_, index) => (index % 100 === 7 ? null : item()));
    const pauses = countingPauses();
    if (isLongList(list)) await prepareIds(list, kind, 'm', pauses);
    const sorted = list.filter((one) => one !== null).sort(order);
    expect(listIds(list, kind, 'm')).toEqual([
      ...new Set(sorted.map((one) => idText(kind === 'integer' ? BigInt(one!) : one, kind, 'm'))),
    ]);
    // Reading, sorting, three merges and writing take eight steps each.
    expect(pauses.count).toBeGreaterThan(40);
  });

  test('are prepared before the edge is read', async () => {
    const reading: RowReading = {
      edgeLabel: 'Crowd',
      shape: 'group',
      members: [{ name: 'who', role: 'guest', nodeLabel: 'Person', kind: 'integer' }],
      properties: [],
    };
    const list = Array.from({ length: LONG }, (_, index) => LONG - index);
    const pauses = countingPauses();
    async function* rows() {
      yield [
        [5, [3, 1, 3]],
        [6, list],
      ];
    }
    for await (const batch of hydrate(rows(), reading, PROVENANCE, pauses)) {
      const edges = [...batch.parts()].flat();
      expect(pauses.count).toBeGreaterThan(40);
      expect(edges.map(({ members }) => members.length)).toEqual([2, LONG]);
      expect(edges[1]!.members.slice(0, 2).map((member) => member.vertex_local_id)).toEqual(['person:1', 'person:2']);
    }
  });

  test('cannot be prepared if a value is not of the kind of its column', async () => {
    const list = Array.from({ length: LONG }, (_, index) => (index === 20_000 ? 'x' : index));
    if (!isLongList(list)) throw new Error('it is long');
    await expect(prepareIds(list, 'integer', 'm', countingPauses())).rejects.toThrow('The backend gave');
  });
});
