// The columns of a result as files store them: names and types.

import type { ValueKind } from '../model/column-types.ts';

export type CellType = ValueKind;

/**
 * The type `json` is for row objects, and for lists whose elements are not all single values of one
 * type.
 */
export type ColumnType = CellType | { readonly listOf: CellType } | 'json';

export interface ResultColumn {
  readonly name: string;
  readonly type: ColumnType;
}
