// Where the script of a worker thread is: beside the module that starts it, as built.

/** `module`: import.meta.url of the module. From source (tests) the built script of the same folder below dist. */
export function builtScript(module: string, name: string): URL {
  const isSource = module.endsWith('.ts');
  return new URL(`./${name}`, isSource ? module.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : module);
}
