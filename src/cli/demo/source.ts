// Generates the demo's town and wraps what is in it as inputs of an import.

import type { Source } from '../import/source.ts';
import type { DemoFacts } from './facts.ts';
import { meetings } from './meetings.ts';
import { Random } from './random.ts';
import { meetingLine } from './tables.ts';
import { buildTown, type Town } from './town.ts';

export interface DemoSize {
  readonly people: number;
  readonly days: number;
  readonly seed: number;
}

const LINES_A_CHUNK = 1000;

/** The same size and seed always make the same town and the same meetings. */
export class DemoTown {
  readonly town: Town;
  readonly #size: DemoSize;
  readonly #random: Random;

  constructor(size: DemoSize) {
    this.#size = size;
    this.#random = new Random(size.seed);
    this.town = buildTown(size.people, size.days, this.#random);
  }

  /** Generates the meetings as lines, and adds each to `facts`. Can be called once. */
  *meetingLines(facts: DemoFacts): Generator<string> {
    for (const meeting of meetings(this.town, this.#size.days, this.#random)) {
      facts.see(meeting);
      yield meetingLine(meeting, this.town);
    }
  }
}

/** Wraps lines of NDJSON as an input. */
export function sourceOf(lines: Iterable<string>): Source {
  return {
    path: 'demo',
    label: 'demo',
    totalBytes: undefined,
    bytesRead: () => 0,
    packed: () => false,
    decodedFrom: () => undefined,
    chunks: chunksOf(lines),
    close() {},
  };
}

async function* chunksOf(lines: Iterable<string>): AsyncGenerator<Buffer> {
  let waiting: string[] = [];
  for (const line of lines) {
    waiting.push(line);
    if (waiting.length < LINES_A_CHUNK) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
  }
  yield Buffer.from(waiting.join(''));
}
