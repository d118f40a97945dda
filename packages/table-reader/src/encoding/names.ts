/**
 * All encodings that `TextDecoder` knows, and two of DOS. `iso-8859-1` is read as windows-1252, which contains it, as
 * browsers do.
 */
export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-3',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-8-i',
  'iso-8859-10',
  'iso-8859-13',
  'iso-8859-14',
  'iso-8859-15',
  'iso-8859-16',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'x-mac-cyrillic',
  'ibm866',
  'cp850',
  'cp437',
  'shift_jis',
  'euc-jp',
  'iso-2022-jp',
  'gbk',
  'gb18030',
  'big5',
  'euc-kr',
] as const

export type Encoding = (typeof encodings)[number]

export const getUnitSize = (encoding: Encoding): 1 | 2 => (encoding.startsWith('utf-16') ? 2 : 1)

export interface Decoder {
  decode(bytes: Uint8Array): string
}

/** The characters from 128 on of encodings of DOS, which the platform lacks. */
const dosCharacters: Partial<Record<Encoding, string>> = {
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
}

const codesOfWindows = new Map(
  Array.from(
    new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 128 }, (_, at) => at + 128)),
    (letter, at) => [letter, at],
  ),
)

function createDosDecoder(characters: string): Decoder {
  const windows = new TextDecoder('windows-1252', { fatal: false, ignoreBOM: true })
  return {
    decode: (bytes) =>
      windows.decode(bytes).replaceAll(/[^\0-\x7f]/g, (letter) => characters[codesOfWindows.get(letter) ?? 0] ?? ''),
  }
}

/** Each call decodes whole lines. Bytes that the encoding lacks become U+FFFD or a control character. */
export function createDecoder(encoding: Encoding): Decoder {
  const characters = dosCharacters[encoding]
  return characters === undefined
    ? new TextDecoder(encoding, { fatal: false, ignoreBOM: true })
    : createDosDecoder(characters)
}

/** The character that stands in a cell for bytes of no character, because a text may contain U+FFFD itself. */
export const undecodable = '\uffff'

/** Replaces `undecodable` by U+FFFD, which is meant for people. */
export const showUndecodable = (text: string): string => text.replaceAll(undecodable, '\ufffd')

const replacement = '\ufffd'
/** Stands for U+FFFD while a text is decoded. */
const placeholder = '\ufdd0'

/** Replaces each U+FFFD of the text by a placeholder of the same length. */
function hideReplacements(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  const copy = bytes.slice()
  if (encoding === 'utf-8') {
    for (let at = 0; at + 2 < copy.length; at++)
      if (copy[at] === 0xef && copy[at + 1] === 0xbf && copy[at + 2] === 0xbd) copy.set([0xef, 0xb7, 0x90], at)
    return copy
  }
  const view = new DataView(copy.buffer)
  const isLittle = encoding === 'utf-16le'
  for (let at = 0; at + 1 < copy.length; at += 2)
    if (view.getUint16(at, isLittle) === 0xfffd) view.setUint16(at, 0xfdd0, isLittle)
  return copy
}

/** As `createDecoder`, but bytes that the encoding lacks become `undecodable`. */
export function createStrictDecoder(encoding: Encoding): Decoder {
  const decoder = createDecoder(encoding)
  if (!encoding.startsWith('utf'))
    return { decode: (bytes) => decoder.decode(bytes).replaceAll(/[\u0080-\u009f\ufffd]/g, undecodable) }
  return {
    decode(bytes) {
      const text = decoder.decode(bytes)
      if (!text.includes(replacement)) return text
      return decoder
        .decode(hideReplacements(bytes, encoding))
        .replaceAll(replacement, undecodable)
        .replaceAll(placeholder, replacement)
    },
  }
}

/** Decodes whole lines. Bytes that fit no character of the encoding become `undecodable`. */
export const decodeText = (bytes: Uint8Array, encoding: Encoding): string => createStrictDecoder(encoding).decode(bytes)

const marks: [Encoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

export function readByteOrderMark(bytes: Uint8Array): { encoding: Encoding; length: number } | null {
  const mark = marks.find(([, signature]) => signature.every((byte, index) => bytes[index] === byte))
  return mark ? { encoding: mark[0], length: mark[1].length } : null
}

export function getByteOrderMark(encoding: Encoding): Uint8Array<ArrayBuffer> {
  return new Uint8Array(marks.find(([name]) => name === encoding)?.[1] ?? [])
}
