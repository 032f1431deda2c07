// Runs a shell without a terminal: executes the statements and commands of its input, and stops at
// the first that fails.

import { Cancelled } from '../run/runner.ts';
import { runCommand } from './commands.ts';
import type { ShellSession } from './session.ts';
import { type Piece, StatementSplitter } from './statement-splitter.ts';

/**
 * Resolves with the exit code: 1 when a statement or a command failed or the run was interrupted,
 * and 0 otherwise.
 */
export async function runScript(session: ShellSession): Promise<number> {
  const { world } = session;
  let interrupted = false;
  const forget = world.onInterrupt(() => {
    interrupted = true;
    session.cancel(new Cancelled());
  });
  const splitter = new StatementSplitter();
  const runPiece = ({ text, line }: Piece) => session.run(text, `line ${line} of the input: `);
  try {
    for await (const line of linesOf(world.stdin)) {
      if (interrupted) return 1;
      if (splitter.isEmpty && line.trimStart().startsWith('.')) {
        splitter.add('\n');
        const outcome = await runCommand(session, line);
        if (outcome !== 'ok') return outcome === 'quit' ? 0 : 1;
        continue;
      }
      for (const piece of splitter.add(`${line}\n`)) if (!(await runPiece(piece))) return 1;
    }
    const rest = splitter.end();
    return rest === undefined || (await runPiece(rest)) ? 0 : 1;
  } finally {
    forget();
  }
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
