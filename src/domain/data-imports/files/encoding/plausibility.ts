/** Letters beyond ASCII of Danish, German, Dutch, Polish and Swedish, and of common names. */
const expectedLetters = new Set('æøåäöüßéëïąćęłńóśźżÆØÅÄÖÜÉËÏĄĆĘŁŃÓŚŹŻ')
const rareLetters = new Set('èêíáàâçñúôîãõòìûýðþšžčřěůőűđÈÊÍÁÀÂÇÑÚÔÎÃÕÒÌÛÝÐÞŠŽČŘŐŰĐ')
const marks = new Set('\u00a0–—‘’‚“”„…•«»°§·×½¼¾²³€£©®™')
const currencies = new Set('€£')

const weight = {
  expected: 4,
  rare: 1,
  mark: 1,
  currency: 3,
  /** Bytes that the encoding lacks may also be mistakes of a few cells. */
  control: -3,
  strange: -6,
  alone: 0,
  /** A letter that is usual, but not at its place. */
  misplaced: 0.5,
  wrongCase: -5,
  capital: 0.5,
  markInWord: -6,
}

const isControl = (letter: string): boolean => (letter >= '\u0080' && letter <= '\u009f') || letter === '\ufffd'
const isLetter = (letter: string): boolean => /\p{L}/u.test(letter)
const isLower = (letter: string): boolean => /\p{Ll}/u.test(letter)
const isUpper = (letter: string): boolean => /\p{Lu}/u.test(letter)

const vowel = /[aeiou]/i
const consonant = /[bcdfghjklmnpqrstvwxz]/i
const isVowel = (letter: string): boolean => vowel.test(letter)
const isConsonant = (letter: string): boolean => consonant.test(letter)

/** Names show where letters stand: `Zoë` and not `Lërke`, `Søren` and not `Sżren`, `Åse` and not `Źse`. */
function isMisplaced(letter: string, before: string, after: string): boolean {
  if ('ëïËÏ'.includes(letter)) return !isVowel(before)
  if ('żźŻŹ'.includes(letter)) return isConsonant(after) && (isConsonant(before) || !isLetter(before))
  if ('áàâÁÀÂ'.includes(letter)) return isVowel(after)
  if ('åøæüÅØÆÜ'.includes(letter)) return isVowel(before)
  return false
}

/** `JÅrgen` and `MöLLER` are no words, `STRAßE` is one. */
function hasWrongCase(letter: string, before: string, after: string): boolean {
  if (isUpper(letter)) return isLower(before) || (isLetter(before) && isLower(after))
  return letter !== 'ß' && isUpper(before) && isUpper(after)
}

function scoreUsualLetter(letter: string, before: string, after: string): number {
  if (isMisplaced(letter, before, after)) return weight.misplaced
  return expectedLetters.has(letter) ? weight.expected : weight.rare
}

function scoreLetter(letter: string, before: string, after: string): number {
  if (!isLetter(before) && !isLetter(after)) return weight.alone
  if (!expectedLetters.has(letter) && !rareLetters.has(letter)) return weight.strange
  if (hasWrongCase(letter, before, after)) return weight.wrongCase
  const capital = isUpper(letter) && !isLetter(before) ? weight.capital : 0
  return scoreUsualLetter(letter, before, after) + capital
}

function scoreMark(letter: string, before: string, after: string): number {
  if (letter === '’') return weight.mark
  if (isLetter(before) && isLetter(after)) return weight.markInWord
  return currencies.has(letter) ? weight.currency : weight.mark
}

function scoreCharacter(letter: string, before: string, after: string): number {
  if (isControl(letter)) return weight.control
  if (marks.has(letter)) return scoreMark(letter, before, after)
  return isLetter(letter) ? scoreLetter(letter, before, after) : weight.strange
}

/** Rates a text higher for letters and marks of Northern Europe at usual positions. */
export function ratePlausibility(text: string): number {
  let score = 0
  for (const { 0: letter, index } of text.matchAll(/[^\0-\x7f]/g))
    score += scoreCharacter(letter, text[index - 1] ?? ' ', text[index + 1] ?? ' ')
  return score
}
