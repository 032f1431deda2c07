// Writes UTF-8 bytes as a JSON string.

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;
/**
 * For each control byte, the letter of its short escape; 0 if the byte has none and is written as
 * \u00xx.
 */
const SHORT: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/**
 * Returns an upper bound on the size in bytes of the JSON string for `len` UTF-8 bytes: six bytes
 * for each, as if all were control characters, and two quotes.
 */
export function textNeed(len: u32): u32 {
  return len * 6 + 2;
}

/**
 * Writes `len` bytes of UTF-8 as a quoted JSON string, with the escapes of JSON.stringify
 * (ECMA-262, QuoteJSONString); returns the pointer after the closing quote. Bytes are not
 * validated: invalid UTF-8 passes through unchanged.
 *
 * `out` needs `textNeed(len)` bytes. Cost: one step per escape; between escapes one step per 16
 * bytes with SIMD, one per 8 bytes without; one step for each of the last bytes.
 */
export function writeText(out: usize, utf8: usize, len: u32): usize {
  const limit = out + textNeed(len);
  store<u8>(out, QUOTE);
  out++;
  const end = utf8 + len;
  if (ASC_FEATURE_SIMD) {
    while (utf8 + 16 <= end) {
      const bytes = v128.load(utf8);
      v128.store(out, bytes);
      const special = specialLanes(bytes);
      if (!v128.any_true(special)) {
        utf8 += 16;
        out += 16;
        continue;
      }
      const clean = <usize>ctz(v128.bitmask<i8>(special));
      out = writeEscape(out + clean, load<u8>(utf8 + clean));
      utf8 += clean + 1;
    }
  }
  while (utf8 + 8 <= end) {
    const word = load<u64>(utf8);
    store<u64>(out, word);
    const special = specialBytes(word);
    if (special == 0) {
      utf8 += 8;
      out += 8;
      continue;
    }
    const clean = <usize>(ctz(special) >> 3);
    out = writeEscape(out + clean, load<u8>(utf8 + clean));
    utf8 += clean + 1;
  }
  for (; utf8 < end; utf8++) {
    const byte = <u32>load<u8>(utf8);
    if (byte >= 0x20 && byte != QUOTE && byte != BACKSLASH) {
      store<u8>(out, byte);
      out++;
    } else out = writeEscape(out, byte);
  }
  store<u8>(out, QUOTE);
  if (!ASC_NO_ASSERT) assert(out < limit, 'a text is within its bound');
  return out + 1;
}

/** Returns all ones in the lanes whose byte needs an escape. */
function specialLanes(bytes: v128): v128 {
  return v128.or(
    v128.lt<u8>(bytes, i8x16.splat(0x20)),
    v128.or(v128.eq<u8>(bytes, i8x16.splat(0x22)), v128.eq<u8>(bytes, i8x16.splat(0x5c))),
  );
}

/**
 * Returns a word with the top bit set in each byte that needs an escape. Only the lowest of the set
 * bits is reliable, and the caller uses only this bit.
 */
function specialBytes(word: u64): u64 {
  const ones: u64 = 0x0101010101010101;
  const quote = word ^ (ones * 0x22);
  const backslash = word ^ (ones * 0x5c);
  const found = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);
  return found & (ones << 7);
}

function writeEscape(out: usize, byte: u32): usize {
  const letter = byte < 0x20 ? <u32>load<u8>(SHORT + byte) : byte;
  if (letter != 0) {
    store<u16>(out, BACKSLASH | (letter << 8));
    return out + 2;
  }
  store<u32>(out, 0x3030755c); // \u00
  const low = byte & 15;
  store<u8>(out, 0x30 + (byte >> 4), 4);
  store<u8>(out, low + (low < 10 ? 0x30 : 0x57), 5);
  return out + 6;
}

/** Copies text; returns its end. */
export function copyText(out: usize, from: usize, bytes: u32): usize {
  let i: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    for (; i + 16 <= bytes; i += 16) v128.store(out + i, v128.load(from + i));
  }
  for (; i + 8 <= bytes; i += 8) store<u64>(out + i, load<u64>(from + i));
  for (; i < bytes; i++) store<u8>(out + i, load<u8>(from + i));
  return out + bytes;
}
