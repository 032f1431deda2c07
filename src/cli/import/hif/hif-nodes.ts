// The nodes of a HIF document, which become rows of a node table: their ids are the keys, their
// weights and attributes are columns.

import type { ColumnType } from '../../../engine/index.ts';
import { columnName } from '../../../tabular/node-columns.ts';
import type { BatchLimits, LineBatch, Position } from '../line-batches.ts';
import { type NodeFlags, nodePlanner } from '../nodes/node-rows.ts';
import type { LookedInto } from '../planned-input.ts';
import { jsonText } from '../rows/cell-types.ts';
import { RowBatches, type RowForm } from '../rows/row-batches.ts';
import { type AttrColumn, HifAttrs, plainAttr } from './hif-attrs.ts';
import type { HifParts, HifWhole } from './hif-parts.ts';
import type { HifNode } from './hif-schema.ts';

/** The column for the keys, unless an attribute has this name. */
const KEY = 'node';
const WEIGHT = 'weight';
/** Maximum number of nodes in the sample that a dry run shows. */
const LOOKED_AT = 200;

/** Whether an id of a node is a text other than an integer of at most 15 digits. */
export function isNodeName(id: string | number): boolean {
  return typeof id === 'string' && !/^-?(0|[1-9]\d{0,14})$/.test(id);
}

export class HifNodes {
  readonly #parts: HifParts;
  readonly #attrs = new HifAttrs();
  #hasWeights = false;

  constructor(parts: HifParts) {
    this.#parts = parts;
  }

  /** True when a node has a weight or an attribute. */
  get hasAttributes(): boolean {
    return this.#hasWeights || this.#attrs.names.length > 0;
  }

  add({ node, weight, attrs = {} }: HifNode): void {
    if (weight !== undefined) this.#hasWeights = true;
    this.#attrs.add(attrs);
    this.#parts.add(['e', node, weight ?? null, attrs]);
  }

  /** Describes what a node table does not keep. */
  losses(): string[] {
    let overwritten = 0;
    for (const { isOverwritten } of this.#parts.edges()) if (isOverwritten) overwritten++;
    const movesWeight = !this.#hasWeights && this.#attrs.isNumeric(WEIGHT);
    return [
      overwritten === 0 ? '' : `what a later entry overwrites of ${overwritten} node${overwritten === 1 ? '' : 's'}`,
      ...this.#attrs.losses(this.#columns().attrs, 'nodes'),
      movesWeight ? 'the place of the attribute weight of nodes (now their weight)' : '',
    ];
  }

  /** Returns the columns of the attributes, and the one of the key. */
  #columns(): { key: string; attrs: AttrColumn[] } {
    const { names } = this.#attrs;
    const key = freeName(names);
    const taken = new Set([key, ...(this.#hasWeights ? [WEIGHT] : [])]);
    return { key, attrs: this.#attrs.columns(names, (name) => columnName(name, taken)) };
  }

  /** `isNamed`: ids of nodes are texts. */
  looked(isNamed: boolean, flags: Pick<NodeFlags, 'types'>): LookedInto {
    const { key, attrs } = this.#columns();
    const names = [key, ...(this.#hasWeights ? [WEIGHT] : []), ...attrs.map(({ column }) => column)];
    const cellsOf = ({ id, weight, attrs: given }: HifWhole): unknown[] => [
      id,
      ...(this.#hasWeights ? [weight ?? null] : []),
      ...attrs.map(({ attr }) => plainAttr(Object.hasOwn(given, attr) ? given[attr] : null)),
    ];
    // The types are known from all nodes, so none is guessed from the first ones.
    const types = new Map<string, ColumnType>([
      ...attrs.map(({ column, type }) => [column, type] as const),
      ...(this.#hasWeights ? [[WEIGHT, 'REAL'] as const] : []),
      [key, isNamed ? 'TEXT' : 'INTEGER'],
      ...[...flags.types].map(
        ([name, type]) => [attrs.find(({ attr }) => attr === name)?.column ?? name, type] as const,
      ),
    ]);
    // Numbers are written as JSON, so there is no decimal comma.
    const planner = nodePlanner({ key, types, decimal: undefined });
    return {
      plan: (known) => {
        const first: HifWhole[] = [];
        for (const node of this.#parts.edges()) if (first.push(node) >= LOOKED_AT) break;
        const sample = { names, rows: first.map(cellsOf), isText: () => true };
        const { itemsOf, ...planned } = planner.plan(sample, known, []);
        const batches = (limits: BatchLimits, from: Position) => {
          const itemOf = itemsOf(undefined);
          const form: RowForm<HifWhole, HifWhole> = {
            itemOf: (node) => itemOf(cellsOf(node)),
            kept: (node) => node,
            shown: ({ id, weight, attrs: given }) => jsonText({ node: id, weight, attrs: given }),
          };
          return nodeBatches(this.#parts, new RowBatches(limits, from, form), from);
        };
        return { ...planned, batches };
      },
      close: () => this.#parts.remove(),
    };
  }
}

/** Returns a name for the key that no attribute has. */
function freeName(attrs: readonly string[]): string {
  const taken = new Set(attrs.map((name) => name.toLowerCase()));
  let name = KEY;
  for (let number = 2; taken.has(name); number++) name = `${KEY}_${number}`;
  return name;
}

async function* nodeBatches(
  parts: HifParts,
  rows: RowBatches<HifWhole, HifWhole>,
  from: Position,
): AsyncGenerator<LineBatch> {
  let at = 0;
  for (const node of parts.edges()) {
    at++;
    if (at <= from.offset) continue;
    const batch = rows.add(node, at, at, at + 1);
    if (batch !== undefined) yield batch;
  }
  const rest = rows.take();
  if (rest !== undefined) yield rest;
}
