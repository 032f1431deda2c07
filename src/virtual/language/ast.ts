// What a query over a virtual graph says, with the place of every name and literal.

export interface Name {
  readonly name: string;
  readonly start: number;
}

export interface Literal {
  readonly kind: 'integer' | 'float' | 'text' | 'boolean';
  /** `integer`: exact, `number` when that is exact. */
  readonly value: number | bigint | string | boolean;
  readonly start: number;
}

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type Operator = Comparison | 'IN' | 'BETWEEN';

/** `owner.field`, or `size(owner)`. */
export interface Subject {
  readonly kind: 'field' | 'size';
  readonly owner: Name;
  /** Of `field` only. */
  readonly field: Name | undefined;
  readonly start: number;
}

export interface Condition {
  readonly subject: Subject;
  readonly operator: Operator;
  /** One; of IN one or more; of BETWEEN two. */
  readonly literals: readonly Literal[];
}

export interface Query {
  readonly text: string;
  readonly alias: Name;
  readonly label: Name;
  readonly members: readonly { readonly member: Name; readonly label: Name }[];
  /** All of them hold. */
  readonly conditions: readonly Condition[];
  readonly limit: number | undefined;
}
