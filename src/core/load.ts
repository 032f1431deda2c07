// Loads the core: compiles the WebAssembly once and creates any number of instances. The module has
// no imports, so it needs no loader.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HedgerowError } from '../errors.ts';
import type { CoreExports } from './abi.ts';
import { CostlyAttempts } from './costly-attempts.ts';
import { CoreMemory } from './views.ts';

/** `release` uses SIMD, `plain` does not, `debug` has assertions. Same exports, same results. */
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
   * Throws `overloaded` if the process gets no memory for the instance. V8 collects garbage three
   * times before it reports that, which takes about 50 ms: for four times as long as the failed
   * attempt took, further calls are refused immediately. `insist`: memory was just freed, so try in
   * any case.
   */
  instantiate(insist?: boolean): Core;
}

/**
 * Compiles core bytes (from `hedgerow/core.wasm` or any other source). Instantiating throws if the
 * ABI version differs.
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
 * Each instance reserves 10.5 GB of address space, so a process can have about 12,500, or fewer
 * under a limit.
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
 * The core of this package, compiled once per process. Its `build` folder is next to `src` and
 * `dist`.
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
