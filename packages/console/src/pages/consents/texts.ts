/** Sets the text of a language. An empty one is removed. */
export function setText(texts: Record<string, string>, language: string, text: string): Record<string, string> {
  const { [language]: _, ...others } = texts
  return text === '' ? others : { ...others, [language]: text }
}
