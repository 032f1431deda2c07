// Stores incidences and edges of a HIF document on disk, grouped by edge. The pieces of an edge may
// be far apart in the document, and memory use must not grow with the size of the document.
//
// Every piece is appended to the part (a file) that the hash of its edge selects, so all pieces of
// an edge are in one part. Afterwards the parts are read one at a time and their edges put
// together.

import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memorySparer } from '../progress/spare-memory.ts';
import type { HifId } from './hif-schema.ts';

/** An edge after all of its pieces have been put together. */
export interface HifWhole {
  readonly id: HifId;
  readonly nodes: HifId[];
  /** The nodes of each role. */
  readonly roles: Map<string, HifId[]>;
  weight: number | undefined;
  attrs: Readonly<Record<string, unknown>>;
  /**
   * True when two entries for this edge differ in the weight or in an attribute that both have; the
   * later value counts.
   */
  isOverwritten: boolean;
  /** True when another edge has the same id as a text instead of a number, or the reverse. */
  hasTwin: boolean;
}

type Piece =
  | readonly ['i', HifId, HifId, (readonly string[])?]
  | readonly ['e', HifId, number | null, Readonly<Record<string, unknown>>];

/**
 * The number of parts is chosen so that one part holds about this many bytes of the document. One
 * part at a time is held in memory.
 */
const PART_BYTES = 4 * 2 ** 20;
const MOST_PARTS = 2048;
/**
 * Waiting pieces are written to disk when they exceed `WAITING` characters in total and
 * `WAITING_OF_ONE` characters per part on average. Writing smaller pieces would open many files for
 * little data.
 */
const WAITING = 4 * 2 ** 20;
const WAITING_OF_ONE = 8 * 2 ** 10;

export class HifParts {
  readonly #dir = mkdtempSync(join(tmpdir(), 'hedgerow-hif-'));
  readonly #waiting: string[][];
  readonly #spare = memorySparer();
  #characters = 0;

  /** `bytes`: approximate size of the document. */
  constructor(bytes: number) {
    const count = Math.min(MOST_PARTS, Math.max(1, Math.ceil(bytes / PART_BYTES)));
    this.#waiting = Array.from({ length: count }, () => []);
  }

  add(piece: Piece): void {
    const text = `${JSON.stringify(piece)}\n`;
    this.#waiting[partOf(piece[1], this.#waiting.length)]!.push(text);
    this.#characters += text.length;
    if (this.#characters > Math.max(WAITING, this.#waiting.length * WAITING_OF_ONE)) this.end();
  }

  /** Writes all waiting pieces to disk. */
  end(): void {
    for (const [part, texts] of this.#waiting.entries()) {
      if (texts.length > 0) appendFileSync(this.#path(part), texts.join(''));
      this.#waiting[part] = [];
    }
    this.#characters = 0;
    this.#spare();
  }

  /** Yields the edges, always in the same order for the same document. */
  *edges(): Generator<HifWhole, void, undefined> {
    for (let part = 0; part < this.#waiting.length; part++) {
      const path = this.#path(part);
      this.#spare();
      if (existsSync(path)) yield* wholes(readFileSync(path, 'utf8')).values();
    }
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #path(part: number): string {
    return join(this.#dir, `${part}.ndjson`);
  }
}

/** Returns the part of an edge, by the FNV-1a hash of its id. */
function partOf(id: HifId, count: number): number {
  const text = String(id);
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
}

function wholes(text: string): Map<HifId, HifWhole> {
  const edges = new Map<HifId, HifWhole>();
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    const piece = JSON.parse(text.slice(start, end)) as Piece;
    start = end + 1;
    const id = piece[1];
    let edge = edges.get(id);
    if (edge === undefined) {
      edge = { id, nodes: [], roles: new Map(), weight: undefined, attrs: {}, isOverwritten: false, hasTwin: false };
      edges.set(id, edge);
    }
    if (piece[0] === 'i') addNode(edge, piece[2], piece[3] ?? []);
    else {
      const attrs = { ...edge.attrs, ...piece[3] };
      const weight = piece[2] ?? edge.weight;
      if (isOther(edge.attrs, attrs) || (edge.weight !== undefined && edge.weight !== weight))
        edge.isOverwritten = true;
      edge.attrs = attrs;
      edge.weight = weight;
    }
  }
  for (const [id, edge] of edges) {
    const twin = typeof id === 'number' ? edges.get(String(id)) : undefined;
    if (twin === undefined) continue;
    edge.hasTwin = true;
    twin.hasTwin = true;
  }
  return edges;
}

function addNode({ nodes, roles }: HifWhole, node: HifId, own: readonly string[]): void {
  nodes.push(node);
  for (const role of own) {
    const known = roles.get(role);
    if (known === undefined) roles.set(role, [node]);
    else known.push(node);
  }
}

/** Returns whether a key of `attrs` has a different value in `others`. */
function isOther(attrs: HifWhole['attrs'], others: HifWhole['attrs']): boolean {
  return Object.keys(attrs).some((key) => JSON.stringify(attrs[key]) !== JSON.stringify(others[key]));
}
