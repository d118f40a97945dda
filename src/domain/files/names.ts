import { fileTypes, isFileType } from './types.ts'

export const maxNameLength = 255

/** Control characters, direction marks, invisible characters and line breaks: `exe.gnp` must not look like `png.exe`. */
/* oxlint-disable no-control-regex -- these characters are removed */
const invisibleCharacters =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd]/gu
/** Windows does not allow these characters in a name. */
const forbiddenCharacters = /[<>:"|?*]/g
const reservedNames = /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i

const listEndings = (mimeType: string): readonly string[] => (isFileType(mimeType) ? fileTypes[mimeType].endings : [])

function splitEnding(name: string, mimeType: string): { stem: string; ending: string } {
  const endings = listEndings(mimeType)
  const [, stem = name, ending = ''] = /^(.*)\.([^.]*)$/s.exec(name) ?? []
  if (endings.length === 0) return ending && ending.length <= 20 ? { stem, ending } : { stem: name, ending: '' }
  return endings.includes(ending.toLowerCase()) ? { stem, ending } : { stem: name, ending: endings[0] ?? '' }
}

/** Cuts a text between visible characters. */
function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  let shortName = ''
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, maxLength + 64))) {
    if (shortName.length + segment.length > maxLength) break
    shortName += segment
  }
  return shortName
}

const trimDots = (text: string): string => text.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '')

/**
 * Makes a file name that every system can store and that cannot mislead: without folders, control characters and direction
 * marks, at most 255 characters, and with an ending of its type, so that a download never opens as something else.
 */
export function cleanFileName(name: string, mimeType: string): string {
  const last =
    name
      .toWellFormed()
      .split(/[/\\]/)
      .findLast((part) => trimDots(part.replaceAll(invisibleCharacters, '')) !== '') ?? ''
  const cleanName = trimDots(
    last
      .normalize('NFC')
      .replaceAll(invisibleCharacters, '')
      .replaceAll(forbiddenCharacters, '_')
      .replaceAll(/\s+/gu, ' '),
  )
  const { stem, ending } = splitEnding(cleanName, mimeType)
  const tail = ending && `.${ending}`
  const base = trimDots(stem) || 'file'
  const allowedName = reservedNames.test(base) ? `_${base}` : base
  return trimDots(shorten(allowedName, maxNameLength - tail.length)) + tail
}

/** Percent-encodes a text (RFC 8187). */
const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** A Content-Disposition header (RFC 6266) with the name in ASCII for old programs and in UTF-8 (RFC 8187) for others. */
export function formatContentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\u0020-\u007e]/gu, '_')
    .replaceAll(/["\\%]/g, '_')
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${percentEncode(name)}`
}
