/** The Levenshtein distance. */
export function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const replacementCost = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1)
      next.push(Math.min(replacementCost, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const minPrefixLength = 3
/** A prefix counts as more than one wrong letter and less than two. */
const prefixDistance = 1.5

/** True if one text is a prefix of the other. A `name` that is a prefix of `text` must be at least half as long. */
const hasSharedPrefix = (text: string, name: string): boolean =>
  Math.min(text.length, name.length) >= minPrefixLength &&
  (name.startsWith(text) || (text.startsWith(name) && name.length * 2 >= text.length))

const measureDistance = (text: string, name: string): number => {
  if (isSwapped(text, name)) return 1
  const distance = countEdits(text, name)
  return hasSharedPrefix(text, name) ? Math.min(distance, prefixDistance) : distance
}

/** True if two neighbouring letters are swapped, as in `emial`. */
function isSwapped(one: string, other: string): boolean {
  const at = Array.from({ length: one.length }, (_, index) => index).findIndex((index) => one[index] !== other[index])
  const swappedText = one.slice(0, at) + (one[at + 1] ?? '') + (one[at] ?? '') + one.slice(at + 2)
  return at >= 0 && swappedText === other
}

/** The candidate with the most similar name. Null if more than a third of the letters are wrong in every name. */
export function findNearest<Candidate>(
  text: string,
  candidates: readonly Candidate[],
  listNames: (candidate: Candidate) => readonly string[],
): Candidate | null {
  const lowerText = text.trim().toLowerCase()
  if (lowerText === '') return null
  let bestCandidate: Candidate | null = null
  let bestDistance = Math.floor(lowerText.length / 3) + 1
  for (const candidate of candidates)
    for (const name of listNames(candidate)) {
      const lowerName = name.toLowerCase()
      const distance = measureDistance(lowerText, lowerName)
      if (distance < bestDistance) {
        bestCandidate = candidate
        bestDistance = distance
      }
    }
  return bestCandidate
}

const maxNameLength = 64

/** Names of fields of this API in other systems. The first name that exists counts. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  address: ['email'],
  barcode: ['vendor_code'],
  code: ['vendor_code', 'coupon_code'],
  created_at: ['created'],
  customer_id: ['user_id'],
  date: ['created', 'occurred_at'],
  id: ['external_id'],
  key: ['external_id'],
  language: ['locale'],
  lang: ['locale'],
  mail: ['email'],
  mobile: ['phone_number'],
  name: ['product', 'full_name', 'title'],
  number: ['order_number', 'phone_number'],
  order_id: ['external_id'],
  phone: ['phone_number'],
  price: ['unit_price', 'price_paid'],
  product_name: ['product'],
  qty: ['quantity'],
  sku: ['product', 'vendor_code'],
  surname: ['last_name'],
  total: ['amount', 'line_total'],
  title: ['name', 'product'],
  type: ['variant'],
  updated_at: ['modified'],
}

/** The name that a client probably meant, or null: what other systems call it, a similar name, or one of which it is a part. */
export function findNearestName(text: string, names: readonly string[]): string | null {
  if (text.length > maxNameLength) return null
  const word = text.trim().toLowerCase()
  const other = Object.hasOwn(otherNames, word) ? otherNames[word]?.find((name) => names.includes(name)) : undefined
  if (other !== undefined) return other
  return findNearest(text, names, (name) => [name]) ?? names.find((name) => name.split('_').includes(word)) ?? null
}

const minLongWord = 5

/** True if one letter is missing, added or another, or if two neighbours are swapped. Takes linear time. */
export function differByOneTypo(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)]
  if (left.length === 2 && right.length === 2) return left[0] === right[1] && left[1] === right[0]
  return Math.max(left.length, right.length) === 1
}

/** True if one long word has one typo. Short words, first letters and words with digits have to be equal. */
export function areNearWords(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  let differences = 0
  for (const [index, word] of one.entries()) {
    const against = other[index] ?? ''
    if (word === against) continue
    const isShort = Math.min(word.length, against.length) < minLongWord
    if (isShort || word[0] !== against[0] || /\d/.test(word + against) || !differByOneTypo(word, against)) return false
    differences++
  }
  return differences === 1
}
