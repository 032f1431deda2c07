// Plans the rows of a file as nodes: one column holds the key, the others are attributes.

import type { ColumnType } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { keyProblem, type NodeKey } from '../../../model/node-refs.ts';
import { didYouMean } from '../../../model/suggestions.ts';
import { cellsOf, type ForeignTable } from '../../../tabular/foreign-table.ts';
import { areIntegers, columnName, keyIn, USUAL_KEYS } from '../../../tabular/node-columns.ts';
import type { Decimal } from '../../../tabular/number-style.ts';
import { decimalIn, valueType } from '../../../tabular/value-columns.ts';
import { UsageError } from '../../world.ts';
import type { NodeRow } from '../line-batches.ts';
import { shownEdges } from '../planned-input.ts';
import { propertiesOf } from '../rows/row-edges.ts';
import type { RowPlanner } from '../rows/row-input.ts';
import type { PropertyColumn } from '../rows/row-plan.ts';
import type { TableColumn } from '../targets/target.ts';

/** The flags that concern nodes. */
export interface NodeFlags {
  /** Name of the column with the key. */
  readonly key: string | undefined;
  readonly types: ReadonlyMap<string, ColumnType>;
  /** The decimal separator of numbers in texts; undefined when it is guessed from the cells. */
  readonly decimal: Decimal | undefined;
}

interface NodePlan {
  readonly names: readonly string[];
  readonly key: TableColumn;
  readonly keyIndex: number;
  readonly attributes: readonly PropertyColumn[];
  /** True for the cells of a text file, whose spaces at both ends do not count. */
  readonly trims: boolean;
}

/**
 * Returns a planner of node rows. The first of the known columns, if there are any, is the key of
 * the node table.
 */
export function nodePlanner(flags: NodeFlags): RowPlanner {
  return {
    given: flags.key === undefined ? [] : [flags.key],
    plan(sample, known) {
      const plan = planNodes(sample, flags, known);
      const { key, keyIndex, attributes, names } = plan;
      const itemOf = nodeRows(plan);
      return {
        columns: attributes.map(({ name, type }) => ({ name, type })),
        key,
        intervals: false,
        roles: [],
        named: key.type === 'TEXT',
        notes: [
          `key: ${names[keyIndex]}${names[keyIndex] === key.name ? '' : ` as ${key.name}`} ${key.type}`,
          ...attributes.map(
            ({ index, name, type }) =>
              `attribute: ${names[index]}${names[index] === name ? '' : ` as ${name}`} ${type}`,
          ),
        ],
        warnings: [],
        firstEdges: () => shownEdges(sample.rows, (row) => JSON.stringify(itemOf(row))),
        itemsOf: () => itemOf,
      };
    },
  };
}

function planNodes(sample: ForeignTable, flags: NodeFlags, known: readonly TableColumn[]): NodePlan {
  const { names } = sample;
  const keyIndex = keyColumn(names, flags.key, known[0]?.name);
  const given = flags.types.get(names[keyIndex]!);
  const type = given ?? (areIntegers(cellsOf(sample, keyIndex)) ? 'INTEGER' : 'TEXT');
  const taken = new Set<string>();
  const key = known[0] ?? { name: columnName(names[keyIndex]!, taken), type };
  if (key.type !== 'TEXT' && key.type !== 'INTEGER')
    throw new UsageError(`The key ${names[keyIndex]} is ${key.type}, but keys are TEXT or INTEGER.`);
  taken.add(key.name.toLowerCase());
  const places = names.flatMap((name, index) => (index === keyIndex || name === '' ? [] : [index]));
  const decimal = flags.decimal ?? decimalIn(sample, places);
  const attributes = places.map((index): PropertyColumn => {
    const name = columnName(names[index]!, taken);
    const column = known.find((one) => one.name.toLowerCase() === name.toLowerCase());
    const fixed = column?.type ?? flags.types.get(names[index]!);
    // Columns of nodes have no built-in types, so the type follows from the cells alone.
    return {
      index,
      name: column?.name ?? name,
      type: fixed ?? valueType(sample, index, '', decimal),
      isGuessed: fixed === undefined,
      decimal,
    };
  });
  return { names, key, keyIndex, attributes, trims: sample.delimiter !== undefined };
}

/** Returns the index of the column with the key. Throws UsageError if none is certain. */
function keyColumn(names: readonly string[], flag: string | undefined, known: string | undefined): number {
  const indexOf = (wanted: string) => names.findIndex((name) => name.toLowerCase() === wanted.toLowerCase());
  if (flag !== undefined) {
    const exact = names.indexOf(flag);
    const index = exact >= 0 ? exact : indexOf(flag);
    if (index >= 0) return index;
    throw new UsageError(
      `--key names ${JSON.stringify(flag)}, but the columns are ${names.join(', ')}.${didYouMean(flag, names)}`,
    );
  }
  for (const name of known === undefined ? USUAL_KEYS : [known, ...USUAL_KEYS])
    if (indexOf(name) >= 0) return indexOf(name);
  throw new UsageError(
    `None of the columns (${names.join(', ')}) is called ${USUAL_KEYS.join(', ')}; name the one with the keys of the nodes in --key.`,
  );
}

/** Returns a function that converts a row; it throws `invalid_input` for a row that is no node. */
function nodeRows({ names, key, keyIndex, attributes, trims }: NodePlan): (cells: readonly unknown[]) => NodeRow {
  const isOdd = [key, ...attributes].some(({ name }) => name in {});
  const isInteger = key.type === 'INTEGER';
  return (cells) => {
    if (cells.length !== names.length)
      throw fault(`The row has ${cells.length} cells, but the header names ${names.length} columns.`);
    const given = keyIn(cells[keyIndex], isInteger, trims);
    if (given === undefined) throw fault(`The row has no ${names[keyIndex]}, which is the key of the node.`);
    const problem = keyProblem(given, { name: 'the table', isInteger });
    if (problem !== undefined) throw fault(`${names[keyIndex]} ${problem}.`);
    const row: Record<string, NodeRow[string]> = isOdd ? Object.create(null) : {};
    row[key.name] = given as NodeKey;
    return Object.assign(row, propertiesOf(cells, attributes, isOdd));
  };
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
