// Converts the host vectors (calls into the core with expected results) to C statements for host.c.

import type { Argument, Step } from './vectors.ts';

function place(argument: Argument): string {
  if (typeof argument === 'number')
    return Number.isInteger(argument) && Math.abs(argument) < 2 ** 31 ? `${argument}` : number(argument);
  const [name, offset] = argument.split('+');
  return offset === undefined ? `p_${name}` : `p_${name} + ${offset}`;
}

function number(value: number): string {
  return /^-?\d+$/.test(`${value}`) ? `${value}.0` : `${value}`;
}

/** Returns a C string literal of arbitrary bytes. */
function literal(hex: string): string {
  return `"${hex.replaceAll(/../g, '\\x$&')}"`;
}

function statement(step: Step): string {
  switch (step.step) {
    case 'say':
      return `section = ${JSON.stringify(step.what)};`;
    case 'region':
      return `u32 p_${step.name} = region(${step.bytes});`;
    case 'bytes':
      return `put_bytes(${place(step.at)}, ${literal(step.hex)}, ${step.hex.length / 2});`;
    case 'words':
      return `put_words(${place(step.at)}, (u32[]){${step.values.map(place).join(', ')}}, ${step.values.length});`;
    case 'numbers':
      return `put_numbers(${place(step.at)}, (double[]){${step.values.map(number).join(', ')}}, ${step.values.length});`;
    case 'holds':
      return step.hex === ''
        ? ''
        : `holds(${place(step.at)}, ${literal(step.hex)}, ${step.hex.length / 2}, "${step.at}");`;
    case 'call': {
      const call = `CORE(${step.name})(${['core', ...step.args.map(place)].join(', ')})`;
      if (step.keep !== undefined) return `u32 p_${step.keep} = ${call};`;
      return step.is === undefined ? `${call};` : `is("${step.name}", ${call}, ${place(step.is)});`;
    }
  }
}

/** Returns the body of the function `run` in host.c. */
export function cProgram(steps: readonly Step[]): string {
  return `${steps.map(statement).join('\n')}\n`;
}
