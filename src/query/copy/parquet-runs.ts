// Decodes the RLE/bit-packing hybrid encoding of Parquet, a sequence of runs of small integers. A
// run is either one integer that is repeated, or a sequence of integers that are packed bit by bit.
//
// For example, with integers of 3 bits, the bytes `08 05` are a run of four fives. The header 8 is
// 4 * 2; its lowest bit 0 means that one integer is repeated. In the header of a packed run, the
// lowest bit is 1 and the other bits are the number of groups of eight integers.

export type SmallIntegers = Uint8Array | Uint16Array | Uint32Array;

/**
 * Reads `count` integers of `width` bits (0 to 32), starting at `from`. The last run may contain
 * more integers than `count` asks for.
 */
export function readRuns(bytes: Uint8Array, from: number, width: number, count: number): SmallIntegers {
  if (width > 32) throw new Error(`a page has integers of ${width} bits`);
  const values = width <= 8 ? new Uint8Array(count) : width <= 16 ? new Uint16Array(count) : new Uint32Array(count);
  if (width === 0) return values;
  const reader = { bytes, offset: from };
  for (let done = 0; done < count; ) {
    const header = readVarInt(reader);
    const left = count - done;
    if (header & 1) {
      const taken = Math.min(left, (header >>> 1) * 8);
      unpack(reader, width, values, done, taken);
      // The padding of the last packed run may be missing in the file.
      reader.offset += (header >>> 1) * width;
      done += taken;
    } else {
      const taken = Math.min(left, header >>> 1);
      values.fill(readInteger(reader, (width + 7) >> 3), done, done + taken);
      done += taken;
    }
  }
  return values;
}

interface Reader {
  readonly bytes: Uint8Array;
  offset: number;
}

/** Unpacks integers without advancing the reader. */
function unpack({ bytes, offset }: Reader, width: number, values: SmallIntegers, from: number, count: number): void {
  if (offset + Math.ceil((count * width) / 8) > bytes.length) throw tooShort();
  if (width > 24) {
    unpackWide(bytes, offset, width, values, from, count);
    return;
  }
  const mask = 2 ** width - 1;
  let held = 0;
  let bits = 0;
  let at = offset;
  for (let i = from; i < from + count; i++) {
    for (; bits < width; bits += 8) held |= bytes[at++]! << bits;
    values[i] = held & mask;
    held >>>= width;
    bits -= width;
  }
}

/**
 * Does the same as `unpack` for integers of more than 24 bits. Up to 39 bits are held at once, more
 * than bitwise operators can handle.
 */
function unpackWide(
  bytes: Uint8Array,
  offset: number,
  width: number,
  values: SmallIntegers,
  from: number,
  count: number,
): void {
  let held = 0;
  let bits = 0;
  let at = offset;
  for (let i = from; i < from + count; i++) {
    for (; bits < width; bits += 8) held += bytes[at++]! * 2 ** bits;
    const rest = Math.floor(held / 2 ** width);
    values[i] = held - rest * 2 ** width;
    held = rest;
    bits -= width;
  }
}

function readVarInt(reader: Reader): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = readInteger(reader, 1);
    value |= (byte & 127) << shift;
    if (byte < 128) return value >>> 0;
  }
  throw new Error('a run has no length');
}

function readInteger(reader: Reader, width: number): number {
  if (reader.offset + width > reader.bytes.length) throw tooShort();
  let value = 0;
  for (let i = 0; i < width; i++) value += reader.bytes[reader.offset++]! * 256 ** i;
  return value;
}

function tooShort(): Error {
  return new Error('a page ends in the middle of a run');
}
