// Defines the syntax tree of a query over a virtual graph. Every name and literal has a position.

export interface Name {
  readonly name: string;
  readonly start: number;
}

export interface Literal {
  readonly kind: 'integer' | 'float' | 'text' | 'boolean';
  /** The kind `integer` is exact: a bigint if a number would not be exact. */
  readonly value: number | bigint | string | boolean;
  readonly start: number;
}

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type Operator = Comparison | 'IN' | 'BETWEEN';

/** The left side of a condition: `owner.field` or `size(owner)`. */
export interface Subject {
  readonly kind: 'field' | 'size';
  readonly owner: Name;
  /** Present only for the kind `field`. */
  readonly field: Name | undefined;
  readonly start: number;
}

export interface Condition {
  readonly subject: Subject;
  readonly operator: Operator;
  /** One or more literals for IN, two for BETWEEN, otherwise one. */
  readonly literals: readonly Literal[];
}

export interface Query {
  readonly text: string;
  readonly alias: Name;
  readonly label: Name;
  readonly members: readonly { readonly member: Name; readonly label: Name }[];
  /** An edge must meet all conditions. */
  readonly conditions: readonly Condition[];
  readonly limit: number | undefined;
}
