// Reads the source files of the repository for tidy.test.ts: their text, their code without
// comments, their imports and their functions.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** Path relative to the root of the repository, with slashes. */
  path: string;
  text: string;
  lines: string[];
  /** The lines of the text without comments. */
  code: string[];
  /** Imported modules: paths from the root for files, bare names for packages. */
  imports: string[];
}

export interface FunctionSpan {
  name: string;
  lines: number;
}

function withoutComments(text: string): string[] {
  const blocks = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''));
  return blocks.split('\n').map((line) => line.replace(/(^|[^:'"`\\])\/\/.*$/, '$1'));
}

const IMPORT =
  /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)|\bnew URL\('(\.[^']+\.[tj]s)'/gms;

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const name = (match[1] ?? match[2] ?? match[3] ?? match[4])!;
    return name.startsWith('.') ? normalize(join(dirname(path), name)) : name;
  });
}

/** Returns all files below a folder whose names have one of the endings, sorted. */
export function sourceFiles(folder: string, endings: readonly string[] = ['.ts']): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => !/(^|\/)node_modules\//.test(path)) // Workspaces may have their own node_modules.
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return {
        path,
        text,
        lines: text.replace(/\n$/, '').split('\n'),
        code: withoutComments(text),
        imports: importsOf(path, text),
      };
    });
}

/** Returns all folders below a folder. */
export function foldersBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.parentPath.includes('/node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

const NO_FUNCTION =
  /^(if|for|while|switch|catch|return|do|else|await|throw|case|new|void|typeof|super|expect|it|describe|test|useEffect)$/;

function functionName(line: string): string | null {
  const declared = /^\s*(?:export )?(?:default )?(?:async )?function\*? ?([\w$]+)/.exec(line);
  if (declared) return declared[1]!;
  const arrow =
    /^\s*(?:export )?const ([\w$]+)(?::[^=]+)? = (?:async )?(?:\([^)]*\)?|[\w$]+)(?::[^=]+)?(?: =>.*\{)?$/.exec(line);
  if (arrow && /[({]$/.test(line)) return arrow[1]!;
  const method =
    /^ {2}(?:(?:static|async|override|get|set|private|public|protected) )*([#\w$]+)(?:<[^(]*>)?\(.*[({,]$/.exec(line);
  return method && !NO_FUNCTION.test(method[1]!) ? method[1]! : null;
}

/**
 * Returns functions and methods with their lengths. Their ends are found by indentation, which
 * works because a tool formats the code.
 */
export function functionsOf(file: SourceFile): FunctionSpan[] {
  const spans: FunctionSpan[] = [];
  for (const [index, line] of file.code.entries()) {
    const name = functionName(line);
    if (name === null || line.endsWith('}')) continue;
    const indent = /^\s*/.exec(line)![0];
    const end = file.code.findIndex((other, at) => at > index && new RegExp(`^${indent}\\}[;,)]*$`).test(other));
    if (end > 0) spans.push({ name, lines: end - index + 1 });
  }
  return spans;
}
