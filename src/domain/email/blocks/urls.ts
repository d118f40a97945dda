import { type Piece, splitLiquid, readPlainVariable } from '../liquid/liquid.ts'
import { isAddressName } from '../liquid/variables.ts'

const schemes = ['https:', 'http:', 'mailto:', 'tel:']

/** Refuses characters that browsers ignore inside a scheme, and that no address of a template needs. */
const isPlain = (text: string): boolean => !/[\s\p{Cc}<>"'`\\]/u.test(text)

/** The target of an address is fixed before any Liquid in it: the scheme, and the host of a page. */
const startsSafely = (text: string): boolean => /^(https?:\/\/[^/?#{}]+([/?#]|$)|mailto:|tel:)/i.test(text)

const isWholeAddress = (text: string): boolean => {
  if (!isPlain(text) || !startsSafely(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return schemes.includes(protocol) && username === '' && password === ''
}

/** Whether a value that comes with a recipient may be the target of a link. */
export const isSafeAddress = (value: unknown): value is string => typeof value === 'string' && isWholeAddress(value)

/** It stays inside the quotes of its attribute also where it is not rendered, as in an editor. */
const isOutput = (liquid: string): boolean => /^\{\{[^"<>]*\}\}$/.test(liquid)

/**
 * Whether a link may go there: a whole address, one that continues with Liquid after its host, or one variable that
 * holds an address.
 */
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
  return pieces.every((piece) => (piece.isLiquid ? isOutput(piece.text) : isPlain(piece.text)))
}
