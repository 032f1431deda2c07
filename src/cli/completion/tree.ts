// Describes as plain values what a shell can complete: the commands, their flags, and the values
// that each flag and argument takes.

import { KEY_ROLES } from '../../access/key-record.ts';
import type { Command, Option } from '../command-line.ts';
import { DUMP_FORMATS } from '../dump/dump-file.ts';
import { OUTPUT_FORMATS } from '../export/formats.ts';
import { INPUT_FORMATS } from '../import/formats.ts';
import { FORMATS } from '../query/formats.ts';

/**
 * The values that a flag or an argument takes: paths of files or directories, a word from a list,
 * or any text. Nothing can be completed for `text`.
 */
export type Values = 'files' | 'directories' | 'text' | readonly string[];

export interface Flag {
  /** As typed, the long name last: `-h`, `--help`. */
  readonly names: readonly string[];
  readonly about: string;
  /** Undefined when the flag takes no value. */
  readonly takes: Values | undefined;
}

export interface CommandTree {
  /** Words after the program's name; empty for the program itself. */
  readonly path: readonly string[];
  readonly about: string;
  readonly commands: readonly CommandTree[];
  readonly flags: readonly Flag[];
  /** The values that every argument takes; undefined when the command has none. */
  readonly argument: Values | undefined;
}

/**
 * The words that a flag accepts, by command and flag. Lists only flags whose placeholder does not
 * contain the words.
 */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'import --format': INPUT_FORMATS,
  'import --on-error': ['stop', 'skip'],
  'import --member-ids': ['number', 'name'],
  'export --format': OUTPUT_FORMATS,
  'dump --format': DUMP_FORMATS,
  'keys create --role': KEY_ROLES,
  'virtual propose --type': ['duckdb', 'parquet', 'csv', 'json'],
  'virtual materialize --ids': ['map', 'hash'],
};
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

export function shellOf(name: string): Shell | undefined {
  return SHELLS.find((shell) => shell === name);
}

const HELP: Flag = { names: ['-h', '--help'], about: 'show flags and examples', takes: undefined };

export function treeOf(command: Command, path: readonly string[] = []): CommandTree {
  const [argument] = command.registeredArguments;
  const name = path.join(' ');
  const commands = command.commands.map((inner) => treeOf(inner, [...path, inner.name()]));
  return {
    path,
    about: command.description(),
    commands,
    flags: [...command.options.map((option) => flagOf(option, name)), HELP],
    argument: argument === undefined ? undefined : argumentOf(name, argument.name(), command),
  };
}

function argumentOf(command: string, argument: string, { parent }: Command): Values {
  if (command === 'completion') return SHELLS;
  if (command === 'help') return parent!.commands.map((one) => one.name());
  return pathsOf(argument) ?? 'text';
}

function flagOf({ short, long, flags, description }: Option, command: string): Flag {
  const names = [short, long].filter((name) => name !== undefined);
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1];
  return {
    names,
    about: description,
    takes: placeholder === undefined ? undefined : valuesOf(placeholder, `${command} ${long}`, command),
  };
}

function valuesOf(placeholder: string, flag: string, command: string): Values {
  const listed = placeholder.includes('|') ? placeholder.split('|').map((word) => word.trim()) : undefined;
  const words = WORDS[flag] ?? listed ?? (placeholder === 'format' ? FORMATS : undefined);
  if (words !== undefined) return words;
  // The file is on the server, so the local shell cannot complete its name.
  if (command === 'virtual propose') return 'text';
  return pathsOf(placeholder) ?? 'text';
}

function pathsOf(placeholder: string): 'files' | 'directories' | undefined {
  if (placeholder === 'dir') return 'directories';
  return placeholder === 'file' || placeholder === 'path' ? 'files' : undefined;
}
