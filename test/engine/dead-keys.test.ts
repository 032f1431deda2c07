// Tests the keys of deleted nodes against a list of all deletions.

import { describe, expect, test } from 'vitest';
import { DeadKeys } from '../../src/engine/nodes/dead-keys.ts';
import { Random } from '../support/random.ts';

describe('keys of deleted nodes', () => {
  test('find what the open snapshots may show, and drop the rest', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const numbers = new Random(seed);
      const random = () => numbers.below(2 ** 20) / 2 ** 20;
      const readers: number[] = [];
      let charged = 0;
      let lsn = 0;
      let needed = 0;
      const dead = new DeadKeys(
        (bytes) => {
          charged += bytes;
        },
        () => Math.min(lsn, ...readers),
      );
      const all: { slot: number; key: string; number: number; lsn: number }[] = [];
      for (let step = 0; step < 6000; step++) {
        const roll = random();
        if (roll < 0.6) {
          const death = { slot: Math.floor(random() * 2), key: `k${Math.floor(random() * 500)}`, number: step + 1 };
          dead.add(death.slot, death.key, death.number, lsn + 1);
          all.push({ ...death, lsn: ++lsn });
        } else if (roll < 0.62 && readers.length < 4) {
          readers.push(lsn);
        } else if (roll < 0.64 && readers.length > 0) {
          const [gone] = readers.splice(Math.floor(random() * readers.length), 1);
          dead.released(gone!);
        } else {
          const seen = [...readers, lsn][Math.floor(random() * (readers.length + 1))]!;
          const slot = Math.floor(random() * 2);
          const key = `k${Math.floor(random() * 500)}`;
          // Each deletion has the LSN after that of the one before it, from 1 on.
          const isSought = (death: (typeof all)[number]) => death.slot === slot && death.key === key;
          const expected = all.slice(seen).find(isSought);
          expect(dead.find(slot, key, seen), `seed ${seed}, step ${step}`).toBe(expected?.number ?? 0);
        }
        needed = Math.max(needed, lsn - Math.min(lsn, ...readers));
        expect(charged).toBe(dead.bytes);
        // At most 192 bytes each; half of them, or 1,024, may be there in vain.
        expect(dead.bytes).toBeLessThanOrEqual(192 * Math.max(1024, 2 * needed + 1));
      }
      // A state that nobody holds is not known any more, or is known as it was.
      const long = dead.find(0, 'k1', 0);
      expect([undefined, all.find(({ slot, key }) => slot === 0 && key === 'k1')?.number]).toContain(long);
    }
  });

  test('are not kept when nobody reads', () => {
    let charged = 0;
    let lsn = 0;
    const dead = new DeadKeys(
      (bytes) => {
        charged += bytes;
      },
      () => lsn,
    );
    for (let number = 1; number <= 20_000; number++) {
      dead.add(0, number, number, lsn + 1);
      lsn++;
      expect(charged).toBeLessThanOrEqual(1024 * 200);
    }
    expect(dead.find(0, 5, 4)).toBeUndefined();
    expect(dead.find(0, 5, lsn)).toBe(0);
  });
});
