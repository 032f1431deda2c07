// The kinds of the dictionary: whether their keys are integers, and how a key begins in object
// form.

import { alloc, free } from '../memory/alloc';
import { element } from '../memory/cells';

/* u32 flags, u32 address of the prefix `{"kind":"Person","key":`, u32 its size in bytes. */
const K_FLAGS: usize = 0;
const K_PREFIX: usize = 4;
const K_PREFIX_BYTES: usize = 8;
const K_BYTES: usize = 12;
const KNOWN: u32 = 1;
const INTEGER: u32 = 2;

let kinds: usize = 0;
let kindCount: u32 = 0;
/** The greatest size of a prefix. */
let longest: u32 = 0;

/** Forgets all kinds, after the allocator has forgotten all regions. */
export function forgetKinds(): void {
  kinds = 0;
  kindCount = longest = 0;
}

/**
 * Registers or renames a kind; `prefix` is copied. Returns false, with nothing changed, if out of
 * memory.
 */
export function setKind(kind: u32, isInteger: bool, prefix: usize, bytes: u32): bool {
  const copy = alloc(bytes);
  if (!copy) return false;
  if (kind >= kindCount && !growKinds(kind + 1)) {
    free(copy);
    return false;
  }
  memory.copy(copy, prefix, bytes);
  const at = element(kinds, kind, K_BYTES);
  free(<usize>load<u32>(at + K_PREFIX));
  store<u32>(at + K_FLAGS, isInteger ? KNOWN | INTEGER : KNOWN);
  store<u32>(at + K_PREFIX, <u32>copy);
  store<u32>(at + K_PREFIX_BYTES, bytes);
  longest = max(longest, bytes);
  return true;
}

function growKinds(least: u32): bool {
  const count = max(max(8, least), kindCount * 2);
  const next = alloc(<u32>element(0, count, K_BYTES));
  if (!next) return false;
  const used = element(0, kindCount, K_BYTES);
  if (kinds) memory.copy(next, kinds, used);
  memory.fill(next + used, 0, element(0, count, K_BYTES) - used);
  free(kinds);
  kinds = next;
  kindCount = count;
  return true;
}

export function isKnownKind(kind: u32): bool {
  return kind < kindCount && (load<u32>(element(kinds, kind, K_BYTES) + K_FLAGS) & KNOWN) != 0;
}

/** Returns whether keys of a known kind are integers. */
export function isIntegerKind(kind: u32): bool {
  return (load<u32>(element(kinds, kind, K_BYTES) + K_FLAGS) & INTEGER) != 0;
}

export function prefixOf(kind: u32): usize {
  return <usize>load<u32>(element(kinds, kind, K_BYTES) + K_PREFIX);
}

export function prefixBytesOf(kind: u32): u32 {
  return load<u32>(element(kinds, kind, K_BYTES) + K_PREFIX_BYTES);
}

export function longestPrefix(): u32 {
  return longest;
}
