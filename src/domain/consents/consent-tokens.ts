import {
  areEqual,
  idFromBytes,
  idToBytes,
  computeMac,
  numberFromBytes,
  numberToBytes,
  openToken,
  signToken,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'
import { idPrefixes } from '../ids.ts'
import type { ChannelAddress } from '../messaging/suppressions.ts'
import { utf8 } from '../text/encoding.ts'
import { dayMs } from '../time/instants.ts'

/**
 * Tokens of the pages on which people read and answer their consents. A token names the person or the answer to
 * confirm, and has a tag of the organisation and the address that the link was sent to. The address cannot be read from
 * the tag, and the link stops working when the person no longer has the address.
 */

/** A link to a person's consents works for this long. */
export const preferencesLinkMs = 2 * 365 * dayMs

const preferences: TokenSigner = { purpose: 'consent-preferences-links', macBytes: 16 }
const confirmation: TokenSigner = { purpose: 'consent-confirmation-links', macBytes: 16 }
const tagger: TokenSigner = { purpose: 'consent-links-address', macBytes: 8 }

export interface LinkAddress extends ChannelAddress {
  organization_id: string
}

const computeTag = (secret: string, { organization_id, channel, address }: LinkAddress): Uint8Array =>
  computeMac(secret, tagger, utf8(`${organization_id}\0${channel}\0${address}`))

/** Finds the address that a link was sent to. */
export function findTaggedAddress<Address extends LinkAddress>(
  secrets: readonly string[],
  tag: Uint8Array,
  addresses: readonly Address[],
): Address | null {
  const hasTag = (address: Address) =>
    secrets.map((secret) => areEqual(computeTag(secret, address), tag)).includes(true)
  return addresses.filter(hasTag)[0] ?? null
}

const encodeId = (prefix: string, id: string): Uint8Array => {
  const bytes = idToBytes(prefix, id)
  if (!bytes) throw new Error(`${id} does not begin with ${prefix}`)
  return bytes
}

const countDays = (at: number): number => Math.floor(at / dayMs)

export const buildPreferencesUrl = (publicUrl: string, token: string): string => `${publicUrl}/consents/${token}`
export const buildConfirmationUrl = (publicUrl: string, token: string): string =>
  `${publicUrl}/consents/confirm/${token}`

export interface PreferencesTarget {
  user_id: string
  tag: Uint8Array
  /** The start of the day on which the link was made. */
  made_at: number
}

interface PreferencesLink extends LinkAddress {
  user_id: string
  made_at: number
}

export function mintPreferencesToken(secret: string, link: PreferencesLink): string {
  const tag = computeTag(secret, link)
  const content = [...encodeId(idPrefixes.user, link.user_id), ...tag, ...numberToBytes(countDays(link.made_at))]
  return signToken(secret, preferences, content)
}

/** Returns null for a forged or expired token. */
export function readPreferencesToken(secrets: readonly string[], token: string, now: number): PreferencesTarget | null {
  const content = openToken(secrets, preferences, token)
  const user = content && idFromBytes(idPrefixes.user, content, 0)
  const day = user && numberFromBytes(content, user.next + tagger.macBytes)
  if (!day || day.next !== content.length) return null
  const made_at = day.value * dayMs
  if (now - made_at > preferencesLinkMs) return null
  return {
    user_id: user.id,
    tag: content.slice(user.next, user.next + tagger.macBytes),
    made_at,
  }
}

/** The key of an answer's record. */
interface AnswerKey {
  user_id: string
  consent_id: string
  number: number
}

interface ConfirmationLink extends LinkAddress, AnswerKey {}

export function mintConfirmationToken(secret: string, link: ConfirmationLink): string {
  const tag = computeTag(secret, link)
  const ids = [...encodeId(idPrefixes.user, link.user_id), ...encodeId(idPrefixes.consent, link.consent_id)]
  return signToken(secret, confirmation, [...ids, ...tag, ...numberToBytes(link.number)])
}

export interface ConfirmationTarget extends AnswerKey {
  tag: Uint8Array
}

/** Returns null for a forged token. */
export function readConfirmationToken(secrets: readonly string[], token: string): ConfirmationTarget | null {
  const content = openToken(secrets, confirmation, token)
  const user = content && idFromBytes(idPrefixes.user, content, 0)
  const consent = user && idFromBytes(idPrefixes.consent, content, user.next)
  const number = consent && numberFromBytes(content, consent.next + tagger.macBytes)
  if (!number || number.next !== content.length) return null
  return {
    user_id: user.id,
    consent_id: consent.id,
    number: number.value,
    tag: content.slice(consent.next, consent.next + tagger.macBytes),
  }
}
