// Generates the completion script for bash: one function that finds out which command is being
// typed and then offers its subcommands, flags or values.

import type { CommandTree, Values } from './tree.ts';

/** Returns a script that also runs in bash 3.2, the version of macOS. */
export function bashScript(tree: CommandTree): string {
  const all = withInner(tree);
  return `# Completion of hedgerow for bash. In ~/.bashrc: source <(hedgerow completion bash)
_hedgerow() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= i
  local IFS=$'\\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${command:+$command }\${COMP_WORDS[i]}" in
      ${all.slice(1).map(nameOf).map(quoted).join(' | ')}) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
    esac
  done
  # --flag=value comes as three words.
  if [[ $word == = ]]; then word=
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case "$command $before" in
${all.flatMap(flagCases).join('\n')}
  esac
  if [[ $word == -* ]]; then
    case $command in
${all.map((one) => `      ${quoted(nameOf(one))}) ${words(one.flags.flatMap(({ names }) => names))} ;;`).join('\n')}
    esac
    return
  fi
  case $command in
${all.flatMap(wordCases).join('\n')}
  esac
}
complete -F _hedgerow hedgerow
`;
}

function withInner(tree: CommandTree): CommandTree[] {
  return [tree, ...tree.commands.flatMap(withInner)];
}

function nameOf({ path }: CommandTree): string {
  return path.join(' ');
}

/** Returns the `case` branches for the word after a flag that takes a value. */
function flagCases(command: CommandTree): string[] {
  return command.flags.flatMap(({ names, takes }) => {
    if (takes === undefined) return [];
    const patterns = names.map((name) => quoted(`${nameOf(command)} ${name}`)).join(' | ');
    return [`    ${patterns}) ${offer(takes)}; return ;;`];
  });
}

/** Returns the `case` branch for a plain word: a subcommand, or the values of the argument. */
function wordCases(command: CommandTree): string[] {
  const name = quoted(nameOf(command));
  if (command.commands.length > 0)
    return [`    ${name}) ${words(command.commands.map(({ path }) => path.at(-1)!))} ;;`];
  return command.argument === undefined ? [] : [`    ${name}) ${offer(command.argument)} ;;`];
}

function offer(values: Values): string {
  if (values === 'text') return ':';
  if (values === 'files') return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word"))';
  if (values === 'directories') return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word"))';
  return words(values);
}

function words(list: readonly string[]): string {
  // Words are separated by newlines. IFS holds only the newline, so that names of files may contain
  // blanks.
  return `COMPREPLY=($(compgen -W $'${list.join('\\n')}' -- "$word"))`;
}

function quoted(text: string): string {
  return `'${text}'`;
}
