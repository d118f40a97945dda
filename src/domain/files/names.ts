import { fileTypes, isFileType } from './types.ts'

export const maxNameLength = 255

/** Control characters, marks of direction, invisible characters and line breaks: `exe.gnp` must not read as `png.exe`. */
/* oxlint-disable no-control-regex -- these are what is taken out */
const invisible =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd]/gu
/** Characters that Windows does not allow in a name. */
const forbidden = /[<>:"|?*]/g
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i

const endingsOf = (mimeType: string): readonly string[] => (isFileType(mimeType) ? fileTypes[mimeType].endings : [])

function splitEnding(name: string, mimeType: string): { stem: string; ending: string } {
  const endings = endingsOf(mimeType)
  const [, stem = name, ending = ''] = /^(.*)\.([^.]*)$/s.exec(name) ?? []
  if (endings.length === 0) return ending && ending.length <= 20 ? { stem, ending } : { stem: name, ending: '' }
  return endings.includes(ending.toLowerCase()) ? { stem, ending } : { stem: name, ending: endings[0] ?? '' }
}

/** Cuts between visible characters. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, most + 64))) {
    if (kept.length + segment.length > most) break
    kept += segment
  }
  return kept
}

const trimmed = (text: string): string => text.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '')

/**
 * A name that every system can store and that cannot mislead: without folders, controls and marks of direction, at most 255
 * characters, and with an ending of its type, so that a download never opens as something else.
 */
export function cleanFileName(name: string, mimeType: string): string {
  const last =
    name
      .toWellFormed()
      .split(/[/\\]/)
      .findLast((part) => trimmed(part.replaceAll(invisible, '')) !== '') ?? ''
  const plain = trimmed(
    last.normalize('NFC').replaceAll(invisible, '').replaceAll(forbidden, '_').replaceAll(/\s+/gu, ' '),
  )
  const { stem, ending } = splitEnding(plain, mimeType)
  const tail = ending && `.${ending}`
  const base = trimmed(stem) || 'file'
  const allowed = reserved.test(base) ? `_${base}` : base
  return trimmed(shorten(allowed, maxNameLength - tail.length)) + tail
}

/** Encodes all characters but those that RFC 8187 leaves unencoded. */
const percent = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/**
 * RFC 6266 in both forms: plain ASCII for old programs, where a percent sign would be read as an escape by some, and
 * UTF-8 of RFC 8187 for the others.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\u0020-\u007e]/gu, '_')
    .replaceAll(/["\\%]/g, '_')
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${percent(name)}`
}
