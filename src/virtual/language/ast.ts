// The syntax tree of a query over a virtual graph, with the position of every name and literal.

export interface Name {
  readonly name: string;
  readonly start: number;
}

export interface Literal {
  readonly kind: 'integer' | 'float' | 'text' | 'boolean';
  /** For `integer`: exact, a bigint where a number would not be. */
  readonly value: number | bigint | string | boolean;
  readonly start: number;
}

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type Operator = Comparison | 'IN' | 'BETWEEN';

/** `owner.field`, or `size(owner)`. */
export interface Subject {
  readonly kind: 'field' | 'size';
  readonly owner: Name;
  /** Only for kind `field`. */
  readonly field: Name | undefined;
  readonly start: number;
}

export interface Condition {
  readonly subject: Subject;
  readonly operator: Operator;
  /** One; for IN one or more; for BETWEEN two. */
  readonly literals: readonly Literal[];
}

export interface Query {
  readonly text: string;
  readonly alias: Name;
  readonly label: Name;
  readonly members: readonly { readonly member: Name; readonly label: Name }[];
  /** All must hold. */
  readonly conditions: readonly Condition[];
  readonly limit: number | undefined;
}
