import { isCell } from '../ids.ts'
import { crc32, utf8 } from '../text/encoding.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'ecm_'
const secretLength = 30
const checksumLength = 6

/** The first characters of a token, which may be shown again: enough to recognise it, useless to a thief. */
export const tokenPreviewLength = prefix.length + 4

const toBase62 = (value: number, length: number): string => {
  let text = ''
  for (let remainder = value; text.length < length; remainder = Math.floor(remainder / 62))
    text = alphabet[remainder % 62] + text
  return text
}

/** The cell comes last, and the checksum covers it. */
const addChecksum = (secret: string, cell: string): string =>
  prefix + secret + toBase62(crc32(utf8(secret + cell)), checksumLength) + cell

/** Creates an access token. Bytes from 248 are dropped, so that every character is equally likely. */
export function generateToken(randomBytes: (length: number) => Uint8Array, cell = ''): string {
  let secret = ''
  while (secret.length < secretLength)
    for (const byte of randomBytes(secretLength))
      if (byte < 248 && secret.length < secretLength) secret += alphabet[byte % 62]
  return addChecksum(secret, cell)
}

const tokenLength = prefix.length + secretLength + checksumLength

/** The cell of a token, empty if it has none. Null: this service cannot have issued the token. */
export function readCellOfToken(token: string): string | null {
  const cell = token.slice(tokenLength)
  if (!/^[0-9A-Za-z]+$/.test(token.slice(prefix.length)) || !(cell === '' || isCell(cell))) return null
  return addChecksum(token.slice(prefix.length, prefix.length + secretLength), cell) === token ? cell : null
}

/** Checks the checksum, so that a mistyped token costs no database query. */
export const isWellFormedToken = (token: string): boolean => readCellOfToken(token) !== null
