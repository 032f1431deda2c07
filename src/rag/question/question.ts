// What a text asks for, as it was understood: the plain value that retrieval works from and that GET /v1/rag/parse answers.

import type { ColumnType } from '../../engine/index.ts';

export type FilterOp = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'contains';
export type FilterValue = number | string | boolean | null;

/** Leaves out the edges that it does not hold for. Texts compare without case; a missing value equals only null. */
export interface Filter {
  /** As the table spells it. */
  readonly column: string;
  readonly op: FilterOp;
  /** A list only with `in`. */
  readonly value: FilterValue | readonly FilterValue[];
}

/** Seconds, both included; null does not bound. */
export interface QuestionWindow {
  readonly start_ts: number | null;
  readonly end_ts: number | null;
}

/** A part of the text that looks like a wish and was not taken, and why. */
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
  /** Edges with any of them are meant. */
  readonly nodes: readonly number[];
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** At most so many edges; null: the text does not say. */
  readonly top: number | null;
  readonly order: EdgeOrder;
  /** Lower case, in the order of the text; they only rank. */
  readonly keywords: readonly string[];
  readonly ignored: readonly Ignored[];
}

/** What understanding needs to know of a table: its user columns; the built-in ones are known. */
export interface AskedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
}
