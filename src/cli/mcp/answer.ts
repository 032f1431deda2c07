// Carries out a call of a tool. The answer is returned as a value and as text; an error becomes a
// sentence for the model.

import { HedgerowApiError } from '../../client/index.ts';
import { HedgerowError } from '../../errors.ts';
import { errorText } from '../run/error-text.ts';
import type { Tool, Toolbox } from './tool.ts';

/**
 * Key in `_meta` for the details of an error. They cannot be structured content, because that must
 * match the schema of an answer.
 */
export const ERROR_META = 'hedgerow/error';

/** The result of a tool call, as the protocol defines it. */
export interface ToolAnswer extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  /** Matches the output schema of the tool; absent for an error. */
  structuredContent?: Record<string, unknown>;
  /** Code and details of an error, for programs. */
  _meta?: Record<string, unknown>;
  isError?: boolean;
}

/** Calls the tool. Rejects only when the signal is aborted. */
export async function answerOf(
  tool: Tool,
  given: Readonly<Record<string, unknown>> | undefined,
  toolbox: Toolbox,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  try {
    const value = await tool.run(given, toolbox, signal);
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    signal.throwIfAborted();
    const statement = typeof given?.statement === 'string' ? given.statement : '';
    const text = forTools(errorText(error, statement).trimEnd());
    return { content: [{ type: 'text', text }], _meta: { [ERROR_META]: factsOf(error, text) }, isError: true };
  }
}

/** Messages of the service mention routes; they are replaced by the names of tools. */
const ROUTES: readonly [route: string, instead: string][] = [
  ['GET /v1/tables lists them', 'list_tables lists them'],
  ['GET /v1/rules lists them', 'list_rules lists them'],
];

function forTools(text: string): string {
  return ROUTES.reduce((sentence, [route, instead]) => sentence.replaceAll(route, instead), text);
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof HedgerowError) return error.code;
  if (!(error instanceof HedgerowApiError)) return undefined;
  // The server rejected the request before reading its body: an argument is too long for a path.
  return error.statusCode === 431 ? 'invalid_input' : error.code;
}

function factsOf(error: unknown, text: string): Record<string, unknown> {
  const code = codeOf(error);
  const errors = error instanceof HedgerowApiError || error instanceof HedgerowError ? error.errors : undefined;
  return {
    error: text.split('\n')[0]!,
    ...(code === undefined ? {} : { code }),
    ...(errors === undefined || errors.length === 0 ? {} : { errors }),
  };
}
