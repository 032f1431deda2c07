// Bound statements: the output of the binder. Every name is resolved and every expression has a
// type. A bound statement is a plain object that refers to tables of the engine.

import type { ColumnType, PropertyValue, Table } from '../../engine/index.ts';
import type { Language } from '../../text/index.ts';
import type { Span } from '../parser/ast.ts';
import type { AggregateFunction } from './aggregates.ts';

/**
 * `list` is a list: members, a literal, a parameter, or the values that COLLECT gathered. `row` is
 * a whole row as an object. `null` is the type of an expression that is always null.
 */
export type ValueType = 'integer' | 'real' | 'text' | 'boolean' | 'null' | 'list' | 'row';

/** A value at run time. */
export type Value = PropertyValue | readonly Value[] | { readonly [column: string]: Value };

/** A column of a pattern: built in, or a property by its column id. */
export type Field =
  | { readonly kind: 'id' }
  | { readonly kind: 'event_ts' }
  | { readonly kind: 'members' }
  /** The members with a role; `mask` has the role's bit. */
  | { readonly kind: 'role'; readonly name: string; readonly mask: number }
  | {
      readonly kind: 'property';
      readonly id: number;
      readonly name: string;
      readonly type: ColumnType;
      /** True for the ends of intervals. */
      readonly isTime?: true;
    };

interface Typed {
  readonly type: ValueType;
  /** Source text, for the names of result columns and for plans. */
  readonly text: string;
  /**
   * True for a number that is a time: `event_ts`, `end_ts` of a table with intervals,
   * `datetime(x)`, or the MIN, MAX or AVG of times. A
   * text compared with such a number is read as a time.
   */
  readonly isTime?: boolean | undefined;
}

export interface BoundConstant extends Typed {
  readonly kind: 'constant';
  readonly value: Value;
  /** For lists, the type of the items. */
  readonly itemType?: ValueType | undefined;
}

/** A parameter. Each execution gives it a value of the type for which the statement was bound. */
export interface BoundParameter extends Typed {
  readonly kind: 'parameter';
  readonly name: string;
  /**
   * For lists, the common type of the items; `null` if the list is empty or contains only nulls.
   */
  readonly itemType: ValueType | undefined;
  /**
   * Set if texts in the value are times. They are read as seconds (`time`) or days (`day`) since
   * 1970 when the statement runs.
   */
  readonly reads?: 'time' | 'day';
}

/** A list of values that is bound as a whole: a parameter or a long literal list. */
export type BoundValues = BoundParameter | BoundConstant;

export interface BoundField extends Typed {
  readonly kind: 'field';
  readonly pattern: number;
  readonly field: Field;
}

/** The whole row of a pattern as an object. */
export interface BoundRow extends Typed {
  readonly kind: 'row';
  readonly pattern: number;
  /** The column of the ends of intervals, if the table has them. */
  readonly ends?: string | undefined;
}

/** Both operands have the same type, or both are numbers. */
export interface BoundComparison extends Typed {
  readonly kind: 'compare';
  readonly operator: '=' | '<>' | '<' | '<=' | '>' | '>=';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface BoundArithmetic extends Typed {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/' | '%';
  /** With `integer`, results are exact and / truncates. With `text`, + concatenates. */
  readonly type: 'integer' | 'real' | 'text' | 'null';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface BoundNegate extends Typed {
  readonly kind: 'negate';
  readonly operand: BoundExpression;
}

export interface BoundTextMatch extends Typed {
  readonly kind: 'textMatch';
  readonly operator: 'CONTAINS' | 'STARTS WITH' | 'ENDS WITH';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface BoundLogic extends Typed {
  readonly kind: 'and' | 'or';
  readonly items: readonly BoundExpression[];
  /** Set for an `and` that means that a pattern's edges hold at a time, which reads no row. */
  readonly holds?: { readonly pattern: number; readonly time: BoundExpression } | undefined;
}

export interface BoundNot extends Typed {
  readonly kind: 'not';
  readonly operand: BoundExpression;
}

export interface BoundIsNull extends Typed {
  readonly kind: 'isNull';
  readonly operand: BoundExpression;
}

/** `operand IN [..]` or `operand IN $list`. */
export interface BoundIn extends Typed {
  readonly kind: 'in';
  readonly operand: BoundExpression;
  /** The items, which usually refer to no columns, or one list that is bound as a whole. */
  readonly items: readonly BoundExpression[] | BoundValues;
}

/** `node IN alias.members`, or `node IN alias.role`. */
export interface BoundHasNode extends Typed {
  readonly kind: 'hasNode';
  readonly pattern: number;
  /** The role that the node must have, and its mask; undefined: it must be a member. */
  readonly role?: string | undefined;
  readonly mask?: number | undefined;
  readonly node: BoundExpression;
}

/**
 * A node of a node table by its key: as the internal number by which members are stored (0 if there
 * is none), or, in a row that is written, as the key with its kind. If the key is a list, so is the
 * value.
 */
export interface BoundNode extends Typed {
  readonly kind: 'node';
  readonly as: 'number' | 'reference';
  readonly nodes: Table;
  /** Id of `nodes`, by which expressions are told apart. */
  readonly nodesId: number;
  readonly key: BoundExpression;
}

export interface BoundSize extends Typed {
  readonly kind: 'size';
  readonly operand: BoundExpression;
}

/** The bucket of a pattern's row: `floor(event_ts / bucket_seconds)`. */
export interface BoundBucket extends Typed {
  readonly kind: 'bucket';
  readonly pattern: number;
  readonly bucketSeconds: number;
}

/** `datetime(x)`: the same seconds, but displayed as a time. */
export interface BoundTime extends Typed {
  readonly kind: 'time';
  readonly operand: BoundExpression;
}

/** The number of days since 1970 for a time in seconds. */
export interface BoundDay extends Typed {
  readonly kind: 'day';
  readonly operand: BoundExpression;
}

/** `date(x)`: days since 1970 as a text such as 2024-05-02. */
export interface BoundDate extends Typed {
  readonly kind: 'date';
  readonly operand: BoundExpression;
}

/** Number of common members of two patterns' rows, or of members with certain roles. */
export interface BoundShared extends Typed {
  readonly kind: 'shared';
  readonly left: number;
  readonly right: number;
  /** Masks of the roles that count on each side; undefined: all members. */
  readonly leftMask?: number | undefined;
  readonly rightMask?: number | undefined;
}

/** The condition `|left.event_ts - right.event_ts| <= width`. */
export interface BoundOverlaps extends Typed {
  readonly kind: 'overlaps';
  readonly left: number;
  readonly right: number;
  readonly width: BoundExpression;
}

/** The condition `0 < later.event_ts - earlier.event_ts <= width`. */
export interface BoundFollows extends Typed {
  readonly kind: 'follows';
  readonly later: number;
  readonly earlier: number;
  readonly width: BoundExpression;
}

/**
 * The value of an aggregate, by its position in `aggregates`. Occurs only in the items of a grouped
 * MATCH.
 */
export interface BoundAggregateValue extends Typed {
  readonly kind: 'aggregateValue';
  readonly index: number;
}

/** The value of a group key, by its position in `keys`. */
export interface BoundKeyValue extends Typed {
  readonly kind: 'keyValue';
  readonly index: number;
}

/**
 * The value of a returned item, by its position. Occurs only in the ORDER BY of a DISTINCT or
 * grouped MATCH.
 */
export interface BoundItemValue extends Typed {
  readonly kind: 'itemValue';
  readonly index: number;
}

/**
 * `EXISTS (patterns WHERE ...)`: true if at least one combination of rows of its own patterns
 * satisfies all conditions, otherwise false; never null. The conditions may read the patterns
 * outside of it. Occurs only in WHERE.
 */
export interface BoundExists extends Typed {
  readonly kind: 'exists';
  /** Its own patterns, which are numbered `first`, `first + 1`, ... in the statement. */
  readonly first: number;
  readonly patterns: readonly BoundPattern[];
  /** Conditions that must all be true. */
  readonly where: readonly BoundExpression[];
}

interface ReadsTextIndex {
  readonly pattern: number;
  readonly query: BoundConstant | BoundParameter;
  /** The columns of the text index, in its order. */
  readonly fields: readonly BoundField[];
  readonly language: Language;
}

/** `search(alias, 'words')`: whether the text index finds the words in the row; never null. */
export interface BoundSearch extends Typed, ReadsTextIndex {
  readonly kind: 'search';
  /** Offset of the query in the text of the statement. */
  readonly start: number;
}

/** `score(alias)`: BM25 of the words of a search in the row. */
export interface BoundScore extends Typed, ReadsTextIndex {
  readonly kind: 'score';
}

/** A literal list: `[1, 2]`, e.g. for members. */
export interface BoundList extends Typed {
  readonly kind: 'list';
  readonly items: readonly BoundExpression[];
}

export type BoundExpression =
  | BoundConstant
  | BoundParameter
  | BoundField
  | BoundRow
  | BoundComparison
  | BoundArithmetic
  | BoundNegate
  | BoundTextMatch
  | BoundLogic
  | BoundNot
  | BoundIsNull
  | BoundIn
  | BoundHasNode
  | BoundNode
  | BoundSize
  | BoundBucket
  | BoundTime
  | BoundDay
  | BoundDate
  | BoundShared
  | BoundOverlaps
  | BoundFollows
  | BoundAggregateValue
  | BoundKeyValue
  | BoundItemValue
  | BoundExists
  | BoundSearch
  | BoundScore
  | BoundList;

export interface BoundAggregate {
  readonly function: AggregateFunction;
  readonly distinct: boolean;
  /** Undefined for COUNT(*) and COUNT(alias), which count rows. */
  readonly operand: BoundExpression | undefined;
  readonly type: ValueType;
  readonly text: string;
  readonly isTime?: boolean | undefined;
}

export interface BoundPattern {
  readonly alias: string;
  readonly table: Table;
  /** Nodes that every row must contain, from MEMBERS. The expressions refer to no columns. */
  readonly members: readonly BoundExpression[] | BoundValues | BoundNode | undefined;
}

export interface BoundItem {
  /** Name of the result column. */
  readonly name: string;
  readonly expression: BoundExpression;
}

export interface BoundOrder {
  readonly expression: BoundExpression;
  readonly descending: boolean;
}

export interface BoundMatch {
  readonly kind: 'match';
  readonly patterns: readonly BoundPattern[];
  /** The patterns of every EXISTS, whose numbers follow those of `patterns`. */
  readonly inner: readonly BoundPattern[];
  /** Conditions that must all be true. */
  readonly where: readonly BoundExpression[];
  readonly distinct: boolean;
  /** Expressions over rows or, if the MATCH is grouped, over `keyValue`s and `aggregateValue`s. */
  readonly items: readonly BoundItem[];
  /**
   * Set if there are aggregates. Rows are grouped by the keys, which are expressions over rows.
   * Without keys there is one group.
   */
  readonly grouping:
    | { readonly keys: readonly BoundExpression[]; readonly aggregates: readonly BoundAggregate[] }
    | undefined;
  /** Expressions over rows or, with DISTINCT or groups, over `itemValue`s. */
  readonly orderBy: readonly BoundOrder[];
  readonly skip: BoundConstant | BoundParameter | undefined;
  readonly limit: BoundConstant | BoundParameter | undefined;
}

export interface BoundInsert {
  readonly kind: 'insert';
  readonly table: Table;
  /**
   * One entry per row. The expressions refer to no columns. Omitted properties take their default.
   */
  readonly rows: readonly BoundInsertRow[];
  /**
   * The statement and the column names as written, to locate a value that is refused at run time.
   */
  readonly text: string;
  readonly columns: readonly string[];
}

export interface BoundInsertRow {
  /** Undefined for a node, as are its members. */
  readonly eventTs: BoundExpression | undefined;
  /** Undefined if only lists of roles are given. */
  readonly members: BoundExpression | undefined;
  readonly roles: readonly { readonly role: string; readonly value: BoundExpression }[];
  readonly properties: readonly { readonly column: string; readonly value: BoundExpression }[];
  /** Positions of the values, in the order of the columns. */
  readonly places: readonly Span[];
}

export interface BoundSet {
  readonly field: Exclude<Field, { kind: 'id' }>;
  readonly value: BoundExpression;
  /** Position of the value. */
  readonly place: Span;
}

export interface BoundUpdate {
  readonly kind: 'update';
  /** The statement, to locate a value that is refused at run time. */
  readonly text: string;
  readonly pattern: BoundPattern;
  /** The patterns of every EXISTS, which are numbered from 1. */
  readonly inner: readonly BoundPattern[];
  readonly sets: readonly BoundSet[];
  readonly where: readonly BoundExpression[];
}

export interface BoundDelete {
  readonly kind: 'delete';
  /** The statement as text. */
  readonly text: string;
  readonly pattern: BoundPattern;
  /** The patterns of every EXISTS, which are numbered from 1. */
  readonly inner: readonly BoundPattern[];
  readonly where: readonly BoundExpression[];
}
