// Tests numbers that a client chose so that they collide in V8's integer hash, which has no seed. A
// Set of about ten thousand such numbers takes seconds.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkKey, distinctNumbers } from '../../src/model/edge.ts';
import { CopyPlace } from './copy-place.ts';

/** Returns V8's hash of a small integer (ComputeUnseededHash). */
function hashOf(key: number): number {
  let hash = key;
  hash = (~hash + (hash << 15)) >>> 0;
  hash = (hash ^ (hash >>> 12)) >>> 0;
  hash = (hash + (hash << 2)) >>> 0;
  hash = (hash ^ (hash >>> 4)) >>> 0;
  hash = Math.imul(hash, 2057) >>> 0;
  return (hash ^ (hash >>> 16)) & 0x3fffffff;
}

/**
 * Enough colliding numbers for a Set to take minutes, because it compares each number with all
 * earlier ones.
 */
const chosen: number[] = [];
let place: CopyPlace;
beforeAll(async () => {
  for (let key = 0; chosen.length < 100_000 && key < 2 ** 31; key++) if ((hashOf(key) & 0x3ff) === 0) chosen.push(key);
  place = await CopyPlace.open();
  await place.table('t');
  await place.insert('t', [
    { event_ts: 1, members: [1, 2] },
    { event_ts: 2, members: [chosen[5]!, chosen[6]!] },
  ]);
});
afterAll(() => place.close());

test('lists of colliding numbers are looked up, compared and matched', async () => {
  const rows = async (query: string) => (await place.run(query, { l: chosen })).rows;
  expect(await rows('MATCH (e:t) WHERE e.event_ts IN $l RETURN count(*) AS n')).toEqual([
    { n: [1, 2].filter((time) => chosen.includes(time)).length },
  ]);
  expect(await rows('MATCH (e:t) WHERE e.members = $l RETURN count(*) AS n')).toEqual([{ n: 0 }]);
  expect(await rows('MATCH (e:t) MEMBERS $l RETURN count(*) AS n')).toEqual([{ n: 0 }]);
  const pair = [chosen[5]!, chosen[6]!];
  expect((await place.run('MATCH (e:t) MEMBERS $l RETURN e.event_ts AS t', { l: pair })).rows).toEqual([{ t: 2 }]);
  expect((await place.run('MATCH (e:t) WHERE e.members = $l RETURN e.event_ts AS t', { l: pair })).rows).toEqual([
    { t: 2 },
  ]);
});

test('an edge with too many colliding members is refused without counting all of them', () => {
  const memberSet = (members: number[], limit: number) => checkKey(1, members, limit).members;
  expect(() => memberSet([...chosen].reverse(), 64)).toThrow(/4096 or more distinct node ids; at most 64/);
  expect(() => memberSet([3, 2, 1, 1], 2)).toThrow(/holds 3 distinct/);
  expect(memberSet([3, 2, 1, 1, -0], 4)).toEqual([0, 1, 2, 3]);
  expect(distinctNumbers([5, 5, 4, 5, 3], 2)).toEqual([5, 4]);
});
