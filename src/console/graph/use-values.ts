// Fetches the values by which nodes are coloured or sized, and keeps them until others are chosen.

import type { Table } from '../../client/index.ts';
import { useEffect, useMemo, useState } from '../preact.ts';
import { revision, timeWindow } from '../state.ts';
import type { DrawnNodes } from './drawn-nodes.ts';
import { type FetchedValues, fetchValues } from './fetch-values.ts';
import type { Graph } from './graph-model.ts';
import type { NodeValue, ValueAt } from './scales.ts';
import { nodeId, type ValueSource } from './value-sources.ts';

export interface Picture {
  readonly graph: Graph;
  readonly nodes: DrawnNodes;
  readonly table: Table | undefined;
}

export interface Values {
  /** Undefined while nothing is chosen or known. */
  readonly valueAt: ValueAt | undefined;
  readonly isBusy: boolean;
  /** True if only the largest values are known. */
  readonly isCut: boolean;
  readonly error: unknown;
}

interface Found {
  readonly of: string;
  readonly fetched: FetchedValues | undefined;
  readonly error: unknown;
}

/** Returns the values of a source. Choosing another one aborts the request, on the server too. */
export function useValues(source: ValueSource | undefined, { graph, nodes, table }: Picture): Values {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const window = timeWindow.value;
  const of = JSON.stringify([table?.name, source?.id]);
  const kind = source?.from.kind;
  const isFetched = table !== undefined && (kind === 'attribute' || kind === 'measure');
  // A measure is of the table, whatever is drawn; attributes are those of the drawn nodes.
  const extent = kind === 'measure' ? `${window?.start} ${window?.end}` : kind === 'attribute' ? graph.nodes : '';
  useEffect(() => {
    if (!isFetched) return setBusy(false);
    const leaving = new AbortController();
    const { signal } = leaving;
    setBusy(true);
    fetchValues(source!, { table, nodes, drawn: graph.nodes, window, signal }).then(
      (fetched) => {
        if (signal.aborted) return;
        setFound({ of, fetched, error: undefined });
        setBusy(false);
      },
      (error) => {
        if (signal.aborted) return;
        setFound({ of, fetched: undefined, error });
        setBusy(false);
      },
    );
    return () => leaving.abort(new Error('Other values were chosen.'));
  }, [of, extent, revision.value]);
  const known = isFetched && found?.of === of ? found : undefined;
  const fetched = known?.fetched;
  const valueAt = useMemo(
    () => lookupOf(source, { graph, nodes, table }, fetched),
    [source, graph, nodes, table, fetched],
  );
  return {
    valueAt,
    isBusy,
    isCut: fetched?.isCut === true,
    error: known?.error,
  };
}

function lookupOf(
  source: ValueSource | undefined,
  { graph, nodes, table }: Picture,
  fetched: FetchedValues | undefined,
): ValueAt | undefined {
  if (source === undefined) return undefined;
  if (source.from.kind === 'degree') return (node) => graph.degree.get(node);
  if (source.from.kind === 'nodeKind') return (node) => nodes.nodeOf(node).kind;
  if (fetched === undefined || table === undefined) return undefined;
  return (node): NodeValue | undefined => {
    const { key, kind = table.member_tables[0] } = nodes.nodeOf(node);
    return fetched.values.get(nodeId(table, kind, key));
  };
}
