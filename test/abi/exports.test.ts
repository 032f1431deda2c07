// Compares the exports of the core and their types with a golden file, which is the same for every
// build. Also checks that the core imports nothing.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CoreBuild, loadCore } from '../../src/core/index.ts';
import { SECTION_ENTRY_BYTES, SEGMENT_HEADER_BYTES } from '../../src/engine/table/segment-sections.ts';
import { expectGolden } from '../support/golden.ts';
import { wasmExports, wasmImports } from '../support/wasm-exports.ts';

const FILES: Record<CoreBuild, string> = { release: 'core.wasm', plain: 'core.plain.wasm', debug: 'core.debug.wasm' };
const FEATURES: Record<CoreBuild, number> = { release: 1, plain: 0, debug: 3 };
const builds = Object.keys(FILES) as CoreBuild[];

function bytesOf(build: CoreBuild): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`../../build/${FILES[build]}`, import.meta.url)));
}

/** Values of the exported constants, which are part of the ABI. */
function constantsOf(build: CoreBuild): Map<string, unknown> {
  const exports = Object.entries(loadCore(build).instantiate().exports);
  return new Map(
    exports.flatMap(([name, value]) => (value instanceof WebAssembly.Global ? [[name, value.value] as const] : [])),
  );
}

function tableOf(build: CoreBuild): string {
  const constants = constantsOf(build);
  const lines = wasmExports(bytesOf(build)).map(({ name, kind, type }) =>
    kind === 'memory'
      ? `memory ${name}`
      : `${kind} ${name} ${type}${constants.has(name) ? ` = ${constants.get(name)}` : ''}`,
  );
  return `${lines.join('\n')}\n`;
}

describe('the ABI of the core', () => {
  it('has the exports listed in the golden file', () => {
    expectGolden('abi-exports.txt', tableOf('release'));
  });

  it.each(builds)('is the same in the %s build, which needs no imports', (build) => {
    expect(tableOf(build)).toBe(tableOf('release'));
    expect(wasmImports(bytesOf(build))).toEqual([]);
    expect(WebAssembly.Module.imports(new WebAssembly.Module(bytesOf(build)))).toEqual([]);
  });

  it.each(builds)('is parsed from the %s build to the names and kinds that the JavaScript engine reports', (build) => {
    const known = WebAssembly.Module.exports(new WebAssembly.Module(bytesOf(build)));
    const kinds = new Map(
      wasmExports(bytesOf(build)).map(({ name, kind }) => [name, kind === 'func' ? 'function' : kind]),
    );
    expect(new Map(known.map(({ name, kind }) => [name, kind]))).toEqual(kinds);
  });

  it('passes numbers only', () => {
    for (const { name, kind, type } of wasmExports(bytesOf('release'))) {
      if (kind === 'func') expect(type, name).toMatch(/^\((|(i32|f64)( (i32|f64))*)\) -> (i32|f64|nothing)$/);
    }
  });

  it.each(builds)('reports its versions and features in the %s build', (build) => {
    const core = loadCore(build).instantiate().exports;
    expect([core.hg_abi_version(), core.hg_format_version(), core.hg_features()]).toEqual([1, 3, FEATURES[build]]);
  });

  it('exports the sizes that the host uses to read the head of a segment file', () => {
    const { HG_SEGMENT_HEADER_BYTES, HG_SECTION_ENTRY_BYTES } = loadCore().instantiate().exports;
    expect([SEGMENT_HEADER_BYTES, SECTION_ENTRY_BYTES]).toEqual([
      HG_SEGMENT_HEADER_BYTES.value,
      HG_SECTION_ENTRY_BYTES.value,
    ]);
  });

  it('is documented in full by README.md and typed in full by src/core', () => {
    const readme = readFileSync(new URL('../../assembly/README.md', import.meta.url), 'utf8');
    const typed = ['abi.ts', 'abi-text.ts']
      .map((name) => readFileSync(new URL(`../../src/core/${name}`, import.meta.url), 'utf8'))
      .join('');
    const names = wasmExports(bytesOf('release')).map(({ name }) => name);
    expect(names.filter((name) => !readme.includes(name))).toEqual([]);
    expect(names.filter((name) => name.startsWith('hg_') && !typed.includes(`${name}(`))).toEqual([]);
    const named = new Set(readme.match(/\b(hg|HG)_[A-Za-z0-9_]+/g));
    expect([...named].filter((name) => !names.includes(name))).toEqual([]);
  });
});
