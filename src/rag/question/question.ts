// Defines the result of understanding a text: a plain value that retrieval uses and that
// GET /v1/rag/parse returns.

import type { ColumnType } from '../../engine/index.ts';
import type { KindAndKey } from '../../model/node-refs.ts';

export type FilterOp = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'contains';
export type FilterValue = number | string | boolean | null;

/**
 * A condition that edges must meet. Texts are compared regardless of case. A missing value equals
 * only null.
 */
export interface Filter {
  /** Name of the column as spelled in the table. */
  readonly column: string;
  readonly op: FilterOp;
  /** A list if `op` is `in`, otherwise a single value. */
  readonly value: FilterValue | readonly FilterValue[];
}

/** A window of time in epoch seconds, both ends included. Null: there is no bound at that end. */
export interface QuestionWindow {
  readonly start_ts: number | null;
  readonly end_ts: number | null;
}

/** A part of the text that was not understood or does not occur in the data, and the reason. */
export interface Ignored {
  readonly text: string;
  readonly reason: string;
}

/** The order of edges: best first (`score`), or by time. */
export type EdgeOrder = 'score' | 'newest' | 'oldest';

export interface Question {
  readonly query: string;
  readonly table: string;
  readonly window: QuestionWindow | null;
  /** The named nodes. An edge qualifies if it has at least one of them. */
  readonly nodes: readonly number[];
  /** Conditions, all of which an edge must meet. */
  readonly filters: readonly Filter[];
  /** Maximum number of edges; null if the text does not state a number. */
  readonly top: number | null;
  readonly order: EdgeOrder;
  /**
   * Keywords in lower case, in the order of the text. They affect only the ranking, except if
   * nothing else in the text restricts the edges: then an edge must have at least one of them.
   */
  readonly keywords: readonly string[];
  readonly ignored: readonly Ignored[];
}

/** A question as answers show it: the nodes of a named table are keys. */
export type AnsweredQuestion = Omit<Question, 'nodes'> & {
  readonly nodes: readonly (number | string | KindAndKey)[];
};

/**
 * The facts about a table that are needed to understand a question. `columns` does not contain the
 * built-in columns.
 */
export interface AskedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  /** What is known about the nodes of a named table; undefined for a table of numbers. */
  readonly named?: AskedNodes | undefined;
}

/** The nodes of a named table that a question may mean. */
export interface AskedNodes {
  /** Names of the kinds, in lower case, in singular and plural: words for nodes. */
  readonly kindWords: readonly string[];
  /** Keys that occur in the text, the longest first. */
  readonly mentions: readonly KeyMention[];
  /** Returns the numbers of the nodes whose key is an integer, or that integer in digits. */
  readonly numbersOf: (integer: number) => readonly number[];
}

/** A key, without regard to case, among the words of a text. */
export interface KeyMention {
  /** Range of indexes of words. */
  readonly from: number;
  readonly to: number;
  /** Numbers of all nodes with this key. */
  readonly numbers: readonly number[];
  /** Whether one of the keys is spelled exactly as in the text. */
  readonly isExact: boolean;
}
