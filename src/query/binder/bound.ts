// Bound statements: what the binder hands on. Every name is resolved, every expression has a type; a plain value over engine tables.

import type { ColumnType, PropertyValue, Table } from '../../engine/index.ts';
import type { Span } from '../parser/ast.ts';

/** `list` holds integers (members) or what COLLECT gathered; `row` is a whole row object. `null` is the type of the null literal. */
export type ValueType = 'integer' | 'real' | 'text' | 'boolean' | 'null' | 'list' | 'row';

/** A value while a statement runs. */
export type Value = PropertyValue | readonly Value[] | { readonly [column: string]: Value };

/** A column of a pattern: built in, or a property by its column id. */
export type Field =
  | { readonly kind: 'id' }
  | { readonly kind: 'event_ts' }
  | { readonly kind: 'members' }
  | { readonly kind: 'property'; readonly id: number; readonly name: string; readonly type: ColumnType };

interface Typed {
  readonly type: ValueType;
  /** Source text, for names of result columns and plans. */
  readonly text: string;
  /** A number that is the time of an edge, or the least, greatest or mean of such: texts compared with it are times too. */
  readonly isTime?: boolean | undefined;
}

export interface BoundConstant extends Typed {
  readonly kind: 'constant';
  readonly value: Value;
}

/** Its value comes with each execution; the statement was bound for the type that it had then. */
export interface BoundParameter extends Typed {
  readonly kind: 'parameter';
  readonly name: string;
  /** Of a list: the type its items have in common; `null` when it is empty or holds only nulls. */
  readonly itemType: ValueType | undefined;
  /** Its text, or its texts, are times: they are read as seconds or days since 1970 when the statement runs. */
  readonly reads?: 'time' | 'day';
}

export interface BoundField extends Typed {
  readonly kind: 'field';
  readonly pattern: number;
  readonly field: Field;
}

/** The whole row of a pattern as an object. */
export interface BoundRow extends Typed {
  readonly kind: 'row';
  readonly pattern: number;
}

/** Operands have one type, or are both numbers. */
export interface BoundComparison extends Typed {
  readonly kind: 'compare';
  readonly operator: '=' | '<>' | '<' | '<=' | '>' | '>=';
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface BoundArithmetic extends Typed {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/' | '%';
  /** `integer`: exact, / truncates; `real`; `text`: + joins. */
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
  /** Expressions without fields in the usual case; a parameter of type list stands alone. */
  readonly items: readonly BoundExpression[] | BoundParameter;
}

/** `node IN alias.members`. */
export interface BoundHasNode extends Typed {
  readonly kind: 'hasNode';
  readonly pattern: number;
  readonly node: BoundExpression;
}

export interface BoundSize extends Typed {
  readonly kind: 'size';
  readonly operand: BoundExpression;
}

/** floor(event_ts / bucket_seconds) of a pattern's row. */
export interface BoundBucket extends Typed {
  readonly kind: 'bucket';
  readonly pattern: number;
  readonly bucketSeconds: number;
}

/** `datetime(x)`: a number of seconds as it is, shown as a time. */
export interface BoundTime extends Typed {
  readonly kind: 'time';
  readonly operand: BoundExpression;
}

/** Days since 1970 of a number of seconds. */
export interface BoundDay extends Typed {
  readonly kind: 'day';
  readonly operand: BoundExpression;
}

/** `date(x)`: days since 1970 as a text such as 2024-05-02. */
export interface BoundDate extends Typed {
  readonly kind: 'date';
  readonly operand: BoundExpression;
}

/** Number of common members of two patterns' rows. */
export interface BoundShared extends Typed {
  readonly kind: 'shared';
  readonly left: number;
  readonly right: number;
}

/** |left.event_ts - right.event_ts| <= width. */
export interface BoundOverlaps extends Typed {
  readonly kind: 'overlaps';
  readonly left: number;
  readonly right: number;
  readonly width: BoundExpression;
}

/** 0 < later.event_ts - earlier.event_ts <= width. */
export interface BoundFollows extends Typed {
  readonly kind: 'follows';
  readonly later: number;
  readonly earlier: number;
  readonly width: BoundExpression;
}

/** The value of an aggregate of the statement, by its place in `aggregates`. Only in items and ORDER BY of a grouped MATCH. */
export interface BoundAggregateValue extends Typed {
  readonly kind: 'aggregateValue';
  readonly index: number;
}

/** The value of a plain item of a grouped MATCH, by its place in `keys`. */
export interface BoundKeyValue extends Typed {
  readonly kind: 'keyValue';
  readonly index: number;
}

/** The value of a returned item, by its place. Only in ORDER BY of a DISTINCT or grouped MATCH. */
export interface BoundItemValue extends Typed {
  readonly kind: 'itemValue';
  readonly index: number;
}

/** A list written with values: `[1, 2]`, e.g. for members. */
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
  | BoundList;

export type AggregateFunction = 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'COLLECT';

export interface BoundAggregate {
  readonly function: AggregateFunction;
  readonly distinct: boolean;
  /** Undefined: COUNT(*) and COUNT(alias), which count rows. */
  readonly operand: BoundExpression | undefined;
  readonly type: ValueType;
  readonly text: string;
  readonly isTime?: boolean | undefined;
}

export interface BoundPattern {
  readonly alias: string;
  readonly table: Table;
  /** Nodes that the row must all hold, from MEMBERS: expressions without fields. */
  readonly members: readonly BoundExpression[] | BoundParameter | undefined;
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
  /** Conditions that must all be true. */
  readonly where: readonly BoundExpression[];
  readonly distinct: boolean;
  /** Over rows; of a grouped MATCH over `keyValue`s and `aggregateValue`s. */
  readonly items: readonly BoundItem[];
  /** Set when there are aggregates: what rows are grouped by (perhaps nothing: one group), over rows. */
  readonly grouping:
    | { readonly keys: readonly BoundExpression[]; readonly aggregates: readonly BoundAggregate[] }
    | undefined;
  /** Over rows; with DISTINCT or groups over `itemValue`s. */
  readonly orderBy: readonly BoundOrder[];
  readonly skip: BoundConstant | BoundParameter | undefined;
  readonly limit: BoundConstant | BoundParameter | undefined;
}

export interface BoundInsert {
  readonly kind: 'insert';
  readonly table: Table;
  /** Per row: expressions without fields, by target. Properties left out take their default. */
  readonly rows: readonly BoundInsertRow[];
  /** The statement, and the columns as they are named in it: for the place of a value that is refused when it is known. */
  readonly text: string;
  readonly columns: readonly string[];
}

export interface BoundInsertRow {
  readonly eventTs: BoundExpression;
  readonly members: BoundExpression;
  readonly properties: readonly { readonly column: string; readonly value: BoundExpression }[];
  /** Where each value stands, in the order of the columns. */
  readonly places: readonly Span[];
}

export interface BoundSet {
  readonly field: Exclude<Field, { kind: 'id' }>;
  readonly value: BoundExpression;
  /** Where the value stands. */
  readonly place: Span;
}

export interface BoundUpdate {
  readonly kind: 'update';
  /** The statement, for the place of a value that is refused when it is known. */
  readonly text: string;
  readonly pattern: BoundPattern;
  readonly sets: readonly BoundSet[];
  readonly where: readonly BoundExpression[];
}

export interface BoundDelete {
  readonly kind: 'delete';
  /** The statement. */
  readonly text: string;
  readonly pattern: BoundPattern;
  readonly where: readonly BoundExpression[];
}
