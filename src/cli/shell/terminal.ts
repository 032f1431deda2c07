// Runs the shell on a terminal: lines with history and completion, statements one after another,
// and Ctrl-C to stop the running one.

import { createInterface, type Interface } from 'node:readline';
import { lossOf } from '../../formats/losses.ts';
import { Cancelled } from '../run/runner.ts';
import { printable } from '../table-text.ts';
import { COMMANDS, runCommand } from './commands.ts';
import { commandCompletion, completionOf } from './completion.ts';
import { History, MOST_CHARACTERS, MOST_ENTRIES } from './history.ts';
import type { ShellSession } from './session.ts';
import { onOneLine, StatementSplitter } from './statement-splitter.ts';

/** Resolves with the exit code when the user leaves the shell. */
export function runTerminal(session: ShellSession, historyPath: string): Promise<number> {
  return new Terminal(session, new History(historyPath)).ended;
}

class Terminal {
  readonly ended: Promise<number>;
  readonly #session: ShellSession;
  readonly #history: History;
  readonly #lines: Interface;
  readonly #splitter = new StatementSplitter();
  /** Lines that are not processed yet, for example because a statement is running. */
  readonly #waiting: string[] = [];
  /** Number of entries in the history before the next line is typed. */
  #known: number;
  /**
   * Receives the answer to the question that is being asked; undefined when there is no question.
   */
  #answer: ((line: string | undefined) => void) | undefined;
  #isBusy = false;
  #isClosed = false;
  #end: (exitCode: number) => void = () => {};

  constructor(session: ShellSession, history: History) {
    this.#session = session;
    this.#history = history;
    this.#known = history.entries.length;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { stdin, stdout } = session.world;
    this.#lines = createInterface({
      input: stdin as unknown as NodeJS.ReadableStream,
      output: stdout as unknown as NodeJS.WritableStream,
      terminal: true,
      completer: (line: string) => this.#complete(line),
      history: history.entries,
      historySize: MOST_ENTRIES + 1,
    });
    // The history stores whole statements, not the lines on which they were typed, and no commands.
    this.#lines.on('history', (entries) => {
      if (entries.length > this.#known) entries.shift();
    });
    this.#lines.on('line', (line) => {
      if (this.#answer !== undefined) {
        this.#answer(line);
        return;
      }
      this.#waiting.push(line);
      void this.#work();
    });
    this.#lines.on('SIGINT', () => this.#interrupt());
    this.#lines.on('close', () => {
      this.#isClosed = true;
      this.#answer?.(undefined);
      void this.#work();
    });
    this.#prompt();
  }

  #prompt(): void {
    const mark = this.#session.inTransaction ? '*' : '';
    const prompt = `hedgerow${mark}> `;
    this.#lines.setPrompt(this.#splitter.isEmpty ? prompt : '...> '.padStart(prompt.length));
    this.#lines.prompt();
  }

  /** Processes the waiting lines one after another. */
  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let line = this.#waiting.shift(); line !== undefined; line = this.#waiting.shift()) {
      if (await this.#take(line)) continue;
      this.#isClosed = true;
      this.#lines.close();
      break;
    }
    this.#isBusy = false;
    if (this.#isClosed) this.#end(0);
    else this.#prompt();
  }

  /** Resolves with false when the shell should end. */
  async #take(line: string): Promise<boolean> {
    if (this.#splitter.isEmpty && line.trimStart().startsWith('.'))
      return (await runCommand(this.#session, line)) !== 'quit';
    for (const { text } of this.#splitter.add(`${line}\n`)) {
      this.#remember(text);
      // The rest of the line is not run: the user typed it assuming that the statement before it
      // would succeed.
      if (!(await this.#mayRun(text)) || !(await this.#session.run(text))) break;
    }
    return true;
  }

  /**
   * Asks before a statement that removes something for good. Discards what was typed before the
   * question was visible, because it cannot be an answer.
   */
  async #mayRun(statement: string): Promise<boolean> {
    const loss = lossOf(statement);
    if (loss === undefined) return true;
    // Waits for lines that arrive together with this one, as pasted lines do.
    await new Promise((resolve) => setImmediate(resolve));
    this.#waiting.length = 0;
    const { stdout } = this.#session.world;
    stdout.write(`${printable(loss)}\n`);
    this.#lines.setPrompt('Run it? [y/N] ');
    this.#lines.prompt();
    const answer = await new Promise<string | undefined>((resolve) => {
      if (this.#isClosed) resolve(undefined);
      else this.#answer = resolve;
    });
    this.#answer = undefined;
    if (/^\s*y(es)?\s*$/i.test(answer ?? '')) return true;
    stdout.write('Not run.\n');
    return false;
  }

  #remember(statement: string): void {
    const entry = statement.length > MOST_CHARACTERS ? undefined : onOneLine(statement);
    if (entry === undefined) return;
    this.#history.add(`${entry};`);
    this.#known = this.#history.entries.length;
  }

  /**
   * Handles Ctrl-C: answers an open question with no, or else stops the running statement, or else
   * discards what has been typed. Drops the waiting lines in each case.
   */
  #interrupt(): void {
    this.#waiting.length = 0;
    if (this.#answer !== undefined) {
      this.#session.world.stdout.write('^C\n');
      this.#answer(undefined);
      return;
    }
    if (this.#session.cancel(new Cancelled())) return;
    const { stdout } = this.#session.world;
    const isBlank = this.#splitter.isEmpty && this.#lines.line === '';
    stdout.write(isBlank ? '\n(.quit or Ctrl-D ends the shell)\n' : '^C\n');
    this.#splitter.clear();
    // Deletes the part of the line after the cursor, then the part before it.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#prompt();
  }

  #complete(line: string): [string[], string] {
    const { tables } = this.#session;
    if (this.#splitter.isEmpty && line.trimStart().startsWith('.')) {
      const { candidates, word } = commandCompletion(line, COMMANDS, tables);
      return [[...candidates], word];
    }
    const before = this.#splitter.text + line;
    const { isQuoted, rest } = placeOf(before);
    if (isQuoted) return [[], line];
    const { candidates, word } = completionOf(rest, tables);
    return [[...candidates], word];
  }
}

/** Returns the statement in which the text ends, and whether it ends in quotes or in a comment. */
function placeOf(text: string): { isQuoted: boolean; rest: string } {
  const splitter = new StatementSplitter();
  splitter.add(text);
  return { isQuoted: splitter.isQuoted, rest: splitter.text };
}
