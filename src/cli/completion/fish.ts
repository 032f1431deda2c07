// Generates the completion script for fish: a `complete` line for every command, flag and argument,
// with a condition that names the command to which it belongs.

import type { CommandTree, Flag, Values } from './tree.ts';

export function fishScript(tree: CommandTree): string {
  const names = namesOf(tree).map((path) => quoted(path.join(' ')));
  return `# Completion of hedgerow for fish. In ~/.config/fish/config.fish: hedgerow completion fish | source
function __hedgerow_at
    set -l path
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' -- $path $word) ${names.join(' ')}
            set path $path $word
        end
    end
    test "$path" = "$argv"
end
complete -c hedgerow -f
${linesOf(tree).join('\n')}
`;
}

function namesOf({ path, commands }: CommandTree): (readonly string[])[] {
  return [...(path.length === 0 ? [] : [path]), ...commands.flatMap(namesOf)];
}

function linesOf(command: CommandTree): string[] {
  const line = `complete -c hedgerow -n ${quoted(['__hedgerow_at', ...command.path].join(' '))}`;
  return [
    ...command.commands.map(({ path, about }) => `${line} -a ${quoted(path.at(-1)!)} -d ${quoted(about)}`),
    ...command.flags.map((flag) => `${line} ${flagWords(flag)}`),
    ...(command.argument === undefined || command.argument === 'text' ? [] : [`${line} ${offer(command.argument)}`]),
    ...command.commands.flatMap(linesOf),
  ];
}

function flagWords({ names, about, takes }: Flag): string {
  const letters = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return [
    ...letters,
    '-d',
    quoted(about),
    ...(takes === undefined ? [] : [takes === 'files' ? '-r' : '-x', offer(takes)]),
  ]
    .join(' ')
    .trimEnd();
}

function offer(values: Values): string {
  if (values === 'text') return '';
  if (values === 'files') return '-F';
  return `-a ${quoted(values === 'directories' ? '(__fish_complete_directories)' : values.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
