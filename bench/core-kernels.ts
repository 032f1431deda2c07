// Times the core's kernels on a segment of real edges, against typed-array JavaScript and, if gcc
// is installed, against C doing the same work.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, columnsOf } from './core-kernels-input.ts';
import { type Kernel, makeKernels } from './core-kernels-list.ts';
import type { Edge } from './dataset.ts';
import { sink } from './measure.ts';

/** Best of many runs, in nanoseconds per unit. */
export interface KernelTimes {
  kernel: string;
  unit: string;
  oursNs: number;
  peers: { name: string; ns: number }[];
}

const SEGMENT_ROWS = 65_536;

/** Times every kernel. With `tiny`, runs each twice (once to check it), and leaves out C. */
export async function runCoreKernels(options: { tiny: boolean; edges: readonly Edge[] }): Promise<KernelTimes[]> {
  const edges = options.edges.slice(0, SEGMENT_ROWS);
  const runC = options.tiny ? undefined : compileC(edges);
  const budgetMs = options.tiny ? 0 : 400;
  try {
    return makeKernels(edges).map((kernel) => timeKernel(kernel, budgetMs, runC));
  } finally {
    runC?.dispose();
  }
}

function timeKernel(kernel: Kernel, budgetMs: number, runC: CompiledPeers | undefined): KernelTimes {
  const wanted = kernel.ours();
  const check = (who: string, result: number) => {
    if (result !== wanted) throw new Error(`${kernel.name}: the core gives ${wanted}, ${who} ${result}`);
  };
  for (const { name, run } of kernel.js) check(name, run());
  const units = Math.max(1, kernel.units(wanted));
  const best = bestMs([kernel.ours, ...kernel.js.map(({ run }) => run)], budgetMs);
  const found = kernel.js.map(({ name }, i) => ({ name, ns: (best[i + 1]! * 1e6) / units }));
  if (runC !== undefined && kernel.c !== undefined) {
    const { ns, result } = runC.run(kernel.c.name, kernel.c.queries, budgetMs);
    check('C', result);
    found.push({ name: 'gcc -O3', ns: ns / units });
  }
  return { kernel: kernel.name, unit: kernel.unit, oursNs: (best[0]! * 1e6) / units, peers: found };
}

/** Returns the best time of each side. The sides alternate until each has used its budget. */
function bestMs(sides: readonly (() => number)[], budgetMs: number): number[] {
  const best = sides.map(() => Infinity);
  const spent = sides.map(() => 0);
  do {
    for (const [index, side] of sides.entries()) {
      if (spent[index]! > budgetMs) continue;
      const start = performance.now();
      sink(side());
      const ms = performance.now() - start;
      spent[index]! += ms;
      best[index] = Math.min(best[index]!, ms);
    }
  } while (spent.some((ms) => ms < budgetMs));
  return best.map((ms) => Math.max(ms, 1e-6));
}

interface CompiledPeers {
  run(kernel: string, queries: readonly [number, number][], budgetMs: number): { ns: number; result: number };
  dispose(): void;
}

/** Compiles `core-kernels.c` in a temporary directory; returns undefined if gcc cannot do this. */
function compileC(edges: readonly Edge[]): CompiledPeers | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'core-kernels-'));
  const program = join(directory, 'kernels');
  const source = fileURLToPath(new URL('core-kernels.c', import.meta.url));
  const dispose = () => rmSync(directory, { recursive: true });
  try {
    execFileSync('gcc', ['-O3', '-o', program, source], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    dispose();
    return undefined;
  }
  const { rows, times, counts, members } = columnsOf(edges);
  const integers = (values: Iterable<number>) => bytesOf(BigInt64Array.from(values, BigInt));
  return {
    run(kernel, queries, budgetMs) {
      const input = join(directory, 'input');
      const head = bytesOf(Uint32Array.of(rows, members.length, queries.length));
      writeFileSync(
        input,
        Buffer.concat([head, integers(times), bytesOf(counts), integers(members), integers(queries.flat())]),
      );
      const text = execFileSync(program, [kernel, input, String(budgetMs)], { encoding: 'utf8' });
      const [ns, result] = text.split(' ').map(Number);
      return { ns: ns!, result: result! };
    },
    dispose,
  };
}
