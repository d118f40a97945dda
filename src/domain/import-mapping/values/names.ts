export interface PersonName {
  first_name: string
  last_name: string
}

/** A lower-case word that belongs to the name behind it: `Anna van der Berg`, `Karen von Holt`. */
const isParticle = (word: string | undefined): boolean =>
  word !== undefined && word !== word.toUpperCase() && word === word.toLowerCase()

/**
 * First and last name of a whole one. What stands before a comma is the last name. Otherwise it is the last word, with
 * the lower-case words directly before it where it is not lower-case itself; a single word is a first name.
 */
export function splitName(text: string): PersonName {
  const name = text.trim().replaceAll(/\s+/g, ' ')
  const comma = name.indexOf(',')
  if (comma >= 0) return { first_name: name.slice(comma + 1).trim(), last_name: name.slice(0, comma).trim() }
  const words = name.split(' ')
  let from = words.length - 1
  if (!isParticle(words[from])) while (from > 1 && isParticle(words[from - 1])) from--
  return from === 0
    ? { first_name: name, last_name: '' }
    : { first_name: words.slice(0, from).join(' '), last_name: words.slice(from).join(' ') }
}
