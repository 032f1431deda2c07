// Holds by what the nodes of the picture are coloured and sized, and says how each one looks.

import type { Measure, NodeTable, Table } from '../../client/index.ts';
import { cellText, numberText } from '../format.ts';
import { signal, useEffect, useMemo, useState } from '../preact.ts';
import { client, connection, type Session, session } from '../session.ts';
import { revision } from '../state.ts';
import { type Colouring, colouringOf, type Sizing, sizingOf } from './scales.ts';
import { type Picture, useValues, type Values } from './use-values.ts';
import { sourcesOf, type ValueSource } from './value-sources.ts';

/** Chosen for one table; another table begins without colours. */
interface Chosen {
  readonly by: Session | undefined;
  readonly table: string | undefined;
  /** Identifiers of sources; empty if nothing is chosen. */
  readonly colour: string;
  readonly size: string;
}

const chosen = signal<Chosen>({ by: undefined, table: undefined, colour: '', size: '' });

/** The radius of a node that is in this many edges, unless sizes show something else. */
export function radiusOfDegree(degree: number): number {
  return Math.min(19, 10 + 1.4 * Math.log2(degree));
}

/** What colours or sizes show. */
export interface Shown extends Values {
  readonly source: ValueSource | undefined;
}

export interface NodeLooks {
  readonly sources: readonly ValueSource[];
  /** Why the sources could not be listed. */
  readonly listError: unknown;
  readonly colour: Shown;
  readonly size: Shown;
  readonly colouring: Colouring | undefined;
  readonly sizing: Sizing | undefined;
  readonly radiusOf: (node: number) => number;
  /** Returns the values of a node that colours and sizes show, such as `city: Rome`. */
  readonly wordsOf: (node: number) => readonly string[];
  readonly choose: (what: 'colour' | 'size', id: string) => void;
}

export function useNodeLooks(picture: Picture): NodeLooks {
  const { graph, table } = picture;
  const { sources, error } = useSources(table);
  const own = chosen.value;
  const isOwn = own.table === table?.name && own.by === session.value;
  const sourceOf = (id: string) => (isOwn ? sources.find((source) => source.id === id) : undefined);
  const colourSource = sourceOf(own.colour);
  const sizeSource = sourceOf(own.size);
  const colour = { source: colourSource, ...useValues(colourSource, picture) };
  const size = { source: sizeSource, ...useValues(sizeSource, picture) };
  const colouring = useMemo(
    () => (colour.valueAt === undefined ? undefined : colouringOf(graph.nodes, colour.valueAt)),
    [graph, colour.valueAt],
  );
  const sizing = useMemo(
    () => (size.valueAt === undefined ? undefined : sizingOf(graph.nodes, size.valueAt)),
    [graph, size.valueAt],
  );
  const radiusOf = useMemo(
    () => sizing?.radiusOf ?? ((node: number) => radiusOfDegree(graph.degree.get(node) ?? 1)),
    [sizing, graph],
  );
  return {
    sources,
    listError: error,
    colour,
    size,
    colouring,
    sizing,
    radiusOf,
    wordsOf: (node) => [...new Set([...wordsOf(colour, node), ...wordsOf(size, node)])],
    choose: (what, id) => {
      const before = isOwn ? own : { colour: '', size: '' };
      chosen.value = { ...before, by: session.value, table: table?.name, [what]: id };
    },
  };
}

function wordsOf({ source, valueAt }: Shown, node: number): string[] {
  if (source === undefined || valueAt === undefined) return [];
  const value = valueAt(node);
  const text =
    value === undefined
      ? 'not known'
      : value === null
        ? 'no value (NULL)'
        : typeof value === 'number'
          ? numberText(value)
          : cellText(value);
  return [`${source.title}: ${text}`];
}

interface Lists {
  readonly nodeTables: readonly NodeTable[];
  readonly measures: readonly Measure[];
}

function useSources(table: Table | undefined): { readonly sources: readonly ValueSource[]; readonly error: unknown } {
  const [lists, setLists] = useState<Lists>({ nodeTables: [], measures: [] });
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    let isGone = false;
    Promise.all([connection().json<NodeTable[]>('listNodeTables'), client().analytics.list()]).then(
      ([nodeTables, measures]) => {
        if (isGone) return;
        const isList = Array.isArray(nodeTables) && Array.isArray(measures);
        if (isList) setLists({ nodeTables, measures });
        setError(isList ? undefined : new TypeError('no list'));
      },
      (failed) => {
        if (!isGone) setError(failed);
      },
    );
    return () => {
      isGone = true;
    };
  }, [revision.value]);
  const sources = useMemo(() => sourcesOf(table, lists.nodeTables, lists.measures), [table, lists]);
  return { sources, error };
}
