import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { toHex, utf8 } from '../text/encoding.ts'
import { extractDigits } from '../text/fold.ts'

/** 128 bits as hexadecimal digits. */
const hashLength = 32

const erasedId = /^erased_[0-9a-f]{32}$/

/** The fewest digits of a phone number that is looked for in an order id. */
export const minPhoneDigits = 7

/** True if the id stands for one that contained an address of an erased customer. */
export const isErasedOrderId = (externalId: string | null): boolean => externalId !== null && erasedId.test(externalId)

/** True if an order id may contain an e-mail address or a phone number, and so may have been replaced by its hash. */
export function mayContainAddress(externalId: string): boolean {
  const text = externalId.normalize('NFKC')
  return text.includes('@') || extractDigits(text).length >= minPhoneDigits
}

/**
 * The id that replaces an order id of an erased customer. It needs the key of the organisation, so that nobody can find
 * out whose address the id contained, and is the same each time, so that a later import recognises the order.
 */
export const hashOrderId = (key: string, editionId: string, externalId: string): string =>
  `erased_${toHex(hmac(sha256, utf8(key), utf8(`${editionId}\n${externalId}`))).slice(0, hashLength)}`
