// The edges that the benches use: stackexchange-mix if its file is present, otherwise a synthetic
// stream of the same shape.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Random, randomFrom } from '../test/core/support/random.ts';
import { syntheticEdges } from './synthetic.ts';

export interface Edge {
  event_ts: number;
  members: number[];
}

export class Dataset {
  /** Name printed in the head of the table. */
  readonly name: string;
  /** Path of the edges as gzipped NDJSON. */
  readonly file: string;
  #edges: readonly Edge[] | undefined;

  constructor(name: string, file: string) {
    this.name = name;
    this.file = file;
  }

  /** Edges in time order; read on first use. */
  get edges(): readonly Edge[] {
    this.#edges ??= readEdges(this.file);
    return this.#edges;
  }

  /**
   * Frees the edges until they are read again, so that the timings do not include garbage
   * collection of a million objects.
   */
  release(): void {
    this.#edges = undefined;
    collectGarbage();
  }
}

const FILE = 'data/stackexchange-mix.ndjson.gz';
const FULL_EDGES = 1_286_239;
const TINY_EDGES = 1500;
const SEED = 1;

/** Returns the path of a file in the shared folder. The file may be absent. */
export function sharedFile(path: string): string {
  return join(process.env.HEDGEROW_SHARED ?? fileURLToPath(new URL('../../shared', import.meta.url)), path);
}

/**
 * Returns the real data set if its file is present. Otherwise, and always for tiny runs, writes a
 * synthetic one to `scratch` and returns it.
 */
export function loadDataset(options: { tiny: boolean; scratch: string }): Dataset {
  const file = sharedFile(FILE);
  if (!options.tiny && existsSync(file)) {
    return new Dataset('stackexchange-mix', file);
  }
  const edges = syntheticEdges(options.tiny ? TINY_EDGES : FULL_EDGES, SEED);
  const made = join(options.scratch, 'synthetic.ndjson.gz');
  writeFileSync(made, gzipSync(`${edges.map((edge) => JSON.stringify(edge)).join('\n')}\n`, { level: 1 }));
  return new Dataset(`SYNTHETIC stream of the shape of stackexchange-mix, seed ${SEED}`, made);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Unzips and parses a file. All stores use this function, so this work is the same for each. */
export function readEdges(file: string): Edge[] {
  const text = gunzipSync(readFileSync(file)).toString();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Edge);
}

export interface Window {
  startTs: number;
  endTs: number;
}

/** Draws windows at random places; each covers `share` (0 to 1) of the time span. */
export function drawWindows(edges: readonly Edge[], count: number, share: number, seed: number): Window[] {
  const random = randomFrom(seed);
  const first = edges[0]!.event_ts;
  const span = edges[edges.length - 1]!.event_ts - first;
  const width = Math.max(1, Math.floor(span * share));
  return Array.from({ length: count }, () => {
    const startTs = first + Math.floor(random.unit() * (span - width));
    return { startTs, endTs: startTs + width };
  });
}

/** Draws nodes by degree: a random member of a random edge. */
export function drawNodes(edges: readonly Edge[], count: number, seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => drawNode(edges, random));
}

function drawNode(edges: readonly Edge[], random: Random): number {
  const { members } = edges[random.below(edges.length)]!;
  return members[random.below(members.length)]!;
}

/** Draws pairs of nodes that share a random edge. */
export function drawCoMembers(edges: readonly Edge[], count: number, seed: number): [number, number][] {
  const random = randomFrom(seed);
  const pairs: [number, number][] = [];
  while (pairs.length < count) {
    const { members } = edges[random.below(edges.length)]!;
    if (members.length < 2) continue;
    const first = random.below(members.length);
    const second = (first + 1 + random.below(members.length - 1)) % members.length;
    pairs.push([members[first]!, members[second]!]);
  }
  return pairs;
}

/** Draws pairs of different nodes, each by degree. */
export function drawPairs(edges: readonly Edge[], count: number, seed: number): [number, number][] {
  const random = randomFrom(seed);
  const pairs: [number, number][] = [];
  while (pairs.length < count) {
    const pair: [number, number] = [drawNode(edges, random), drawNode(edges, random)];
    if (pair[0] !== pair[1]) pairs.push(pair);
  }
  return pairs;
}
