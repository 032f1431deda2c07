// Passes errors between threads as plain values, which are converted back to the same errors on the
// other side.

import { type ErrorCode, type ErrorFields, type FieldError, HedgerowError, STATUS_OF_CODE } from '../errors.ts';

export interface PlainError {
  message: string;
  code: string | undefined;
  fields: ErrorFields | undefined;
  errors: FieldError[] | undefined;
  stack: string | undefined;
}

export function plainError(thrown: unknown): PlainError {
  const { message, code, fields, errors, stack } = thrown as Error & Partial<HedgerowError>;
  return { message: message ?? String(thrown), code, fields, errors, stack };
}

/**
 * Returns a `HedgerowError` if the code is one of Hedgerow's. Otherwise returns an Error that keeps
 * the system's code, and the stack from the thread for the log.
 */
export function errorOf({ message, code, fields, errors, stack }: PlainError): Error {
  if (code !== undefined && code in STATUS_OF_CODE)
    return new HedgerowError(code as ErrorCode, message, { ...(fields && { fields }), ...(errors && { errors }) });
  return Object.assign(new Error(message), code === undefined ? {} : { code }, stack === undefined ? {} : { stack });
}
