// The ABI of memory: regions owned by the caller.

import { forgetKeys } from '../keys/dictionary';
import { alloc, free, reset, usedBytes } from '../memory/alloc';

export function hg_memory_alloc(bytes: u32): u32 {
  return <u32>alloc(bytes);
}

export function hg_memory_free(ptr: u32): void {
  free(ptr);
}

export function hg_memory_used(): u32 {
  return usedBytes();
}

export function hg_memory_reset(): void {
  reset();
  forgetKeys();
}
