// Defines a tool: a plain value with a name, the schema of its arguments and the function that
// carries it out.

import type { HedgerowClient } from '../../client/index.ts';
import { answerSchema, bodySchema } from '../../http/openapi/json-schema.ts';
import { check, type GenericSchema, type InferOutput } from '../../http/schema.ts';

/** What tools work with. */
export interface Toolbox {
  readonly client: HedgerowClient;
  /** True when tools and statements that write may be used. */
  readonly allowWrites: boolean;
}

interface ToolFacts {
  readonly name: string;
  readonly title: string;
  /** Read by the model to choose among the tools. */
  readonly description: string;
  /** True for a tool that only writes; it is offered only when writes are allowed. */
  readonly writes?: boolean;
  /**
   * Appended to the description when writes are allowed, for a tool that can both read and write.
   */
  readonly writing?: string;
  /** True when a write may change or remove existing data. */
  readonly destroys?: boolean;
}

export interface Tool extends ToolFacts {
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  /** JSON Schema of the answer, which is an object. */
  readonly outputSchema: Record<string, unknown>;
  /**
   * Rejects with a HedgerowError or an error of the client; with the signal's reason when the
   * signal is aborted.
   */
  run(given: unknown, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

interface ToolInput<S extends GenericSchema> extends ToolFacts {
  input: S;
  /** Schema of the answer. */
  output: GenericSchema;
  run(input: InferOutput<S>, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

/** Makes a tool that checks its arguments against the schema that it publishes. */
export function tool<S extends GenericSchema>({ input, output, run, ...facts }: ToolInput<S>): Tool {
  return {
    ...facts,
    inputSchema: bodySchema(input),
    outputSchema: answerSchema(output),
    run: async (given, toolbox, signal) => run(check(input, given ?? {}, 'arguments'), toolbox, signal),
  };
}

/** A tool as the protocol lists it. */
export interface ShownTool extends Record<string, unknown> {
  name: string;
  inputSchema: { type: 'object' };
  outputSchema: { type: 'object' };
}

export function shownTool(one: Tool, allowWrites: boolean): ShownTool {
  const { name, title, description, writes, writing, destroys, inputSchema, outputSchema } = one;
  const canWrite = allowWrites && (writes === true || writing !== undefined);
  return {
    name,
    title,
    description: canWrite && writing !== undefined ? `${description}\n${writing}` : description,
    inputSchema: inputSchema as { type: 'object' },
    outputSchema: outputSchema as { type: 'object' },
    annotations: {
      title,
      readOnlyHint: !canWrite,
      destructiveHint: canWrite && destroys === true,
      idempotentHint: !canWrite,
      openWorldHint: false,
    },
  };
}
