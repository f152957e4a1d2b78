// Owns the platform's formatters: each is made once for its language and options, since making one costs more than
// using it a hundred times.

function kept<Options extends object, Formatter>(
  make: (tag: string, options: Options) => Formatter,
): (tag: string, options: Options) => Formatter {
  const made = new Map<string, Formatter>()
  return (tag, options) => {
    const key = `${tag} ${JSON.stringify(options)}`
    const found = made.get(key) ?? make(tag, options)
    made.set(key, found)
    return found
  }
}

export const numberFormat = kept((tag, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(tag, options))
export const dateFormat = kept((tag, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, options))
export const pluralRules = kept((tag, options: Intl.PluralRulesOptions) => new Intl.PluralRules(tag, options))
