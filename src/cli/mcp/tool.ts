// What a tool is: a plain value with a name, the schema of its arguments and a function that carries it out.

import type { HedgerowClient } from '../../client/index.ts';
import { bodySchema } from '../../http/openapi/json-schema.ts';
import { check, type GenericSchema, type InferOutput } from '../../http/schema.ts';

/** What tools work with. */
export interface Toolbox {
  readonly client: HedgerowClient;
  /** Statements and tools that write may be used. */
  readonly allowWrites: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses among tools. */
  readonly description: string;
  /** Offered only where writes are allowed. */
  readonly writes: boolean;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  /** Rejects with a HedgerowError or an error of the client; with the reason of the signal when it is aborted. */
  run(given: unknown, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

interface ToolInput<S extends GenericSchema> {
  name: string;
  title: string;
  description: string;
  writes?: boolean;
  input: S;
  run(input: InferOutput<S>, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

/** Checks the arguments by the schema it shows. */
export function tool<S extends GenericSchema>({ input, run, writes = false, ...rest }: ToolInput<S>): Tool {
  return {
    ...rest,
    writes,
    inputSchema: bodySchema(input),
    run: async (given, toolbox, signal) => run(check(input, given ?? {}, 'arguments'), toolbox, signal),
  };
}
