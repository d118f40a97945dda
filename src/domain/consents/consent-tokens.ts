import { utf8 } from '../text/encoding.ts'
import { idPrefixes } from '../ids.ts'
import { dayMs } from '../time/instants.ts'
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
import type { ChannelAddress } from '../messaging/suppressions.ts'

/**
 * Tokens of the pages on which people read and answer consents. They hold the person, or the answer to confirm, the day
 * on which they were made, and a tag of organisation and address: the address cannot be read from it, and a link that
 * went to an address which the person no longer has opens nothing.
 */

/** The time for which a link to the page of a person's consents works. */
export const preferencesLinkMs = 2 * 365 * dayMs

const preferences: TokenSigner = { purpose: 'consent-preferences-links', macBytes: 16 }
const confirmation: TokenSigner = { purpose: 'consent-confirmation-links', macBytes: 16 }
const tagger: TokenSigner = { purpose: 'consent-links-address', macBytes: 8 }

export interface LinkAddress extends ChannelAddress {
  organization_id: string
}

const tagOf = (secret: string, { organization_id, channel, address }: LinkAddress): Uint8Array =>
  computeMac(secret, tagger, utf8(`${organization_id}\0${channel}\0${address}`))

/** The one of the addresses to which a link was sent. */
export function taggedAddress<Address extends LinkAddress>(
  secret: string,
  tag: Uint8Array,
  addresses: readonly Address[],
): Address | null {
  const tags = addresses.map((one) => tagOf(secret, one))
  return addresses.find((_, index) => areEqual(tags[index] ?? new Uint8Array(), tag)) ?? null
}

const idOf = (prefix: string, id: string): Uint8Array => {
  const bytes = idToBytes(prefix, id)
  if (!bytes) throw new Error(`${id} is no id of the kind ${prefix}`)
  return bytes
}

const dayOf = (at: number): number => Math.floor(at / dayMs)

/** The addresses of the pages, for links in messages. */
export const preferencesAddress = (publicUrl: string, token: string): string => `${publicUrl}/consents/${token}`
export const confirmationAddress = (publicUrl: string, token: string): string =>
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
  const tag = tagOf(secret, link)
  const content = [...idOf(idPrefixes.user, link.user_id), ...tag, ...numberToBytes(dayOf(link.made_at))]
  return signToken(secret, preferences, content)
}

/** The content of a token of a person's page; null for a forged or expired one. */
export function readPreferencesToken(secret: string, token: string, now: number): PreferencesTarget | null {
  const content = openToken(secret, preferences, token)
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

/** An answer, by the key of its record. */
interface AnswerKey {
  user_id: string
  consent_id: string
  number: number
}

interface ConfirmationLink extends LinkAddress, AnswerKey {}

export function mintConfirmationToken(secret: string, link: ConfirmationLink): string {
  const tag = tagOf(secret, link)
  const ids = [...idOf(idPrefixes.user, link.user_id), ...idOf(idPrefixes.consent, link.consent_id)]
  return signToken(secret, confirmation, [...ids, ...tag, ...numberToBytes(link.number)])
}

export interface ConfirmationTarget extends AnswerKey {
  tag: Uint8Array
}

/** The answer that a token confirms; null for a forged one. */
export function readConfirmationToken(secret: string, token: string): ConfirmationTarget | null {
  const content = openToken(secret, confirmation, token)
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
