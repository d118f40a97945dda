import { cellOfToken } from './accounts/tokens.ts'
import { kindOfId, partsOfUlid } from './ids.ts'
import { isSerialNumber, serialLength } from './wallet/wallet-tokens.ts'

/**
 * The mark of the deployment that made an id, an access token or the serial number of a pass. Empty for what carries
 * none, and null for what is nothing of the three. Nothing is looked up.
 */
export function cellOf(name: string): string | null {
  if (kindOfId(name) !== null) return partsOfUlid(name.slice(name.indexOf('_') + 1))?.cell ?? null
  return isSerialNumber(name) ? name.slice(serialLength) : cellOfToken(name)
}

/** The mark that a signed token of a link carries in its id. */
export { cellOfSignedToken as cellOfLink } from './accounts/signed-tokens.ts'
