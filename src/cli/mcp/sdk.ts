// Speaks the Model Context Protocol over standard input and output. This is the only file that uses
// the SDK, which is an optional package.

import type { Readable, Writable } from 'node:stream';
import type { ToolAnswer } from './answer.ts';
import type { ShownTool, Tool } from './tool.ts';
import { LineTransport } from './transport.ts';

export const SDK_PACKAGE = '@modelcontextprotocol/sdk';

/** What a client is offered. */
export interface Offer {
  name: string;
  version: string;
  /** Tells the model what this server is for. */
  instructions: string;
  tools: readonly Tool[];
  shown: readonly ShownTool[];
  /** Rejects only when the signal is aborted. */
  call(tool: Tool, given: Record<string, unknown> | undefined, signal: AbortSignal): Promise<ToolAnswer>;
  resources(signal: AbortSignal): Promise<Resource[]>;
  templates: readonly ResourceTemplate[];
  /** Returns JSON text; undefined when there is no such resource. Rejects when reading fails. */
  read(uri: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface Resource extends Record<string, unknown> {
  uri: string;
  name: string;
  description: string;
  mimeType: string;
}

export interface ResourceTemplate extends Record<string, unknown> {
  uriTemplate: string;
  name: string;
  description: string;
  mimeType: string;
}

export interface Sdk {
  /**
   * Answers requests until the input ends or the returned `close` is called; then `ended` resolves.
   */
  serve(offer: Offer, input: Readable, output: Writable): Promise<{ ended: Promise<void>; close(): Promise<void> }>;
}

/** The protocol's error code for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;

/** Rejects with a sentence that names the package when it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    // The path is computed, so that this file can be loaded on a machine without the package.
    const from = (path: string): Promise<unknown> => import(`${SDK_PACKAGE}/${path}`);
    const server = (await from('server/index.js')) as typeof import('@modelcontextprotocol/sdk/server/index.js');
    const types = (await from('types.js')) as typeof import('@modelcontextprotocol/sdk/types.js');
    return sdkOf(server, types);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `The package ${SDK_PACKAGE} is not installed. Install it beside hedgerow: npm install ${SDK_PACKAGE}`,
    );
  }
}

function sdkOf(
  { Server }: typeof import('@modelcontextprotocol/sdk/server/index.js'),
  types: typeof import('@modelcontextprotocol/sdk/types.js'),
): Sdk {
  return {
    async serve(offer, input, output) {
      const { name, version, instructions, tools, shown } = offer;
      const server = new Server({ name, version }, { capabilities: { tools: {}, resources: {} }, instructions });
      server.setRequestHandler(types.ListToolsRequestSchema, async () => ({ tools: [...shown] }));
      server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { signal }) => {
        const tool = tools.find((one) => one.name === params.name);
        if (tool !== undefined) return offer.call(tool, params.arguments, signal);
        const names = tools.map((one) => one.name).join(', ');
        throw failure(types.ErrorCode.InvalidParams, `There is no tool ${params.name}; there are ${names}.`);
      });
      server.setRequestHandler(types.ListResourcesRequestSchema, async (_request, { signal }) => ({
        resources: await offer.resources(signal),
      }));
      server.setRequestHandler(types.ListResourceTemplatesRequestSchema, async () => ({
        resourceTemplates: [...offer.templates],
      }));
      server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }, { signal }) => {
        const text = await offer.read(uri, signal);
        if (text !== undefined) return { contents: [{ uri, mimeType: 'application/json', text }] };
        throw failure(RESOURCE_NOT_FOUND, `There is no resource ${uri}; resources/list shows those there are.`);
      });
      const ended = new Promise<void>((resolve) => {
        server.onclose = resolve;
      });
      const isMessage = (value: unknown): boolean => types.JSONRPCMessageSchema.safeParse(value).success;
      await server.connect(new LineTransport(input, output, isMessage));
      return { ended, close: () => server.close() };
    },
  };
}

/**
 * Returns an error with a code of the protocol. The SDK's own errors would repeat the code in their
 * message.
 */
function failure(code: number, sentence: string): Error {
  return Object.assign(new Error(sentence), { code });
}
