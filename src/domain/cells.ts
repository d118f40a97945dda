import { readCellOfToken } from './accounts/tokens.ts'
import { findIdKind, splitUlid } from './ids.ts'
import { isSerialNumber, serialLength } from './wallet/wallet-tokens.ts'

/**
 * The cell of an id, an access token or the serial number of a pass: which deployment created it. Empty: it has no cell.
 * Null: it is none of the three. It is read from the text alone.
 */
export function readCell(name: string): string | null {
  if (findIdKind(name) !== null) return splitUlid(name.slice(name.indexOf('_') + 1))?.cell ?? null
  return isSerialNumber(name) ? name.slice(serialLength) : readCellOfToken(name)
}

/** The cell in the signed token of a link. */
export { readCellOfSignedToken as readCellOfLink } from './accounts/signed-tokens.ts'
