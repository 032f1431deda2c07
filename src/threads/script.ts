// Locates the built script of a worker thread, beside the module that starts it.

/**
 * Returns the URL of the script `name`. `module` is the import.meta.url of the module that starts
 * the thread. When running from source (in tests), the built script is in the same folder below
 * dist.
 */
export function builtScript(module: string, name: string): URL {
  const isSource = module.endsWith('.ts');
  return new URL(`./${name}`, isSource ? module.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : module);
}
