import type { Reader, Writer } from './bytes.ts'

/** One of the editions that have a row. */
export interface RowOwner {
  id: string
  /** What the list says of the row in this edition: less than 4. */
  flags: number
}

/** A text of owners has each with so many characters, the last of which is the flags. */
const [lengthOfId, flagsOfOwner] = [8, 4]

/** The owners in a text; null in none. */
export const ownersIn = (text: string): readonly RowOwner[] | null =>
  text === ''
    ? null
    : Array.from({ length: text.length / (lengthOfId + 1) }, (_, index) => {
        const at = index * (lengthOfId + 1)
        return { id: text.slice(at, at + lengthOfId), flags: Number(text[at + lengthOfId]) }
      })

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** Packs texts: all ids, each once, and then the places and the flags of those that each text has. */
export function packOwners(to: Writer, texts: readonly string[]): void {
  const sets = texts.map((text) => ownersIn(text) ?? [])
  const ids = [...new Set(sets.flatMap((set) => set.map(({ id }) => id)))]
  const places = new Map(ids.map((id, place) => [id, place]))
  to.natural(ids.length)
  for (const id of ids) to.bytes(encoder.encode(id))
  for (const set of sets) {
    to.natural(set.length)
    for (const { id, flags } of set) to.natural((places.get(id) ?? 0) * flagsOfOwner + flags)
  }
}

/** The owners of each text, null of one that is empty. Former chunks have none. */
export function unpackOwners(from: Reader): (readonly RowOwner[] | null)[] {
  const ids = Array.from({ length: from.natural() }, () => decoder.decode(from.bytes(lengthOfId)))
  const sets: (readonly RowOwner[] | null)[] = []
  while (!from.isAtEnd) {
    const owners = Array.from({ length: from.natural() }, () => {
      const owner = from.natural()
      return { id: ids[Math.floor(owner / flagsOfOwner)] ?? '', flags: owner % flagsOfOwner }
    })
    sets.push(owners.length > 0 ? owners : null)
  }
  return sets
}
