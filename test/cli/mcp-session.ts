// Runs `hedgerow mcp` with a client at the other end: as a separate process, or in this process
// over two pipes.

import { tmpdir } from 'node:os';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'vitest';
import { ERROR_META } from '../../src/cli/mcp/answer.ts';
import { type McpFlags, mcpCommand } from '../../src/cli/mcp/command.ts';
import type { World } from '../../src/cli/world.ts';
import { MAIN } from '../service/child.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
type Value = any;

export interface Session {
  client: Client;
  /** Returns what the command has written to stderr. */
  errors(): string;
  /** The lines of stdout that were not protocol messages. */
  strays: Error[];
  call(name: string, given?: Record<string, unknown>): Promise<{ value: Value; text: string; isError: boolean }>;
}

/** A world whose stdin and stdout are pipes. */
export class PipeWorld implements World {
  readonly environment = {};
  readonly cwd = tmpdir();
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  err = '';
  readonly stderr = {
    write: (text: string) => {
      this.err += text;
    },
  };
  readonly now = () => performance.now();
  readonly onInterrupt = () => () => {};
  readonly onHangup = () => () => {};
}

/** Runs the command in this process with a stdin that has already ended. */
export async function runHere(flags: McpFlags): Promise<{ code: number; out: string; err: string }> {
  const world = new PipeWorld();
  world.stdin.end();
  const code = await mcpCommand(flags, world);
  return { code, out: String(world.stdout.read() ?? ''), err: world.err };
}

/** Opens a session with the command in this process. */
export async function beginHere(flags: McpFlags): Promise<Session> {
  const world = new PipeWorld();
  return sessionOver(new PipeTransport(world, mcpCommand(flags, world)), () => world.err);
}

/** Opens a session with `hedgerow mcp` as a separate process. */
export async function beginProcess(
  flags: readonly string[],
  environment: Record<string, string> = {},
): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...flags],
    env: { PATH: process.env.PATH ?? '', ...environment },
    stderr: 'pipe',
  });
  let errors = '';
  transport.stderr?.on('data', (data) => {
    errors += data;
  });
  return sessionOver(transport, () => errors);
}

/** Performs the handshake. The caller must close the client. */
async function sessionOver(transport: Transport, errors: () => string): Promise<Session> {
  const strays: Error[] = [];
  const client = new Client({ name: 'test', version: '1' });
  client.onerror = (error) => strays.push(error);
  try {
    await client.connect(transport);
    // From now on the client validates every result against the output schema of its tool.
    await client.listTools();
  } catch (error) {
    await client.close();
    expect.fail(`${error}: ${errors()}`);
  }
  return {
    client,
    errors,
    strays,
    call: async (name, given = {}) => {
      const answer: Value = await client.callTool({ name, arguments: given });
      return {
        value: answer.structuredContent ?? answer._meta?.[ERROR_META],
        text: answer.content.map((part: { text: string }) => part.text).join(''),
        isError: answer.isError === true,
      };
    },
  };
}

/** The client's end of the pipes. `close` acts like a client that lets its process end. */
class PipeTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #world: PipeWorld;
  readonly #ended: Promise<number>;
  readonly #heard = new ReadBuffer();

  constructor(world: PipeWorld, ended: Promise<number>) {
    this.#world = world;
    this.#ended = ended;
  }

  async start(): Promise<void> {
    this.#world.stdout.on('data', (chunk: Buffer) => {
      this.#heard.append(chunk);
      for (let isMore = true; isMore; ) isMore = this.#hear();
    });
    void this.#ended.then(() => this.onclose?.());
  }

  /** Handles one line. Returns false if there is none. */
  #hear(): boolean {
    try {
      const message = this.#heard.readMessage();
      if (message !== null) this.onmessage?.(message);
      return message !== null;
    } catch (error) {
      this.onerror?.(error as Error);
      return true;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#world.stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#world.stdin.end();
    expect(await this.#ended, this.#world.err).toBe(0);
  }
}
