// Times the kernels of the core against JavaScript and, where there is a C peer, against C. Returns
// table rows in million units per second.

import { runCoreKernels } from './core-kernels.ts';
import { runCoreLeaf } from './core-leaf.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

export async function runCore({ tiny, dataset, note }: PartOptions): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const add = (kernel: string, unit: string, oursNs: number, peer: string, peerNs: number | undefined) => {
    if (peerNs === undefined) return;
    rows.push(
      benchRow({ name: `${kernel}, beside ${peer}`, unit: `M ${unit}/s`, ours: 1000 / oursNs, peer: 1000 / peerNs }),
    );
  };
  const leaf = await runCoreLeaf({ tiny });
  for (const { kernel, unit, oursNs, jsNs, cNs } of leaf) {
    add(kernel, `${unit}s`, oursNs, 'JS', jsNs);
    add(kernel, `${unit}s`, oursNs, 'gcc -O3', cNs);
  }
  if (!tiny && leaf.every(({ cNs }) => cNs === undefined)) note('core: C left out, gcc is not installed');
  for (const { kernel, unit, oursNs, peers } of await runCoreKernels({ tiny, edges: dataset.edges })) {
    for (const { name, ns } of peers) add(kernel, unit, oursNs, name, ns);
  }
  return rows;
}
