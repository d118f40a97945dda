import { isCell } from '../ids.ts'
import { crc32, utf8 } from '../text/encoding.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'ecm_'
const secretLength = 30
const checkLength = 6

/** Characters of a token that may be shown again: enough to recognise it, useless to a thief. */
export const tokenPreviewLength = prefix.length + 4

const base62 = (value: number, length: number): string => {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}

/** The deployment's mark comes last, and the checksum covers it. */
const withCheck = (secret: string, cell: string): string =>
  prefix + secret + base62(crc32(utf8(secret + cell)), checkLength) + cell

/** A fresh access token from random bytes; bytes of 248 and more are left out, so that every character is equally likely. */
export function mintToken(randomBytes: (length: number) => Uint8Array, cell = ''): string {
  let secret = ''
  while (secret.length < secretLength)
    for (const byte of randomBytes(secretLength))
      if (byte < 248 && secret.length < secretLength) secret += alphabet[byte % 62]
  return withCheck(secret, cell)
}

const tokenLength = prefix.length + secretLength + checkLength

/** The mark of a token, empty for one without; null for anything that this service cannot have issued. */
export function readCellOfToken(token: string): string | null {
  const cell = token.slice(tokenLength)
  if (!/^[0-9A-Za-z]+$/.test(token.slice(prefix.length)) || !(cell === '' || isCell(cell))) return null
  return withCheck(token.slice(prefix.length, prefix.length + secretLength), cell) === token ? cell : null
}

/** False for a token with a wrong checksum, so that a typing error costs no look-up. */
export const isWellFormedToken = (token: string): boolean => readCellOfToken(token) !== null
