// The plain value that a text is understood as: retrieval works from it, and GET /v1/rag/parse
// returns it.

import type { ColumnType } from '../../engine/index.ts';

export type FilterOp = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'contains';
export type FilterValue = number | string | boolean | null;

/**
 * A condition that edges must meet. Texts are compared ignoring case; a missing value only equals
 * null.
 */
export interface Filter {
  /** As spelled in the table. */
  readonly column: string;
  readonly op: FilterOp;
  /** A list only with `in`. */
  readonly value: FilterValue | readonly FilterValue[];
}

/** Seconds, both ends included; null means unbounded. */
export interface QuestionWindow {
  readonly start_ts: number | null;
  readonly end_ts: number | null;
}

/** A part of the text that looks like a request but was not understood, with the reason. */
export interface Ignored {
  readonly text: string;
  readonly reason: string;
}

/** Best first, or by time alone. */
export type EdgeOrder = 'score' | 'newest' | 'oldest';

export interface Question {
  readonly query: string;
  readonly table: string;
  readonly window: QuestionWindow | null;
  /** Edges with any of them qualify. */
  readonly nodes: readonly number[];
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** Maximum number of edges; null if the text does not say. */
  readonly top: number | null;
  readonly order: EdgeOrder;
  /** In lower case, in the order of the text; they only affect ranking. */
  readonly keywords: readonly string[];
  readonly ignored: readonly Ignored[];
}

/** What understanding needs to know of a table: its user columns; the built-in ones are known. */
export interface AskedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
}
