// Names in definitions: the scope of one table, and errors at the place of a name.

import type { Table } from '../engine/index.ts';
import { type ErrorCode, HedgerowError } from '../errors.ts';
import { Scope } from './binder/scope.ts';
import type { Span } from './parser/ast.ts';
import { errorPlaced } from './syntax-error.ts';

export function scopeOf(table: Table, text: string): Scope {
  return new Scope({ text, patterns: [{ alias: table.name, table, members: undefined }], parameters: {} });
}

export function isError(error: unknown, code: ErrorCode): boolean {
  return error instanceof HedgerowError && error.code === code;
}

export function placedAt(text: string, span: Span | undefined, error: unknown): unknown {
  return span === undefined ? error : errorPlaced(text, span.start, error);
}
