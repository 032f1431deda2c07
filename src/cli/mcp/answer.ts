// Carries out a call of a tool: its answer as a value and as text, its error as a sentence for the
// model.

import { HedgerowApiError } from '../../client/index.ts';
import { HedgerowError } from '../../errors.ts';
import { errorText } from '../run/error-text.ts';
import type { Tool, Toolbox } from './tool.ts';

/** Where the facts of an error are; structured content would have to be an answer. */
export const ERROR_META = 'hedgerow/error';

/** As the protocol has it. */
export interface ToolAnswer extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  /** As the tool's output schema has it; an error has none. */
  structuredContent?: Record<string, unknown>;
  /** Code and places of an error, for programs. */
  _meta?: Record<string, unknown>;
  isError?: boolean;
}

/** Rejects only when the signal is aborted. */
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

/** Sentences of the service name its routes; here there are tools. */
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
  // The parser of the server answered: an argument is too long for a path.
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
