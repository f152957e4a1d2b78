// Owns that the system's language is one that Intl takes: with LANG=C the web view says 'C', and what formats numbers
// as it is loaded would end the page. It is imported before everything else. It chooses no language.
const taken = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

if (!taken(navigator.language)) {
  const languages = navigator.languages.filter(taken)
  const [first = 'en'] = languages
  Object.defineProperty(navigator, 'languages', { value: [first, ...languages.slice(1)], configurable: true })
  Object.defineProperty(navigator, 'language', { value: first, configurable: true })
}

export {}
