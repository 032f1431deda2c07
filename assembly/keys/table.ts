// The hash table of the dictionary: kind and key -> entry of a live or held node.
//
// It grows by linear hashing (Litwin, "Linear hashing: a new tool for file and table addressing",
// 1980), one bucket at a time, so that no call has to move a whole table. A bucket is a chain of
// entries. With b buckets and 2^k <= b < 2^(k + 1), a hash belongs to bucket `hash mod 2^(k + 1)`
// if this is below b, and otherwise to bucket `hash mod 2^k`. To add bucket b, the chain of bucket
// b - 2^k is split by the next bit of the hashes. No other bucket changes.
//
// Example: with 6 buckets (k = 2), the hashes 1 and 5 belong to buckets 1 and 5; 3 and 7 belong to
// bucket 3. Adding the buckets 6 and 7 splits buckets 2 and 3, and hash 7 moves to bucket 7.
//
// Heads of chains are in segments of 16,384, which a directory lists. A removed entry is taken out
// of its chain, so there are no marks of removed entries to clear. If there is no memory for a
// segment, the table works on with longer chains.

import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { E_KEY, E_NEXT, E_SHAPE, isSame, keyBytesOf, kindOf, shapeOf } from './entry';
import { sipHash } from './siphash';

const SEGMENT_BITS: u32 = 14;
const SEGMENT_HEADS: u32 = 1 << SEGMENT_BITS;
const FIRST_SEGMENTS: u32 = 64;
/** Most buckets; an instance has no memory for as many entries. */
const MOST_BUCKETS: u32 = 0x40000000;

/** u32 address of each segment; how many there is space for. */
let directory: usize = 0;
let directoryCount: u32 = 0;
let buckets: u32 = 0;
/** 2^k - 1. */
let lowMask: u32 = SEGMENT_HEADS - 1;
let linked: u32 = 0;

/** Forgets everything, after the allocator has forgotten all regions. */
export function forgetTable(): void {
  directory = 0;
  directoryCount = buckets = linked = 0;
  lowMask = SEGMENT_HEADS - 1;
}

function headOf(hash: u64): usize {
  const low = <u32>hash;
  let bucket = low & (lowMask * 2 + 1);
  if (bucket >= buckets) bucket = low & lowMask;
  return headAt(bucket);
}

function headAt(bucket: u32): usize {
  if (!ASC_NO_ASSERT) assert(bucket < buckets, 'a bucket exists');
  return cell<u32>(get<u32>(directory, bucket >> SEGMENT_BITS), bucket & (SEGMENT_HEADS - 1));
}

/** Returns the hash of a kind and key. */
export function hashKey(kind: u32, key: usize, bytes: u32): u64 {
  return sipHash(key, bytes, kind);
}

/** Returns the first entry of the bucket of a hash, or 0. */
export function firstEntry(hash: u64): usize {
  return buckets ? <usize>load<u32>(headOf(hash)) : 0;
}

/** Returns the live or held entry of this kind and key, which have this hash, or 0. */
export function findEntry(kind: u32, key: usize, bytes: u32, hash: u64): usize {
  return findFrom(firstEntry(hash), kind, key, bytes);
}

/** Returns the entry of this kind and key among an entry and those after it in its chain, or 0. */
export function findFrom(first: usize, kind: u32, key: usize, bytes: u32): usize {
  const shape = shapeOf(kind, bytes);
  let entry = first;
  while (entry) {
    if (load<u32>(entry + E_SHAPE) == shape && isSame(entry + E_KEY, key, bytes)) return entry;
    entry = <usize>load<u32>(entry + E_NEXT);
  }
  return 0;
}

/** Creates the first buckets; returns false if out of memory. */
export function openTable(): bool {
  return buckets > 0 || addSegment();
}

/** Adds an entry with this hash, whose key is not in the table, which was opened. */
export function linkEntry(entry: usize, hash: u64): void {
  const head = headOf(hash);
  store<u32>(entry + E_NEXT, load<u32>(head));
  store<u32>(head, <u32>entry);
  linked++;
  // At most four thirds are needed; the others catch up after a time without memory.
  for (let i: u32 = 0; i < 4 && <u64>linked * 4 > <u64>buckets * 3; i++) if (!splitBucket()) break;
}

/** Removes an entry that is in the table. */
export function unlinkEntry(entry: usize): void {
  let link = headOf(hashOf(entry));
  while (<usize>load<u32>(link) != entry) {
    if (!ASC_NO_ASSERT) assert(load<u32>(link) != 0, 'the entry is in the chain of its bucket');
    link = <usize>load<u32>(link) + E_NEXT;
  }
  store<u32>(link, load<u32>(entry + E_NEXT));
  linked--;
}

function hashOf(entry: usize): u64 {
  return hashKey(kindOf(entry), entry + E_KEY, keyBytesOf(entry));
}

function addSegment(): bool {
  const index = buckets >> SEGMENT_BITS;
  if (index == directoryCount && !growDirectory()) return false;
  let segment = <usize>get<u32>(directory, index);
  if (!segment) {
    segment = alloc(bytesOf<u32>(SEGMENT_HEADS));
    if (!segment) return false;
    put<u32>(directory, index, <u32>segment);
  }
  memory.fill(segment, 0, bytesOf<u32>(SEGMENT_HEADS));
  if (!buckets) buckets = SEGMENT_HEADS;
  return true;
}

function growDirectory(): bool {
  const count = max(FIRST_SEGMENTS, directoryCount * 2);
  const next = alloc(<u32>bytesOf<u32>(count));
  if (!next) return false;
  const used = bytesOf<u32>(directoryCount);
  if (directory) memory.copy(next, directory, used);
  memory.fill(next + used, 0, bytesOf<u32>(count) - used);
  free(directory);
  directory = next;
  directoryCount = count;
  return true;
}

/** Adds one bucket, and moves entries of one other bucket to it; returns false if it cannot. */
function splitBucket(): bool {
  if (buckets == MOST_BUCKETS) return false;
  if (!(buckets & (SEGMENT_HEADS - 1)) && !addSegment()) return false;
  const bit = lowMask + 1;
  const added = buckets;
  buckets++;
  let link = headAt(added - bit);
  const other = headAt(added);
  let entry = <usize>load<u32>(link);
  while (entry) {
    const next = load<u32>(entry + E_NEXT);
    if (<u32>hashOf(entry) & bit) {
      store<u32>(link, next);
      store<u32>(entry + E_NEXT, load<u32>(other));
      store<u32>(other, <u32>entry);
    } else {
      link = entry + E_NEXT;
    }
    entry = <usize>next;
  }
  if (buckets == bit * 2) lowMask = lowMask * 2 + 1;
  return true;
}
