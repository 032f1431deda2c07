// The syntax tree of a statement, which is the parser's output. It consists of plain values that
// refer to nothing outside the text.

import type { ColumnType } from '../../engine/index.ts';
import type { TableOptions } from '../../model/options.ts';

/** A position: offsets in the statement's text, [start, end). */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface NameNode extends Span {
  readonly name: string;
}

export type BinaryOperator =
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'CONTAINS'
  | 'STARTS WITH'
  | 'ENDS WITH';

export interface LiteralNode extends Span {
  readonly kind: 'literal';
  readonly value: number | string | boolean | null;
  readonly type: 'integer' | 'real' | 'text' | 'boolean' | 'null';
}

/** `$name`, or a text literal that is exactly `'$name'`. */
export interface ParameterNode extends Span {
  readonly kind: 'parameter';
  readonly name: string;
}

export interface ListNode extends Span {
  readonly kind: 'list';
  readonly items: readonly Expression[];
}

/** A long list whose items are plain values of one type. */
export interface ValuesNode extends Span {
  readonly kind: 'values';
  readonly values: readonly (number | string)[];
  readonly type: 'integer' | 'real' | 'text';
  /** Start and end of each value in the statement's text: two offsets per value. */
  readonly places: readonly number[];
}

/** A bare name: an alias, an output name or, in UPDATE and DELETE, a column. */
export interface BareNode extends Span {
  readonly kind: 'name';
  readonly name: string;
}

export interface ColumnNode extends Span {
  readonly kind: 'column';
  readonly alias: NameNode;
  readonly column: NameNode;
}

export interface CallNode extends Span {
  readonly kind: 'call';
  readonly name: NameNode;
  readonly distinct: boolean;
  /** True for `COUNT(*)`, which has no arguments. */
  readonly star: boolean;
  readonly args: readonly Expression[];
}

/** AND or OR of two or more conditions. */
export interface LogicNode extends Span {
  readonly kind: 'and' | 'or';
  readonly items: readonly Expression[];
}

export interface NotNode extends Span {
  readonly kind: 'not';
  readonly operand: Expression;
}

export interface NegateNode extends Span {
  readonly kind: 'negate';
  readonly operand: Expression;
}

export interface BinaryNode extends Span {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** `operand IN list`; the list is a literal list, a parameter or `alias.members`. */
export interface InNode extends Span {
  readonly kind: 'in';
  readonly operand: Expression;
  readonly list: Expression;
}

export interface BetweenNode extends Span {
  readonly kind: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
}

export interface IsNullNode extends Span {
  readonly kind: 'isNull';
  readonly operand: Expression;
}

/** `EXISTS (patterns [WHERE condition])`. */
export interface ExistsNode extends Span {
  readonly kind: 'exists';
  readonly patterns: readonly PatternNode[];
  readonly where: Expression | undefined;
}

/**
 * `x NOT IN y`, `x IS NOT NULL` and the like are a `not` node around the node of the same condition
 * without NOT.
 */
export type Expression =
  | LiteralNode
  | ParameterNode
  | ListNode
  | ValuesNode
  | BareNode
  | ColumnNode
  | CallNode
  | LogicNode
  | NotNode
  | NegateNode
  | BinaryNode
  | InNode
  | BetweenNode
  | IsNullNode
  | ExistsNode;

export interface PatternNode extends Span {
  readonly alias: NameNode;
  readonly table: NameNode;
  /** `MEMBERS [..]` or `MEMBERS $list`. */
  readonly members: ListNode | ValuesNode | ParameterNode | undefined;
}

export interface ItemNode extends Span {
  readonly expression: Expression;
  readonly as: NameNode | undefined;
}

export interface OrderNode {
  readonly expression: Expression;
  readonly descending: boolean;
}

export interface MatchNode extends Span {
  readonly kind: 'match';
  readonly patterns: readonly PatternNode[];
  readonly where: Expression | undefined;
  readonly distinct: boolean;
  /** Undefined for `RETURN *`. */
  readonly items: readonly ItemNode[] | undefined;
  readonly orderBy: readonly OrderNode[];
  readonly skip: LiteralNode | ParameterNode | undefined;
  readonly limit: LiteralNode | ParameterNode | undefined;
}

export interface InsertNode extends Span {
  readonly kind: 'insert';
  readonly table: NameNode;
  readonly columns: readonly NameNode[];
  readonly rows: readonly (readonly Expression[])[];
}

export interface UpdateNode extends Span {
  readonly kind: 'update';
  readonly table: NameNode;
  readonly sets: readonly { readonly column: NameNode; readonly value: Expression }[];
  readonly where: Expression | undefined;
}

export interface DeleteNode extends Span {
  readonly kind: 'delete';
  readonly table: NameNode;
  readonly where: Expression | undefined;
}

export interface ColumnTypeNode {
  readonly name: NameNode;
  readonly type: ColumnType;
  /** The value after DEFAULT. */
  readonly default?: Expression | undefined;
}

export interface CreateTableNode extends Span, Readonly<Partial<TableOptions>> {
  readonly kind: 'createTable';
  readonly table: NameNode;
  readonly ifNotExists: boolean;
  readonly memberTables: readonly NameNode[];
  readonly roles: readonly NameNode[];
  readonly intervals: boolean;
  /** `CREATE_NODES true` or `false`; undefined: not given. */
  readonly createNodes: boolean | undefined;
  readonly properties: readonly ColumnTypeNode[];
}

export interface CreateNodeTableNode extends Span {
  readonly kind: 'createNodeTable';
  readonly table: NameNode;
  readonly ifNotExists: boolean;
  readonly key: ColumnTypeNode;
  readonly properties: readonly ColumnTypeNode[];
}

export interface DropTableNode extends Span {
  readonly kind: 'dropTable' | 'dropNodeTable';
  readonly table: NameNode;
  readonly ifExists: boolean;
}

export type AlterAction =
  | { readonly kind: 'addColumn'; readonly column: ColumnTypeNode; readonly default: Expression | undefined }
  | { readonly kind: 'dropColumn'; readonly column: NameNode }
  | { readonly kind: 'renameTable'; readonly to: NameNode }
  | { readonly kind: 'renameColumn'; readonly column: NameNode; readonly to: NameNode };

export interface AlterTableNode extends Span {
  readonly kind: 'alterTable' | 'alterNodeTable';
  readonly table: NameNode;
  readonly action: AlterAction;
}

export interface IndexNode extends Span {
  readonly kind: 'createIndex' | 'dropIndex';
  readonly table: NameNode;
  readonly column: NameNode;
}

export interface TextIndexNode extends Span {
  readonly kind: 'createTextIndex' | 'dropTextIndex';
  readonly table: NameNode;
  /** Empty in DROP. */
  readonly columns: readonly NameNode[];
  readonly language: NameNode | undefined;
}

export interface ShowNode extends Span {
  readonly kind: 'showIndexes' | 'showTables' | 'showNodeTables';
  readonly table: NameNode | undefined;
}

export interface CompactNode extends Span {
  readonly kind: 'compact';
  readonly table: NameNode | undefined;
  readonly ttlSeconds: number | undefined;
}

export interface TransactionNode extends Span {
  readonly kind: 'begin' | 'commit' | 'rollback';
}

export interface CopyFromNode extends Span {
  readonly kind: 'copyFrom';
  readonly table: NameNode;
  readonly file: LiteralNode | ParameterNode;
}

export interface CopyToNode extends Span {
  readonly kind: 'copyTo';
  readonly source: NameNode | MatchNode;
  readonly file: LiteralNode | ParameterNode;
}

export interface ExplainNode extends Span {
  readonly kind: 'explain' | 'analyze';
  readonly statement: Statement;
}

export type Statement =
  | MatchNode
  | InsertNode
  | UpdateNode
  | DeleteNode
  | CreateTableNode
  | CreateNodeTableNode
  | DropTableNode
  | AlterTableNode
  | IndexNode
  | TextIndexNode
  | ShowNode
  | CompactNode
  | TransactionNode
  | CopyFromNode
  | CopyToNode
  | ExplainNode;
