// HIF as an input of an import: every edge of the document with its time and properties in `attrs`, its members from the incidences.

import type { ColumnType } from '../../engine/types.ts';
import { HedgerowError } from '../../errors.ts';
import { UsageError } from '../world.ts';
import { cellType, commonType, jsonText } from './cell-types.ts';
import { HifParts, type HifWhole } from './hif-parts.ts';
import { checkElement, HIF_LISTS, type HifEdge, type HifIncidence, NETWORK_TYPES } from './hif-schema.ts';
import { type Element, jsonElements, parsed } from './json-elements.ts';
import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';
import { type LookedInto, SHOWN_EDGES } from './planned-input.ts';
import { RowBatches, type RowForm } from './row-batches.ts';
import { rowEdges } from './row-edges.ts';
import { plannedRows } from './row-input.ts';
import type { RowFlags } from './row-plan.ts';
import type { Source } from './source.ts';

/** How much larger a document is than what it is packed to, about. */
const PACKED_TIMES = 10;
const UNKNOWN_BYTES = 2 ** 30;
/** The columns that an edge is turned into before those of its attrs. */
const MEMBERS = 'members';
const WEIGHT = 'weight';

/** Reads the document once, and lays its edges aside. Throws `invalid_json`, `invalid_input` for what is no HIF. */
export async function lookIntoHif(source: Source, flags: RowFlags): Promise<LookedInto> {
  const parts = new HifParts(
    (source.totalBytes ?? UNKNOWN_BYTES) * (source.path.toLowerCase().endsWith('.gz') ? PACKED_TIMES : 1),
  );
  try {
    const facts = await take(source.chunks, parts);
    parts.end();
    const attrs = [...facts.attrs.keys()].filter((name) => name !== MEMBERS && (name !== WEIGHT || !facts.weights));
    const isEmpty = firstOf(parts, 1).length === 0;
    const names = [MEMBERS, ...(facts.weights ? [WEIGHT] : []), ...(isEmpty ? ['event_ts'] : attrs)];
    const cellsOf = ({ nodes, weight, attrs: given }: HifWhole): unknown[] => [
      nodes,
      ...(facts.weights ? [weight ?? given[WEIGHT] ?? null] : []),
      ...attrs.map((name) => plainAttr(Object.hasOwn(given, name) ? given[name] : null)),
    ];
    const sample = { names, rows: firstOf(parts, SHOWN_EDGES).map(cellsOf), isText: () => true };
    // What all edges have is known: nothing is guessed from the first ones.
    const types = new Map([
      ...attrs.map((name) => [name, commonType(facts.attrs.get(name)!)] as const),
      ...flags.types,
    ]);
    const known: RowFlags = {
      ...flags,
      types,
      memberColumn: MEMBERS,
      memberColumns: undefined,
      memberIds: flags.memberIds ?? (facts.named ? 'name' : 'number'),
    };
    return {
      plan: (columns) => {
        const planned = hifRows(sample, known, columns, source.label);
        const batches = (limits: BatchLimits, from: Position, nodes: NodeNames | undefined) => {
          const edgeOf = rowEdges(planned.rows, nodes);
          const form: RowForm<HifWhole, HifWhole> = {
            edgeOf: (edge) => edgeOf(cellsOf(edge)),
            kept: (edge) => edge,
            shown,
          };
          return hifBatches(parts, new RowBatches(limits, from, form, nodes), from);
        };
        return { ...planned, batches };
      },
      close: () => parts.remove(),
    };
  } catch (error) {
    parts.remove();
    throw error;
  }
}

function hifRows(...[sample, flags, columns, label]: [...Parameters<typeof plannedRows>, string]) {
  try {
    return plannedRows(sample, flags, columns);
  } catch (error) {
    if (!(error instanceof UsageError) || flags.tsColumn !== undefined) throw error;
    throw new UsageError(
      `No edge of ${label} has a time: it stands in attrs.event_ts of the edges, or in the one that --ts-column names.`,
    );
  }
}

interface HifFacts {
  /** Attributes of edges, with the types of their values. */
  readonly attrs: Map<string, Set<ColumnType>>;
  /** Some edge has a weight of its own. */
  weights: boolean;
  /** Some node is no integer. */
  named: boolean;
}

async function take(chunks: AsyncIterable<Buffer>, parts: HifParts): Promise<HifFacts> {
  const facts: HifFacts = { attrs: new Map(), weights: false, named: false };
  const counts = new Map<string, number>();
  for await (const element of jsonElements(chunks, HIF_LISTS)) {
    const count = (counts.get(element.key) ?? 0) + (element.kind === 'element' ? 1 : 0);
    counts.set(element.key, count);
    try {
      takeElement(element, parts, facts);
    } catch (error) {
      if (!(error instanceof HedgerowError)) throw error;
      throw new HedgerowError('invalid_input', `Not valid HIF: ${element.key}, element ${count}: ${error.message}`, {
        cause: error,
      });
    }
  }
  if (!counts.has('incidences'))
    throw new HedgerowError('invalid_input', 'Not valid HIF: the document has no incidences.');
  return facts;
}

function takeElement({ key, text, kind }: Element, parts: HifParts, facts: HifFacts): void {
  if (kind === 'list') return;
  if (kind === 'text') {
    if (key === 'network-type' && !NETWORK_TYPES.includes(text))
      throw new HedgerowError('invalid_input', `it must be one of ${NETWORK_TYPES.join(', ')}.`);
    return;
  }
  const value = checkElement(key, parsed(text)) as unknown;
  if (key === 'incidences') {
    const { edge, node } = value as HifIncidence;
    if (typeof node === 'string' ? !/^-?(0|[1-9]\d{0,14})$/.test(node) : !Number.isSafeInteger(node))
      facts.named = true;
    parts.add(['i', edge, node]);
  } else if (key === 'edges') takeEdge(value as HifEdge, parts, facts);
}

function takeEdge({ edge, weight, attrs = {} }: HifEdge, parts: HifParts, facts: HifFacts): void {
  if (weight !== undefined) facts.weights = true;
  for (const [name, value] of Object.entries(attrs)) {
    const types = facts.attrs.get(name) ?? new Set();
    facts.attrs.set(name, types);
    const type = cellType(plainAttr(value), true);
    if (type !== undefined) types.add(type);
  }
  parts.add(['e', edge, weight ?? null, attrs]);
}

/** Lists and objects as JSON. */
function plainAttr(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? jsonText(value) : (value ?? null);
}

function firstOf(parts: HifParts, count: number): HifWhole[] {
  const first: HifWhole[] = [];
  for (const edge of parts.edges()) {
    first.push(edge);
    if (first.length === count) break;
  }
  return first;
}

async function* hifBatches(
  parts: HifParts,
  rows: RowBatches<HifWhole, HifWhole>,
  from: Position,
): AsyncGenerator<LineBatch> {
  let at = 0;
  for (const edge of parts.edges()) {
    at++;
    if (at <= from.offset) continue;
    const batch = rows.add(edge, at, at, at + 1);
    if (batch !== undefined) yield batch;
  }
  const rest = rows.take();
  if (rest !== undefined) yield rest;
}

function shown({ id, nodes, attrs }: HifWhole): string {
  return jsonText({ edge: id, nodes, attrs });
}
