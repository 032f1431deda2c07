// Says by what the nodes of a picture can be coloured and sized: attributes of node tables,
// measures, and what the picture itself knows.

import type { Measure, NodeTable, Table } from '../../client/index.ts';

export interface ValueSource {
  /** Unique among the sources of a table. */
  readonly id: string;
  readonly group: 'Result' | 'Attributes' | 'Measures';
  readonly title: string;
  /** Whether the values are numbers, which sizes need. */
  readonly isNumber: boolean;
  readonly from:
    | { readonly kind: 'degree' | 'nodeKind' }
    | { readonly kind: 'attribute'; readonly table: NodeTable; readonly column: string }
    | { readonly kind: 'measure'; readonly measure: string; readonly params: Readonly<Record<string, string>> };
}

/** The source of the colours and sizes of nodes by the edges that they are in. */
export const DEGREE: ValueSource = {
  id: 'degree',
  group: 'Result',
  title: 'edges in this result',
  isNumber: true,
  from: { kind: 'degree' },
};

/** Returns the sources of a table. Of the measures, those that give each node a value are used. */
export function sourcesOf(
  table: Table | undefined,
  nodeTables: readonly NodeTable[],
  measures: readonly Measure[],
): ValueSource[] {
  if (table === undefined) return [DEGREE];
  const kinds = table.nodes === 'named' ? table.member_tables : [];
  const own = kinds.flatMap((kind) => nodeTables.find(({ name }) => name === kind) ?? []);
  const attributes = own.flatMap((nodeTable) =>
    nodeTable.columns.map(
      ({ name, type }): ValueSource => ({
        id: `attribute ${nodeTable.name}.${name}`,
        group: 'Attributes',
        title: kinds.length > 1 ? `${nodeTable.name}.${name}` : name,
        isNumber: type === 'INTEGER' || type === 'REAL',
        from: { kind: 'attribute', table: nodeTable, column: name },
      }),
    ),
  );
  const kind: ValueSource = {
    id: 'kind',
    group: 'Result',
    title: 'kind of node',
    isNumber: false,
    from: { kind: 'nodeKind' },
  };
  return [
    DEGREE,
    ...(kinds.length > 1 ? [kind] : []),
    ...attributes,
    ...measures.filter(isByNode).flatMap((item) => measured(item, table.roles)),
  ];
}

/** Returns whether a measure gives each node a number, whatever its parameters are. */
function isByNode({ result }: Measure): boolean {
  const { type, description = '', additionalProperties } = result as Readonly<Record<string, unknown>>;
  return type === 'object' && additionalProperties !== undefined && /^By node id/.test(String(description));
}

/** Returns a measure, and its directed form if it has one and the table has two roles. */
function measured({ measure, params }: Measure, roles: readonly string[]): ValueSource[] {
  const source = (title: string, values: Readonly<Record<string, string>>): ValueSource => ({
    id: `measure ${title}`,
    group: 'Measures',
    title,
    isNumber: true,
    from: { kind: 'measure', measure, params: values },
  });
  const { properties = {} } = params as { properties?: Readonly<Record<string, unknown>> };
  const [from, to] = roles;
  const isDirected = roles.length === 2 && properties.from !== undefined && properties.to !== undefined;
  return [
    source(measure, {}),
    ...(isDirected ? [source(`${measure} from ${from} to ${to}`, { from: from!, to: to! })] : []),
  ];
}

/**
 * Returns the text of a node as measures write it: its key, with its kind if the table has several.
 */
export function nodeId(table: Table, kind: string | undefined, key: unknown): string {
  return table.nodes === 'named' && table.member_tables.length > 1 ? `${kind}:${key}` : String(key);
}
