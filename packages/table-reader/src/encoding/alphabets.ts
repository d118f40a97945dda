import { createDecoder, type Encoding } from './names.ts'

const addCapitals = (letters: string): ReadonlySet<string> =>
  new Set([...letters, ...Array.from(letters, (letter) => letter.toUpperCase()).filter(({ length }) => length === 1)])

export interface Alphabet {
  letters: ReadonlySet<string>
  /** A letter of the alphabet adds this to the score of a text. */
  weight: number
}

const russian = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя'

/**
 * Letters beyond ASCII by language. `northern` (Danish, German, Dutch, Polish, Swedish) weighs more, so it wins where
 * another encoding reads the same bytes as letters.
 */
const letters = {
  northern: 'æøåäöüßéëïąćęłńóśźż',
  czech: 'áčďéěíňóřšťúůýžľĺŕôä',
  hungarian: 'áéíóöőúüű',
  french: 'àâçéèêëîïôûùüœ',
  spanish: 'áéíóúüñ',
  portuguese: 'ãõçáâêéíóôúà',
  italian: 'àèéìòù',
  turkish: 'çğıiöşüâî',
  lithuanian: 'ąčęėįšųūž',
  latvian: 'āčēģīķļņšūž',
  estonian: 'äöüõšž',
  romanian: 'ăâîşţșț',
  croatian: 'čćđšž',
  icelandic: 'áéíóúýþæöð',
  vietnamese: 'ăâđêôơưáéíóúý\u0300\u0301\u0303\u0309\u0323',
  russian,
  ukrainian: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  serbian: 'абвгдђежзијклљмнњопрстћуфхцчџш',
  greek: 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ',
  hebrew: 'אבגדהוזחטיךכלםמןנסעףפץצקרשת',
  arabic: 'ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ',
  thai: Array.from({ length: 0x5a }, (_, at) => String.fromCharCode(0xe01 + at)).join(''),
}

type LanguageName = keyof typeof letters

const otherWeight = 3
/**
 * Hebrew weighs more, because its bytes are also lowercase Greek and Russian letters. Thai weighs less, because nearly
 * every byte is a Thai letter.
 */
const weights: Partial<Record<LanguageName, number>> = { northern: 4, hebrew: 3.2, thai: 2.2 }

export const alphabets: readonly Alphabet[] = Object.entries(letters).map(([name, text]) => ({
  letters: addCapitals(name === 'turkish' ? `${text}İ` : text),
  weight: weights[name as LanguageName] ?? otherWeight,
}))

/** Frequent letters decide between two encodings of one alphabet, which exchange small and capital letters. */
export const frequentLetters = addCapitals('оеаинтсрвлкαοιετσνηυρπκ')
export const infrequentLetters = addCapitals('щъэфыжцюхђћџѓќљњјѕўψξζφθχβ')

/** Ranges of frequent characters in the standards of the wide encodings: first and last bytes. */
const frequentRanges = {
  gbk: { leads: [0xb0, 0xd7], trails: [0xa1, 0xfe] },
  big5: { leads: [0xa4, 0xc6], trails: [0x40, 0xfe] },
  shift_jis: { leads: [0x88, 0x97], trails: [0x40, 0xfc] },
  'euc-jp': { leads: [0xb0, 0xcf], trails: [0xa1, 0xfe] },
  'euc-kr': { leads: [0xb0, 0xc8], trails: [0xa1, 0xfe] },
} as const satisfies Partial<Record<Encoding, { leads: readonly [number, number]; trails: readonly [number, number] }>>

export type WideEncoding = keyof typeof frequentRanges
export const wideEncodings = Object.keys(frequentRanges) as WideEncoding[]

const frequentCharacters = new Map<WideEncoding, ReadonlySet<string>>()

/** Frequent characters of Chinese, Japanese or Korean, which the standards put before all others. */
export function listFrequentCharacters(encoding: WideEncoding): ReadonlySet<string> {
  const cachedCharacters = frequentCharacters.get(encoding)
  if (cachedCharacters) return cachedCharacters
  const { leads, trails } = frequentRanges[encoding]
  const bytes: number[] = []
  for (let lead = leads[0]; lead <= leads[1]; lead++)
    for (let trail = trails[0]; trail <= trails[1]; trail++) bytes.push(lead, trail, 0x0a)
  const text = createDecoder(encoding).decode(Uint8Array.from(bytes))
  const characters = new Set(text.match(/[\p{Script=Han}\p{Script=Hangul}]/gu))
  frequentCharacters.set(encoding, characters)
  return characters
}
