// Times the core's leaf kernels against typed-array JavaScript and, if gcc is installed, against C
// doing the same work.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLeaf, FREE_AT, type Leaf } from '../test/core/support/leaf-build.ts';
import { ascending, type Random, randomFrom } from '../test/core/support/random.ts';
import * as peers from './core-leaf-peers.ts';

/**
 * Best of many runs, in nanoseconds per unit. `plainNs` belongs to the core compiled without SIMD.
 * A figure is undefined if that build or peer did not run.
 */
export interface Row {
  kernel: string;
  unit: string;
  oursNs: number;
  plainNs: number | undefined;
  jsNs: number;
  cNs: number | undefined;
}

interface Kernel {
  name: string;
  unit: string;
  units: number;
  /** The inputs `a` and `b`. The C peer also reads the numbers `na` and `nb`. */
  a: Uint8Array;
  na: number;
  b: Uint8Array;
  nb: number;
  /** Name of the peer in `core-leaf.c`. */
  c: string;
  /** Writes the input that only the core needs; called once for each build of the core. */
  prepare?: (leaf: Leaf) => void;
  /** Runs on the inputs at A and B in the leaf's memory. The result must equal that of `js`. */
  ours: (leaf: Leaf) => number;
  js: () => number;
}

const MIB = 1 << 20;
const A = FREE_AT;
const B = FREE_AT + 8 * MIB;
const OUT = FREE_AT + 16 * MIB;
const SCRATCH = FREE_AT + 40 * MIB;

/**
 * Runs every kernel. With `tiny`, measures as briefly as possible, on small inputs, and leaves out
 * C and the plain build.
 */
export async function runCoreLeaf(options: { tiny: boolean }): Promise<Row[]> {
  const budgetMs = options.tiny ? 0 : 150;
  const kernels = makeKernels(options.tiny ? 0.01 : 1);
  const leaf = await buildLeaf(true);
  const plain = options.tiny ? undefined : await buildLeaf(false);
  const runC = options.tiny ? undefined : compileC();
  const rows: Row[] = [];
  for (const kernel of kernels) {
    const wanted = kernel.js();
    const time = (each: Leaf) => {
      load(each, kernel);
      const got = kernel.ours(each);
      if (got !== wanted) throw new Error(`${kernel.name}: the core gives ${got}, JavaScript ${wanted}`);
      return bestNs(() => kernel.ours(each), kernel.units, budgetMs);
    };
    rows.push({
      kernel: kernel.name,
      unit: kernel.unit,
      oursNs: time(leaf),
      plainNs: plain && time(plain),
      jsNs: bestNs(kernel.js, kernel.units, budgetMs),
      cNs: runC?.run(kernel, budgetMs),
    });
  }
  runC?.dispose();
  return rows;
}

function load(leaf: Leaf, kernel: Kernel): void {
  const bytes = new Uint8Array(leaf.memory.buffer);
  bytes.set(kernel.a, A);
  bytes.set(kernel.b, B);
  kernel.prepare?.(leaf);
}

const setPeers = {
  intersect16: peers.intersect16,
  intersect32: peers.intersect32,
  difference32: peers.difference32,
  union32: peers.union32,
};

/**
 * A short kernel is repeated until it has done this many units, so that the time of reading the
 * clock is negligible; `core-leaf.c` does the same.
 */
const REPEATED_UNITS = 5000;

let sink = 0;

function bestNs(run: () => number, units: number, budgetMs: number): number {
  const warmUntil = performance.now() + budgetMs / 3;
  do sink += run();
  while (performance.now() < warmUntil);
  const repeats = Math.ceil(REPEATED_UNITS / units);
  let best = Infinity;
  const until = performance.now() + budgetMs;
  do {
    const start = process.hrtime.bigint();
    for (let i = 0; i < repeats; i++) sink += run();
    best = Math.min(best, Number(process.hrtime.bigint() - start));
  } while (performance.now() < until);
  return Math.max(best, 1) / units / repeats;
}

function makeKernels(scale: number): Kernel[] {
  const random = randomFrom(2024);
  return [...crcKernels(random, scale), ...setKernels(random, scale), filterKernel(random, scale)].concat(
    numberKernels(random, scale),
    textKernels(random, scale),
    orderKernels(random, scale),
  );
}

function crcKernels(random: Random, scale: number): Kernel[] {
  return [200, Math.ceil(65536 * scale)].map((length) => {
    const a = Uint8Array.from({ length }, () => random.below(256));
    return {
      ...oneInput(`crc32c ${length} B`, 'byte', length, a, length, 'crc'),
      ours: (leaf) => leaf.crc32c(A, length, 0) >>> 0,
      js: () => peers.crc32c(a, 0),
    };
  });
}

function setKernels(random: Random, scale: number): Kernel[] {
  const list32 = (count: number, span: number) =>
    Uint32Array.from(ascending(random, Math.ceil(count * scale), Math.ceil(span * scale)));
  const list16 = (count: number) => Uint16Array.from(ascending(random, Math.ceil(count * scale), 65536));
  const pair = (
    name: string,
    op: 'intersect16' | 'intersect32' | 'difference32' | 'union32',
    c: string,
    a: Uint16Array | Uint32Array,
    b: Uint16Array | Uint32Array,
  ): Kernel => {
    const out = op === 'intersect16' ? new Uint16Array(a.length) : new Uint32Array(a.length + b.length);
    const peer = c === 'gallop32' ? peers.gallop : setPeers[op];
    return {
      name,
      unit: c === 'gallop32' ? 'short' : 'value',
      units: c === 'gallop32' ? a.length : a.length + b.length,
      a: bytesOf(a),
      na: a.length,
      b: bytesOf(b),
      nb: b.length,
      c,
      ours: (leaf) => leaf[op](A, a.length, B, b.length, OUT),
      js: () => peer(a, b, out),
    };
  };
  const wide = list16(30000);
  const widened = new Uint32Array(wide.length);
  return [
    pair('intersect16 8k x 8k', 'intersect16', 'common16', list16(8000), list16(8000)),
    pair('intersect16 2k x 30k', 'intersect16', 'common16', list16(2000), list16(30000)),
    pair('intersect32 100k x 100k, 1/3', 'intersect32', 'common32', list32(1e5, 3e5), list32(1e5, 3e5)),
    pair('intersect32 20k x 200k', 'intersect32', 'common32', list32(2e4, 1e6), list32(2e5, 1e6)),
    pair('intersect32 200 x 200k', 'intersect32', 'gallop32', list32(200, 1e6), list32(2e5, 1e6)),
    pair('difference32 100k - 100k', 'difference32', 'missing32', list32(1e5, 3e5), list32(1e5, 3e5)),
    pair('union32 100k + 100k', 'union32', 'either32', list32(1e5, 3e5), list32(1e5, 3e5)),
    {
      ...oneInput('widen16 30k', 'value', wide.length, bytesOf(wide), wide.length, 'widen'),
      ours: (leaf) => {
        leaf.widen16(A, wide.length, OUT);
        return 0;
      },
      js: () => peers.widen16(wide, widened),
    },
  ];
}

/**
 * The core and JavaScript test one node against 2,000 filters. C tests 2,000 nodes against one
 * filter as large as all of these.
 */
function filterKernel(random: Random, scale: number): Kernel {
  const count = Math.ceil(2000 * scale);
  const directory = new ArrayBuffer(count * 24);
  const view = new DataView(directory);
  const bytesEach = 768;
  const filters = new Uint32Array((count * bytesEach) / 4).map(() => random.below(2 ** 32));
  for (let index = 0; index < count; index++) {
    view.setUint32(index * 24, A + index * bytesEach, true);
    view.setUint32(index * 24 + 4, bytesEach, true);
    view.setBigInt64(index * 24 + 16, 1n << 40n, true);
  }
  const nodes = new BigUint64Array(count).map(() => BigInt(random.below(1e9)));
  const name = `filtersProbe ${count} filters`;
  return {
    ...oneInput(name, 'filter', count, bytesOf(filters), filters.byteLength, 'probe'),
    b: bytesOf(nodes),
    nb: count,
    prepare: (leaf) => {
      new Uint8Array(leaf.memory.buffer).set(new Uint8Array(directory), B);
      new Float64Array(leaf.memory.buffer, SCRATCH, 1)[0] = 123456;
    },
    ours: (leaf) => leaf.filtersProbe(B, count, SCRATCH, 1, OUT),
    js: () => peers.filtersProbe(filters, bytesEach, count, 123456),
  };
}

function numberKernels(random: Random, scale: number): Kernel[] {
  const count = Math.ceil(4000 * scale);
  const view = new DataView(new ArrayBuffer(8));
  const anyDouble = () => {
    view.setBigUint64(0, random.bits64());
    return Number.isFinite(view.getFloat64(0)) ? view.getFloat64(0) : 0;
  };
  const floats = (name: string, make: () => number): Kernel => {
    const values = Float64Array.from({ length: count }, make);
    return {
      ...oneInput(`writeFloat ${name}`, 'number', count, bytesOf(values), count, 'float'),
      ours: (leaf) => {
        let length = 0;
        for (let i = 0; i < count; i++) length += leaf.writeFloat(OUT, values[i]!) - OUT;
        return length;
      },
      js: () => peers.textLength(values),
    };
  };
  const integers = BigInt64Array.from({ length: count }, () => random.bits64() >> BigInt(12 + random.below(50)));
  return [
    {
      ...oneInput('writeInt, mixed', 'number', count, bytesOf(integers), count, 'int'),
      ours: (leaf) => {
        let length = 0;
        for (let i = 0; i < count; i++) length += leaf.writeInt(OUT, integers[i]!) - OUT;
        return length;
      },
      js: () => peers.textLength(integers),
    },
    floats('prices', () => random.below(1e7) / 100),
    floats('unit doubles', () => random.unit()),
    floats('any bits', anyDouble),
  ];
}

function textKernels(random: Random, scale: number): Kernel[] {
  const kernel = (name: string, text: string): Kernel => {
    const utf8 = new TextEncoder().encode(text);
    return {
      ...oneInput(`writeText ${name}`, 'byte', utf8.length, utf8, utf8.length, 'text'),
      ours: (leaf) => leaf.writeText(OUT, A, utf8.length) - OUT,
      js: () => Buffer.byteLength(JSON.stringify(text)),
    };
  };
  const letters = (count: number, escapes: number) =>
    Array.from({ length: count }, () =>
      random.below(1000) < escapes ? '"' : String.fromCharCode(97 + random.below(26)),
    );
  return [
    kernel('24 B clean', letters(24, 0).join('')),
    kernel('64 KiB clean', letters(Math.ceil(65536 * scale), 0).join('')),
    kernel('64 KiB 1/30 quotes', letters(Math.ceil(65536 * scale), 33).join('')),
  ];
}

function orderKernels(random: Random, scale: number): Kernel[] {
  const count = Math.ceil(50000 * scale);
  const kernel = (name: string, make: () => number): Kernel => {
    const keys = Float64Array.from({ length: count }, make);
    const rows = Uint32Array.from({ length: count }, (_, i) => i);
    return {
      ...oneInput(`psiOrder ${name}`, 'row', count, bytesOf(keys), count, 'order'),
      ours: (leaf) => {
        const work = new Float64Array(leaf.memory.buffer, B, count);
        const order = new Uint32Array(leaf.memory.buffer, OUT, count);
        work.set(keys);
        order.set(rows);
        leaf.psiOrder(B, OUT, count, SCRATCH);
        return order[0]! + work[count - 1]!;
      },
      js: () => peers.psiOrder(keys),
    };
  };
  return [
    kernel('50k prices', () => random.below(1e6) / 100),
    kernel('50k whole', () => random.below(1000)),
    kernel('50k doubles', () => random.unit() * 1e9),
  ];
}

function oneInput(name: string, unit: string, units: number, a: Uint8Array, na: number, c: string) {
  return { name, unit, units, a, na, b: new Uint8Array(0), nb: 0, c };
}

function bytesOf(list: ArrayBufferView): Uint8Array {
  return new Uint8Array(list.buffer, list.byteOffset, list.byteLength);
}

/** Compiles `core-leaf.c` in a temporary directory; returns undefined if gcc cannot do this. */
function compileC() {
  const directory = mkdtempSync(join(tmpdir(), 'core-leaf-'));
  const program = join(directory, 'leaf');
  const source = fileURLToPath(new URL('core-leaf.c', import.meta.url));
  try {
    execFileSync('gcc', ['-O3', '-o', program, source, '-lm'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  return {
    run(kernel: Kernel, budgetMs: number): number {
      const input = join(directory, 'input');
      const head = bytesOf(Uint32Array.of(kernel.na, kernel.nb, kernel.a.length));
      writeFileSync(input, Buffer.concat([head, kernel.a, kernel.b]));
      return Number(execFileSync(program, [kernel.c, input, String(kernel.units), String(budgetMs)]));
    },
    dispose: () => rmSync(directory, { recursive: true }),
  };
}

function printTable(rows: Row[]): void {
  const figure = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(value < 10 ? 3 : 1));
  const ratio = (value: number | undefined, ours: number) => (value === undefined ? '-' : (value / ours).toFixed(2));
  const header = ['kernel', 'ns per', 'ours', 'plain', 'JS', 'C', 'JS/ours', 'C/ours'];
  const lines = rows.map((row) => [
    row.kernel,
    row.unit,
    ...[row.oursNs, row.plainNs, row.jsNs, row.cNs].map(figure),
    ratio(row.jsNs, row.oursNs),
    ratio(row.cNs, row.oursNs),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]!.length)));
  for (const line of [header, ...lines]) {
    console.log(line.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '));
  }
  console.log(`sink ${sink}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  runCoreLeaf({ tiny: process.argv.includes('--tiny') }).then(printTable);
}
