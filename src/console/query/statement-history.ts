// The statements of this tab, newest last; gone with the tab or the sign-out, since they may hold data.

const STORED = 'hedgerow.statements';
const MOST = 50;

export function pastStatements(): readonly string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

/** The same statement again moves to the end. */
export function rememberStatement(statement: string): readonly string[] {
  const list = [...pastStatements().filter((item) => item !== statement), statement].slice(-MOST);
  try {
    sessionStorage.setItem(STORED, JSON.stringify(list));
  } catch {
    // No room left in the tab's storage: the list stays as it was.
  }
  return list;
}
