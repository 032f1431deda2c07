// A button that shows a stored edge, for every place that shows the edge's tag or id.

import { signal } from './preact.ts';

export interface WantedEdge {
  readonly table: string;
  readonly id: number;
}

/** The edge whose dialog is open. */
export const wantedEdge = signal<WantedEdge | undefined>(undefined);

export function openEdge(table: string, id: number): void {
  wantedEdge.value = { table, id };
}

/** A button such as `HEDGE-12`, which opens edge 12. */
export function EdgeTag({ table, id, children }: { table: string; id: number; children?: string }) {
  return (
    <button type="button" class="tag tag-edge" onClick={() => openEdge(table, id)}>
      {children ?? `HEDGE-${id}`}
    </button>
  );
}
