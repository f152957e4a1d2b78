// Owns what the window remembers of its own shape from one start to the next. Nothing that matters is kept here.

/** What was kept under a name; where storage is closed off, only that is lost. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // The next start begins with the usual shape.
  }
}
