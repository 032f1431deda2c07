// Measures requests per second over HTTP with wrk: each transport against a minimal server of the
// same library that sends answers of the same size.

import { fileURLToPath } from 'node:url';
import { CANDIDATES, chooseTransport } from '../src/http/choose-transport.ts';
import {
  answerSizes,
  hasWrk,
  type Kind,
  MAIN,
  type Measured,
  measurer,
  medianMeasured,
  OPEN_SETTINGS,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import { runLoads } from './http-loads.ts';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const ROUNDS = 7;
/** By method: the least ratio of the rates, and the greatest ratio of the CPU times. */
const TARGETS = { GET: { least: 0.55, cpuMost: 1.76 }, POST: { least: 0.45, cpuMost: 2.24 } } as const satisfies Record<
  Kind['method'],
  object
>;

export async function runHttp(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  if (!tiny && !hasWrk()) {
    note('http: left out, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = requestKinds(dataset.edges, tiny);
  const rows: BenchRow[] = [];
  for (const peer of peersHere(note)) {
    const dir = workspace.copy(await workspace.compacted(dataset.edges));
    rows.push(...(await runBeside(options, kinds, dir, peer)));
  }
  rows.push(...(await runLoads(options)));
  return rows;
}

interface Peer {
  /** Value of `HEDGEROW_TRANSPORT`. */
  transport: string;
  /** Name used in the table rows. */
  name: string;
  script: string;
  /** Arguments of the script that precede the answer sizes. */
  parameters: readonly string[];
}

function peersHere(note: PartOptions['note']): Peer[] {
  const node: Peer = { transport: 'node', name: 'node:http', script: script('http-bare-node.mjs'), parameters: [] };
  const { facts } = chooseTransport('auto');
  const packageName = CANDIDATES.find(({ version }) => version === facts.version)?.packageName;
  if (facts.name !== 'uws' || packageName === undefined) {
    note(`http: left out over uWebSockets.js: ${facts.detail}`);
    return [node];
  }
  const parameters = [packageName];
  return [{ transport: 'uws', name: 'uWebSockets.js', script: script('http-bare-uws.mjs'), parameters }, node];
}

async function runBeside(options: PartOptions, kinds: readonly Kind[], dir: string, peer: Peer): Promise<BenchRow[]> {
  const { workspace } = options;
  const settings = { ...OPEN_SETTINGS, HEDGEROW_TRANSPORT: peer.transport };
  const ours = await startServer(MAIN, ['serve', '--data', dir, '--port', '0'], { settings });
  try {
    await untilReady(ours);
    const sizes = await answerSizes(ours, kinds);
    const bare = await startServer(peer.script, [...peer.parameters, ...sizes.map(String)]);
    try {
      const bareSizes = await answerSizes(bare, kinds);
      if (bareSizes.join() !== sizes.join())
        throw new Error(`the bare server answers ${bareSizes} bytes, not ${sizes}`);
      return await race(options, kinds, sizes, ours, bare, peer.name);
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
  peerName: string,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [index, kind] of kinds.entries()) {
    const sides = [ours, bare].map((server) => measurer(server, kind, workspace, tiny));
    const [own, other] = (await alternateMeasured(tiny ? 1 : ROUNDS, sides, !tiny)) as [Measured, Measured];
    const { least, cpuMost } = TARGETS[kind.method];
    rows.push(
      benchRow({
        name: `http ${kind.name} (${sizes[index]} bytes), beside bare ${peerName}`,
        unit: 'requests/s',
        ours: own.rate,
        peer: other.rate,
        target: { ratioAtLeast: least },
      }),
      benchRow({
        name: '  CPU time of a request',
        unit: 'us',
        ours: own.cpuUs,
        peer: other.cpuUs,
        target: { ratioAtMost: cpuMost },
      }),
      benchRow({ name: '  99th percentile', unit: 'ms', ours: own.p99Ms, peer: other.p99Ms }),
    );
  }
  return rows;
}

/** Same as `alternate`, for loads: returns the median of each figure of each side. */
async function alternateMeasured(
  rounds: number,
  sides: readonly (() => Promise<Measured>)[],
  warmUp: boolean,
): Promise<Measured[]> {
  const taken: Measured[][] = sides.map(() => []);
  const kept = sides.map((side, index) => async () => {
    const measured = await side();
    taken[index]!.push(measured);
    return measured.rate;
  });
  await alternate(rounds, kept, warmUp);
  return taken.map((all) => medianMeasured(warmUp ? all.slice(1) : all));
}
