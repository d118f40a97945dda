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
  control: -40,
  strange: -6,
  alone: 0,
  upperInWord: -5,
  markInWord: -6,
}

const isControl = (letter: string): boolean => letter >= '\u0080' && letter <= '\u009f'
const isLetter = (letter: string): boolean => /\p{L}/u.test(letter)
const isLower = (letter: string): boolean => /\p{Ll}/u.test(letter)
const isUpper = (letter: string): boolean => /\p{Lu}/u.test(letter)

function scoreLetter(letter: string, before: string, after: string): number {
  if (!isLetter(before) && !isLetter(after)) return weight.alone
  if (!expectedLetters.has(letter) && !rareLetters.has(letter)) return weight.strange
  if (isUpper(letter) && isLower(before)) return weight.upperInWord
  return expectedLetters.has(letter) ? weight.expected : weight.rare
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
