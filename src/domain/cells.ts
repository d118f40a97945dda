import { readCellOfToken } from './accounts/tokens.ts'
import { findIdKind, splitUlid } from './ids.ts'
import { isSerialNumber, serialLength } from './wallet/wallet-tokens.ts'

/**
 * The mark of the deployment that made an id, an access token or the serial number of a pass. Empty for what carries
 * none, and null for what is nothing of the three. Nothing is looked up.
 */
export function readCell(name: string): string | null {
  if (findIdKind(name) !== null) return splitUlid(name.slice(name.indexOf('_') + 1))?.cell ?? null
  return isSerialNumber(name) ? name.slice(serialLength) : readCellOfToken(name)
}

/** The mark that a signed token of a link carries in its id. */
export { readCellOfSignedToken as cellOfLink } from './accounts/signed-tokens.ts'
