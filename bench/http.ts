// Requests a second over HTTP, beside a bare uWebSockets.js server that answers as many bytes; driven by wrk.

import { fileURLToPath } from 'node:url';
import {
  answerSizes,
  driver,
  hasWrk,
  type Kind,
  MAIN,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const BARE = fileURLToPath(new URL('http-bare.mjs', import.meta.url));
const TARGETS: Readonly<Record<Kind['method'], number>> = { GET: 0.6, POST: 0.4 };

export async function runHttp(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  if (!tiny && !hasWrk()) {
    note('http: left out, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = requestKinds(dataset.edges, tiny);
  const dir = workspace.copy(await workspace.compacted(dataset.edges));
  const ours = await startServer(MAIN, ['serve', '--data', dir, '--port', '0']);
  try {
    await untilReady(ours);
    const sizes = await answerSizes(ours, kinds);
    const bare = await startServer(BARE, sizes.map(String));
    try {
      const bareSizes = await answerSizes(bare, kinds);
      if (bareSizes.join() !== sizes.join())
        throw new Error(`the bare server answers ${bareSizes} bytes, not ${sizes}`);
      return await race(options, kinds, sizes, ours, bare);
    } finally {
      await bare.stop();
    }
  } finally {
    await ours.stop();
    workspace.remove(dir);
  }
}

async function race(
  { tiny, workspace }: PartOptions,
  kinds: readonly Kind[],
  sizes: readonly number[],
  ours: Server,
  bare: Server,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [index, kind] of kinds.entries()) {
    const sides = [ours, bare].map((server) => driver(server, kind, workspace, tiny));
    const [oursRate, bareRate] = await alternate(tiny ? 1 : 5, sides, !tiny);
    rows.push(
      benchRow({
        name: `http ${kind.name} (${sizes[index]} bytes), beside bare uWebSockets.js`,
        unit: 'requests/s',
        ours: oursRate!,
        peer: bareRate!,
        target: { ratioAtLeast: TARGETS[kind.method] },
      }),
    );
  }
  return rows;
}
