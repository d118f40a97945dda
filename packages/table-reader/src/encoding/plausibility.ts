import {
  alphabets,
  frequentLetters,
  listFrequentCharacters,
  infrequentLetters,
  type WideEncoding,
  wideEncodings,
} from './alphabets.ts'
import type { Encoding } from './names.ts'

const rareLetters = new Set('èêíáàâçñúôîãõòìûýšžčřěůőűđÈÊÍÁÀÂÇÑÚÔÎÃÕÒÌÛÝŠŽČŘŐŰĐ')
const rarestLetters = new Set('ðþÐÞ')
const marks = new Set('\u00a0–—‘’‚“”„…•«»°§·×½¼¾²³€£©®™№₴₪')
const currencies = new Set('€£')

const weight = {
  rare: 1,
  rarest: 0.5,
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
  /** Names begin with capitals. */
  smallInitial: -1.5,
  markInWord: -6,
  frequent: 0.5,
  infrequent: -1,
}

const isControl = (letter: string): boolean => (letter >= '\u0080' && letter <= '\u009f') || letter === '\ufffd'
const isLetter = (letter: string): boolean => /[\p{L}\p{M}]/u.test(letter)
const isLower = (letter: string): boolean => /\p{Ll}/u.test(letter)
const isUpper = (letter: string): boolean => /\p{Lu}/u.test(letter)
const isLatin = (letter: string): boolean => /\p{Script=Latin}/u.test(letter)

const vowel = /[aeiou]/i
const consonant = /[bcdfghjklmnpqrstvwxz]/i
const isVowel = (letter: string): boolean => vowel.test(letter)
const isConsonant = (letter: string): boolean => consonant.test(letter)

/** Vowels and tones of Thai that follow a consonant, and vowels that precede one. */
const thaiFollowers = /[\u0e30-\u0e3a\u0e47-\u0e4e]/
const thaiLeaders = /[\u0e40-\u0e44]/
const isThai = (letter: string): boolean => /[\u0e01-\u0e2e]/.test(letter)

/** Names show where letters stand: `Zoë` and not `Lërke`, `Søren` and not `Sżren`, `Åse` and not `Źse`. */
function isMisplaced(letter: string, before: string, after: string): boolean {
  if ('ëïËÏ'.includes(letter)) return !isVowel(before)
  if ('żźŻŹ'.includes(letter)) return isConsonant(after) && (isConsonant(before) || !isLetter(before))
  if ('řğģķļņćčďťžŘĞĢĶĻŅĆČĎŤŽ'.includes(letter)) return isConsonant(after) && isConsonant(before)
  if ('áàâÁÀÂ'.includes(letter)) return isVowel(after)
  if ('åøæüÅØÆÜ'.includes(letter)) return isVowel(before)
  // Polish writes `ni` and `si` before a vowel.
  if ('ńśźŃŚŹ'.includes(letter) && isVowel(after)) return true
  if ('õûÕÛ'.includes(letter)) return !isLetter(after)
  if (letter === 'þ') return isLetter(before)
  if ('ðğьъыЬЪЫ'.includes(letter)) return !isLetter(before)
  if ('ςםןףץךةى'.includes(letter)) return isLetter(after)
  if (letter === 'σ') return !isLetter(after)
  if (thaiFollowers.test(letter)) return !isThai(before)
  return thaiLeaders.test(letter) && !isThai(after)
}

/** `JÅrgen` and `MöLLER` are no words, `STRAßE` is one. */
function hasWrongCase(letter: string, before: string, after: string): boolean {
  if (isUpper(letter)) return isLower(before) || (isLetter(before) && isLower(after))
  return letter !== 'ß' && isLower(letter) && isUpper(before) && isUpper(after)
}

interface Place {
  letter: string
  before: string
  after: string
}

/** Letters of different scripts do not stand side by side in a word. */
const hasOtherScript = ({ letter, before, after }: Place): boolean =>
  !isLatin(letter) && [before, after].some((other) => isLetter(other) && isLatin(other))

/** Rates a letter that belongs to the alphabet with this weight, or to none: null. */
function scoreLetter(place: Place, alphabetWeight: number | null): number {
  const { letter, before, after } = place
  if (!isLetter(before) && !isLetter(after)) return weight.alone
  const outsideWeight = rareLetters.has(letter) ? weight.rare : rarestLetters.has(letter) ? weight.rarest : null
  const letterWeight = alphabetWeight ?? outsideWeight
  if (letterWeight === null) return weight.strange
  if (hasOtherScript(place)) return weight.strange
  if (hasWrongCase(letter, before, after)) return weight.wrongCase
  if (isMisplaced(letter, before, after)) return weight.misplaced
  return letterWeight + scoreFrequency(letter) + scoreInitial(place)
}

const scoreFrequency = (letter: string): number =>
  frequentLetters.has(letter) ? weight.frequent : infrequentLetters.has(letter) ? weight.infrequent : 0

function scoreInitial({ letter, before }: Place): number {
  if (isLetter(before)) return 0
  if (isUpper(letter)) return weight.capital
  return isLower(letter) && !isLatin(letter) ? weight.smallInitial : 0
}

function scoreMark(letter: string, before: string, after: string): number {
  if (letter === '’') return weight.mark
  if (isLetter(before) && isLetter(after)) return weight.markInWord
  return currencies.has(letter) ? weight.currency : weight.mark
}

/** Scores a place that counts the same in every language. Returns null for a letter. */
function scoreOther({ letter, before, after }: Place): number | null {
  if (isControl(letter)) return weight.control
  if (marks.has(letter)) return scoreMark(letter, before, after)
  return isLetter(letter) ? null : weight.strange
}

const listPlaces = (text: string): Place[] =>
  Array.from(text.matchAll(/[^\0-\x7f]/gu), ({ 0: letter, index }) => ({
    letter,
    before: text[index - 1] ?? ' ',
    after: text[index + letter.length] ?? ' ',
  }))

/** Rates a text by the alphabet that fits it best. */
function rateLetters(places: readonly Place[]): number {
  const sums = alphabets.map(() => 0)
  let sharedScore = 0
  for (const place of places) {
    const other = scoreOther(place)
    if (other !== null) {
      sharedScore += other
      continue
    }
    const outside = scoreLetter(place, null)
    for (const [index, { letters, weight: alphabetWeight }] of alphabets.entries())
      sums[index]! += letters.has(place.letter) ? scoreLetter(place, alphabetWeight) : outside
  }
  return sharedScore + Math.max(...sums)
}

const wideWeight = { kana: 7, halfWidth: 1, hangul: 6, frequent: 5, other: -3, mark: 1, strange: -6, invalid: -8 }

function scoreWide(place: Place, encoding: WideEncoding): number {
  const { letter } = place
  if (isControl(letter)) return wideWeight.invalid
  // The second byte of a character may be an ASCII letter, which belongs to a Latin name in other encodings.
  if (hasOtherScript(place)) return wideWeight.strange
  const isJapanese = encoding === 'shift_jis' || encoding === 'euc-jp'
  if (/[\uff61-\uff9f]/.test(letter)) return isJapanese ? wideWeight.halfWidth : wideWeight.strange
  if (/[\p{Script=Hiragana}\p{Script=Katakana}ー]/u.test(letter))
    return isJapanese ? wideWeight.kana : wideWeight.strange
  if (/[\u3000-\u303f\uff01-\uff5e]/.test(letter)) return wideWeight.mark
  if (!/[\p{Script=Han}\p{Script=Hangul}]/u.test(letter)) return wideWeight.strange
  if (!listFrequentCharacters(encoding).has(letter)) return wideWeight.other
  return encoding === 'euc-kr' ? wideWeight.hangul : wideWeight.frequent
}

const isWide = (encoding: Encoding): encoding is WideEncoding =>
  (wideEncodings as readonly Encoding[]).includes(encoding)

/** Rates a text higher for letters and marks of its likeliest language at usual positions. */
export function ratePlausibility(text: string, encoding: Encoding): number {
  const places = listPlaces(text)
  if (!isWide(encoding)) return rateLetters(places)
  return places.reduce((sum, place) => sum + scoreWide(place, encoding), 0)
}
