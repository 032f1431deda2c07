// The columns of a result as files have them: names with types.

import type { ValueKind } from '../model/column-types.ts';

export type CellType = ValueKind;

/** `json`: row objects, and lists of anything but single values of one type. */
export type ColumnType = CellType | { readonly listOf: CellType } | 'json';

export interface ResultColumn {
  readonly name: string;
  readonly type: ColumnType;
}
