// Mutates bytes in ways that find bugs in decoders: flips bits, writes interesting numbers, and
// copies and cuts ranges.

import type { Random } from '../../core/support/random.ts';

const WORDS = [0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];
const LONGS = [0n, 1n, -1n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];

export function randomBytes(random: Random, length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, () => random.below(256));
}

/**
 * Returns a mutated copy. Half of the changes are within the first `focus` bytes (headers and
 * directories).
 */
export function mutate(random: Random, source: Uint8Array, focus: number): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer> = Uint8Array.from(source);
  for (let changes = 1 + random.below(4); changes > 0 && bytes.length > 0; changes--)
    bytes = change(random, bytes, focus);
  return bytes;
}

function change(random: Random, bytes: Uint8Array<ArrayBuffer>, focus: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer);
  const span = random.below(2) === 0 ? Math.min(focus, bytes.length) : bytes.length;
  const at = random.below(span);
  switch (random.below(9)) {
    case 0:
      bytes[at]! ^= 1 << random.below(8);
      return bytes;
    case 1:
      bytes[at] = random.below(256);
      return bytes;
    case 2:
      bytes[at] = (bytes[at]! + [1, 255][random.below(2)]!) & 255;
      return bytes;
    case 3:
      if (bytes.length >= 4)
        view.setUint32(Math.min(at & ~3, bytes.length - 4), WORDS[random.below(WORDS.length)]!, true);
      return bytes;
    case 4: {
      const word = Math.min(at & ~3, bytes.length - 4);
      if (word >= 0) view.setUint32(word, view.getUint32(word, true) + random.below(17) - 8, true);
      return bytes;
    }
    case 5:
      if (bytes.length >= 8)
        view.setBigInt64(Math.min(at & ~7, bytes.length - 8), LONGS[random.below(LONGS.length)]!, true);
      return bytes;
    case 6: {
      const length = 1 + random.below(Math.min(64, bytes.length - at));
      const from = random.below(bytes.length - length + 1);
      bytes.copyWithin(at, from, from + length);
      return bytes;
    }
    case 7:
      bytes.fill([0, 255][random.below(2)]!, at, at + 1 + random.below(32));
      return bytes;
    default:
      return random.below(3) === 0 ? bytes.slice(0, at + 1) : bytes;
  }
}
