// Loads the core: compiles the WebAssembly module once, and creates any number of instances. The
// module has no imports, so it needs no loader.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HedgerowError } from '../errors.ts';
import type { CoreExports } from './abi.ts';
import { CostlyAttempts } from './costly-attempts.ts';
import { CoreMemory } from './views.ts';

/**
 * `release` uses SIMD, `plain` does not, and `debug` has assertions. All have the same exports and
 * give the same results.
 */
export type CoreBuild = 'release' | 'plain' | 'debug';

const FILES: Record<CoreBuild, string> = { release: 'core.wasm', plain: 'core.plain.wasm', debug: 'core.debug.wasm' };
const ABI_VERSION = 1;

/** One instance of the core: its exports and its memory. */
export interface Core {
  readonly exports: CoreExports;
  readonly memory: CoreMemory;
}

/** A compiled core. Instances share nothing and cost about 10 us. */
export interface CoreModule {
  /**
   * Creates an instance. Throws `overloaded` if the process gets no memory for it. Before V8
   * reports this, it collects garbage three times, which takes about 50 ms. So after a failed
   * attempt, further calls are refused immediately, for four times as long as the attempt took. If
   * `insist` is true, an attempt is made in any case, because memory was just freed.
   */
  instantiate(insist?: boolean): Core;
}

/**
 * Compiles the bytes of a core (from `hedgerow/core.wasm` or any other source). `instantiate`
 * throws if the ABI version differs from the one that this host needs.
 */
export function compileCore(bytes: Uint8Array<ArrayBuffer>): CoreModule {
  const module = new WebAssembly.Module(bytes);
  const instances = new CostlyAttempts(
    () => instanceOf(module),
    () => performance.now(),
  );
  return {
    instantiate(insist = false) {
      const instance = instances.make(insist);
      const exports = instance.exports as unknown as CoreExports;
      if (exports.hg_abi_version() !== ABI_VERSION) {
        throw new HedgerowError(
          'internal',
          `The core has ABI version ${exports.hg_abi_version()}, this host needs ${ABI_VERSION}. Run npm run build.`,
        );
      }
      exports.hg_memtable_seed(SEEDS[0]!, SEEDS[1]!);
      return { exports, memory: new CoreMemory(exports.memory) };
    },
  };
}

/** Secret hash seeds, chosen once per process. */
const SEEDS = crypto.getRandomValues(new Uint32Array(2));

/**
 * Creates an instance. Each reserves 10.5 GB of address space, so a process can have about 12,500
 * of them, or fewer if its address space is limited.
 */
function instanceOf(module: WebAssembly.Module): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(module, {});
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new HedgerowError(
      'overloaded',
      `The process gets no memory for another instance of the core (${cause.message}). Try again later; a limit on its address space (ulimit -v) must be raised.`,
      { cause },
    );
  }
}

const compiled = new Map<CoreBuild, CoreModule>();

/**
 * Returns the core of this package, compiled once per process. The package's folder `build` is next
 * to `src` and `dist`.
 */
export function loadCore(build: CoreBuild = 'release'): CoreModule {
  const known = compiled.get(build);
  if (known) return known;
  const path = fileURLToPath(new URL(`../../build/${FILES[build]}`, import.meta.url));
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(readFileSync(path));
  } catch (cause) {
    throw new HedgerowError('internal', `${path} is missing. Run npm run build:core.`, { cause });
  }
  const module = compileCore(bytes);
  compiled.set(build, module);
  return module;
}
