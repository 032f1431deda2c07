// What a tool is: a plain value with a name, the schema of its arguments and a function that
// carries it out.

import type { HedgerowClient } from '../../client/index.ts';
import { answerSchema, bodySchema } from '../../http/openapi/json-schema.ts';
import { check, type GenericSchema, type InferOutput } from '../../http/schema.ts';

/** What tools work with. */
export interface Toolbox {
  readonly client: HedgerowClient;
  /** Statements and tools that write may be used. */
  readonly allowWrites: boolean;
}

interface ToolFacts {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses among tools. */
  readonly description: string;
  /** It does nothing but write: offered only where writes are allowed. */
  readonly writes?: boolean;
  /** It can write too: appended to the description where writes are allowed. */
  readonly writing?: string;
  /** What it writes may change or remove what is there. */
  readonly destroys?: boolean;
}

export interface Tool extends ToolFacts {
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  /** JSON Schema of the answer, which is an object. */
  readonly outputSchema: Record<string, unknown>;
  /**
   * Rejects with a HedgerowError or an error of the client; with the reason of the signal when it
   * is aborted.
   */
  run(given: unknown, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

interface ToolInput<S extends GenericSchema> extends ToolFacts {
  input: S;
  /** Of the answer. */
  output: GenericSchema;
  run(input: InferOutput<S>, toolbox: Toolbox, signal: AbortSignal): Promise<object>;
}

/** Checks the arguments by the schema it shows. */
export function tool<S extends GenericSchema>({ input, output, run, ...facts }: ToolInput<S>): Tool {
  return {
    ...facts,
    inputSchema: bodySchema(input),
    outputSchema: answerSchema(output),
    run: async (given, toolbox, signal) => run(check(input, given ?? {}, 'arguments'), toolbox, signal),
  };
}

/** As the protocol lists it. */
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
