import { type Piece, splitLiquid, readPlainVariable } from '../liquid/liquid.ts'
import { isAddressName } from '../liquid/variables.ts'

const schemes = ['https:', 'http:', 'mailto:', 'tel:']

/** Browsers ignore some of these characters inside a scheme, which would hide a forbidden one. */
const hasOnlySafeCharacters = (text: string): boolean => !/[\s\p{Cc}<>"`\\]/u.test(text)

/** The scheme and the host stand before any Liquid, so that no value of a recipient can change them. */
const hasFixedTarget = (text: string): boolean => /^(https?:\/\/[^/?#{}]+([/?#]|$)|mailto:|tel:)/i.test(text)

const isWholeAddress = (text: string): boolean => {
  if (!hasOnlySafeCharacters(text) || !hasFixedTarget(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return schemes.includes(protocol) && username === '' && password === ''
}

/** A space in an address, which editors and people leave there. Other white space is refused. */
const spaces = /[ \u00A0\u202F]/g

/** Completes an address as browsers and mail programs do: `https://` before a host, spaces encoded. Liquid stays. */
export function completeAddress(text: string): string {
  const address = text.trim()
  if (/^tel:/i.test(address)) return address.replaceAll(spaces, '')
  const start = /^www\./i.test(address) ? 'https://' : address.startsWith('//') ? 'https:' : ''
  return start + address.replaceAll(spaces, '%20')
}

/** True if a variable may have this value where an address stands. */
export const isSafeAddress = (value: unknown): value is string => typeof value === 'string' && isWholeAddress(value)

/** Quotes and angle brackets would end the attribute where Liquid is not rendered, for example in an editor. */
const isPlainOutput = (liquid: string): boolean => /^\{\{[^"<>]*\}\}$/.test(liquid)

/** Allows a whole address, an address with Liquid after its host, and a single variable that holds an address. */
export function isAddress(text: string): boolean {
  let pieces: Piece[]
  try {
    pieces = splitLiquid(text.trim())
  } catch {
    return false
  }
  const [first] = pieces
  if (!first) return false
  if (first.isLiquid) return pieces.length === 1 && isAddressName(readPlainVariable(first.text) ?? '')
  if (pieces.length === 1) return isWholeAddress(first.text)
  if (!/^(https?:\/\/[^/?#{}]+[/?#]|mailto:|tel:)/i.test(first.text)) return false
  return pieces.every((piece) => (piece.isLiquid ? isPlainOutput(piece.text) : hasOnlySafeCharacters(piece.text)))
}
