// Checks the assertions in the core: the debug build stops at an impossible state and names it.

import { describe, expect, it } from 'vitest';
import { Instance } from './support/instance.ts';

/** Makes a call that must trap, and returns the text of the failed assertion. */
function failureOf(core: Instance, call: () => unknown): string {
  expect(call).toThrow(WebAssembly.RuntimeError);
  const address = core.x.hg_result_pointer() >>> 0;
  const size = new Uint32Array(core.core.memory.borrow(address - 4, 4).slice().buffer)[0]!;
  return new TextDecoder('utf-16le').decode(core.core.memory.borrow(address, size));
}

describe('the allocator of the debug build', () => {
  it('stops at a double free', () => {
    const core = new Instance('debug');
    const address = core.alloc(100);
    core.x.hg_memory_free(address);
    expect(failureOf(core, () => core.x.hg_memory_free(address))).toBe('double free');
  });

  it('stops at an address that was never allocated', () => {
    const core = new Instance('debug');
    const address = core.alloc(100);
    expect(failureOf(core, () => core.x.hg_memory_free(address + 32))).toBe('a freed address was returned by alloc');
  });
});
