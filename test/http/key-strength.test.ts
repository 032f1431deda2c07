import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { apparentBits } from '../../src/config/key-strength.ts';

/** Returns pseudorandom bytes that are the same in every run. */
function bytes(seed: number, count: number): Buffer {
  const parts = [];
  for (let i = 0; i * 32 < count; i++) parts.push(createHash('sha256').update(`${seed}/${i}`).digest());
  return Buffer.concat(parts).subarray(0, count);
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Common forms of keys that people and programs make. Each has at least 128 bits of randomness. */
const FORMS: Record<string, (seed: number) => string> = {
  '32 hex digits': (seed) => bytes(seed, 16).toString('hex'),
  '40 hex digits in capitals': (seed) => bytes(seed, 20).toString('hex').toUpperCase(),
  '22 characters of base64': (seed) => bytes(seed, 16).toString('base64url'),
  '40 characters of base64': (seed) => bytes(seed, 30).toString('base64'),
  '40 letters and digits': (seed) => `hgr_${Array.from(bytes(seed, 40), (byte) => ALPHANUMERIC[byte % 62]).join('')}`,
  '36 small letters and digits': (seed) =>
    Array.from(bytes(seed, 36), (byte) => ALPHANUMERIC[26 + (byte % 36)]).join(''),
  'two UUIDs': (seed) => `${uuid(seed)}-${uuid(seed + 5000)}`,
};

function uuid(seed: number): string {
  return bytes(seed, 16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

test.each(Object.entries(FORMS))('random keys cause no warning: %s', (_form, make) => {
  const warned = Array.from({ length: 2000 }, (_, seed) => make(seed)).filter((key) => apparentBits(key) < 128);
  // By chance, a few keys that hold exactly 128 bits look weaker.
  expect(warned.length, warned.slice(0, 3).join(' ')).toBeLessThanOrEqual(40);
});

test.each([
  '',
  'a',
  'hgr_',
  'hunter2',
  'hgr_short',
  'hgr_0123456789',
  'my-cat-is-called-Whiskers-since-19',
  bytes(1, 15).toString('hex'),
  bytes(1, 15).toString('base64url'),
  'hgr_correct-horse-battery-staple-and-more',
  'TheQuickBrownFoxJumpsOverTheLazyDogTwice',
  'hgr_service-tests-0123456789abcdefghijklmnop',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'abababababababababababababababababababababababab',
  'hgr_changemechangemechangemechangemechangeme1',
  'passw0rdpassw0rdpassw0rdpassw0rdpassw0rd',
  '012345678901234567890123456789012345678901234567',
  '0110100110010110100101100110100101101001',
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
])('a key that can be guessed has fewer than 128 bits of apparent randomness: %j', (key) => {
  expect(apparentBits(key)).toBeLessThan(128);
});
