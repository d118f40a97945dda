/* oxlint-disable no-control-regex -- files of programs begin with controls */
/** Known types that are refused, by their first bytes, with the text of the refusal. */
const beginnings: readonly [pattern: RegExp, reason: string][] = [
  [/^MZ/, 'This is a program of Windows.'],
  [/^\u007fELF/, 'This is a program.'],
  [/^(?:\u00ca\u00fe\u00ba\u00be|\u00cf\u00fa\u00ed\u00fe)/, 'This is a program.'],
  [/^\0asm/, 'This is a program.'],
  [/^#!/, 'This is a script.'],
  [
    /^\u00d0\u00cf\u0011\u00e0/,
    'This is a workbook with a password, or a document of an old Office: save it as XLSX without a password.',
  ],
  [/^BM[\s\S]{4}\0\0\0\0/, 'This is a BMP image.'],
  [/^(?:II\*\0|MM\0\*)/, 'This is a TIFF image.'],
  [/^\0\0\u0001\0/, 'This is an icon.'],
  [/^(?:\u00ff\u000a|\0\0\0\u000cJXL )/, 'This is a JPEG XL image.'],
  [/^[\s\S]{4}ftyp(?:hei|hev|mif1|msf1)/, 'This is a HEIC image: save it as JPEG.'],
  [/^[\s\S]{4}ftyp/, 'This is a video.'],
  [/^8BPS/, 'This is a Photoshop document.'],
  [/^%!PS/, 'This is PostScript.'],
  [/^\{\\rtf/, 'This is an RTF document.'],
  [/^(?:\u001f\u008b|BZh|\u00fd7zXZ|7z\u00bc\u00af|Rar!|\u0028\u00b5\u002f\u00fd)/, 'This is an archive.'],
  [/^PK/, 'This is a broken archive.'],
  [/^(?:OggS|ID3|RIFF|fLaC|\u001aE\u00df\u00a3)/, 'This is a sound or a video.'],
  [/^SQLite format 3\0/, 'This is a database.'],
]

const markup = (text: string): string => {
  if (/<svg[\s>/]/i.test(text)) return 'SVG images may hold programs.'
  if (/^<(?:!doctype\s+html|html|head|body|script|style|iframe|img|a|div|p|br|h1|title|meta|link|!--)\b/i.test(text))
    return 'HTML pages may hold programs.'
  return 'This is XML or another markup.'
}

/** The reason why content is refused; null for no known reason. `text` is the content as text, or null. */
export function findRefusal(bytes: Uint8Array, text: string | null): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, 32))
  const known = beginnings.find(([pattern]) => pattern.test(start))
  if (known) return known[1]
  const shown = (text ?? new TextDecoder('latin1').decode(bytes)).replace(/^[\u{FEFF}\s\0]+/u, '')
  // A browser that sniffs the type ignores white space.
  if (shown.startsWith('<')) return markup(shown)
  if (text !== null && /^(?:\{\s*["}]|\[\s*[[{"\]])/.test(shown)) return 'This is JSON.'
  return null
}
