/** The options of a `Select` for codes of the API. */
export const listOptions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, label]) => ({ value, label }))
