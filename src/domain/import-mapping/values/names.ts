/** Words that belong to the name behind them: `Anna van der Berg`, `Karen von Holt`. */
const particles = new Set(
  'af av von vom van der den de del della di da dos du la le zu zum zur ten ter te op el al bin ibn'.split(' '),
)

export interface PersonName {
  first_name: string
  last_name: string
}

const tidy = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

/**
 * A whole name as first and last name. `Last, First` is turned around; otherwise the last word and the particles before
 * it are the last name. A single word is a first name.
 */
export function splitName(text: string): PersonName {
  const name = tidy(text)
  const [before = '', behind = '', ...more] = name.split(',').map(tidy)
  if (before && behind && more.length === 0) return { first_name: behind, last_name: before }
  const words = name.replaceAll(',', ' ').split(/\s+/).filter(Boolean)
  if (words.length < 2) return { first_name: words.join(''), last_name: '' }
  let at = words.length - 1
  while (at > 1 && particles.has((words[at - 1] ?? '').toLowerCase())) at--
  return { first_name: words.slice(0, at).join(' '), last_name: words.slice(at).join(' ') }
}
