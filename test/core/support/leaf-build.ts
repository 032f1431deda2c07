// Compiles the core's leaf functions alone, in memory, with or without SIMD.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

type Address = number;

/**
 * The exports of leaf-entry.ts as JavaScript receives them: u32 results as signed numbers, i64 as
 * bigint, bool as 0 or 1.
 */
export interface Leaf {
  memory: WebAssembly.Memory;
  crc32c(ptr: Address, length: number, seed: number): number;
  filterBytes(count: number): number;
  filterBuild(nodes: Address, count: number, out: Address, bytes: number): void;
  filterTest(ptr: Address, bytes: number, node: bigint): number;
  filtersProbe(directory: Address, count: number, nodes: Address, nodeCount: number, out: Address): number;
  intersect16(a: Address, aCount: number, b: Address, bCount: number, out: Address): number;
  intersect32(a: Address, aCount: number, b: Address, bCount: number, out: Address): number;
  union32(a: Address, aCount: number, b: Address, bCount: number, out: Address): number;
  difference32(a: Address, aCount: number, b: Address, bCount: number, out: Address): number;
  widen16(a: Address, count: number, out: Address): void;
  lowerBound16(ptr: Address, count: number, value: number): number;
  lowerBound32(ptr: Address, count: number, value: number): number;
  writeInt(out: Address, value: bigint): Address;
  writeFloat(out: Address, value: number): Address;
  textNeed(length: number): number;
  writeText(out: Address, utf8: Address, length: number): Address;
  psiOrder(keys: Address, rows: Address, count: number, scratch: Address): void;
  psiLower(keys: Address, count: number, value: number): number;
  psiUpper(keys: Address, count: number, value: number): number;
}

/**
 * FREE_AT is the first byte that the module itself does not use; MEMORY_BYTES is the memory size of
 * a built leaf in bytes.
 */
export const FREE_AT = 1 << 20;
export const MEMORY_BYTES = 64 << 20;

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Compiles the leaf functions with the release options, and instantiates them. asconfig.json is not
 * read, because it names the entry file of the whole core.
 */
export async function buildLeaf(simd: boolean): Promise<Leaf> {
  let binary: Uint8Array | undefined;
  const options = ['-O3', '--noAssert', '--converge', '--runtime', 'stub', '--use', 'abort=', '--outFile', 'leaf.wasm'];
  if (simd) options.push('--enable', 'simd');
  const { error, stderr } = await asc.main(['test/core/leaf-entry.ts', ...options], {
    readFile: (name: string) => (name.endsWith('asconfig.json') ? null : readSource(name)),
    writeFile: (name: string, contents: Uint8Array | string) => {
      if (name.endsWith('.wasm')) binary = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error || !binary) throw new Error(`leaf functions do not compile\n${stderr.toString()}`);
  const module = await WebAssembly.compile(binary as BufferSource);
  const imports = WebAssembly.Module.imports(module);
  if (imports.length > 0) throw new Error(`leaf functions import ${JSON.stringify(imports)}`);
  const instance = await WebAssembly.instantiate(module, {});
  const leaf = instance.exports as unknown as Leaf;
  leaf.memory.grow((MEMORY_BYTES - leaf.memory.buffer.byteLength) >> 16);
  return leaf;
}

function readSource(name: string): string | null {
  try {
    return readFileSync(new URL(name, `file://${root}`), 'utf8');
  } catch {
    return null;
  }
}
