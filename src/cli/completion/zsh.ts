// Generates the completion script for zsh: a function for every command, with the specifications
// that `_arguments` takes.

import type { CommandTree, Flag, Values } from './tree.ts';

export function zshScript(tree: CommandTree): string {
  return `#compdef hedgerow
# Completion of hedgerow for zsh. In ~/.zshrc, after compinit: source <(hedgerow completion zsh)
${functionsOf(tree).join('\n')}
if [[ $funcstack[1] == _hedgerow ]]; then
  _hedgerow "$@"
else
  compdef _hedgerow hedgerow
fi
`;
}

function functionsOf(command: CommandTree): string[] {
  const own = command.commands.length > 0 ? groupFunction(command) : leafFunction(command);
  return [...command.commands.flatMap(functionsOf), own];
}

function groupFunction(command: CommandTree): string {
  const described = command.commands.map(({ path, about }) => `      ${quoted(`${path.at(-1)}:${about}`)}`);
  const cases = command.commands.map((inner) => `        ${inner.path.at(-1)}) ${functionName(inner)} ;;`);
  return `${functionName(command)}() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  _arguments -C ${command.flags.map(flagSpec).join(' ')} '1:command:->command' '*::argument:->rest'
  case $state in
    command)
      commands=(
${described.join('\n')}
      )
      _describe command commands ;;
    rest)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
}`;
}

function leafFunction(command: CommandTree): string {
  const rest = command.argument === undefined ? '' : ` \\\n    ${quoted(`*:argument:${actionOf(command.argument)}`)}`;
  return `${functionName(command)}() {
  _arguments \\
    ${command.flags.map(flagSpec).join(' \\\n    ')}${rest}
}`;
}

function functionName({ path }: CommandTree): string {
  return ['_hedgerow', ...path].join('_').replaceAll('-', '_');
}

function flagSpec({ names, about, takes }: Flag): string {
  const value = takes === undefined ? '' : `:value:${actionOf(takes)}`;
  const text = quoted(`[${about.replace(/[[\]:\\]/g, '\\$&')}]${value}`);
  if (names.length === 1) return `${quoted(names[0]!)}${text}`;
  return `${quoted(`(${names.join(' ')})`)}{${names.join(',')}}${text}`;
}

function actionOf(values: Values): string {
  if (values === 'text') return ' ';
  if (values === 'files') return '_files';
  return values === 'directories' ? '_files -/' : `(${values.join(' ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
