import {
  computeMac,
  idFromBytes,
  idToBytes,
  openToken,
  signToken,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'
import { idPrefixes } from '../ids.ts'
import { toHex, utf8 } from '../text/encoding.ts'
import { dayMs, hourMs } from '../time/instants.ts'

export const maxFormConsents = 10
export const maxAllowedSites = 20
export const maxSiteLength = 300
export const maxRedirectLength = 500

/** A form accepts this many requests in `signupWindowMs`, unless it says otherwise. */
export const defaultMailsPerHour = 60
export const maxMailsPerHour = 10_000
/** A network can make this many requests in `signupWindowMs`, with whatever forms. */
export const signupsPerNetwork = 10
export const signupWindowMs = hourMs

/** The source of the answers that a form brings. */
export const signupSource = (formId: string): string => `signup_form:${formId}`

/** A request can be confirmed for this long, and is deleted then. */
export const signupRequestMs = 7 * dayMs

/** A consent of a request, and the version of the wording that the visitor saw. */
export interface ShownConsent {
  id: string
  version: number
}

/** Mail to these domains arrives with and without the dots before the `@`. */
const dotlessDomains: readonly string[] = ['gmail.com', 'googlemail.com']

/** The mailbox that a stored address reaches at most providers: without the part after a `+`. */
export function findMailbox(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  const [name = ''] = address.slice(0, at).split('+')
  const localPart = name === '' ? address.slice(0, at) : name
  return dotlessDomains.includes(domain) ? `${localPart.replaceAll('.', '')}@gmail.com` : `${localPart}@${domain}`
}

/** Hashes a mailbox or a network, so that requests can be counted without storing who made them. */
export const hashSignup = (secret: string, kind: 'mailbox' | 'network', text: string): string =>
  toHex(computeMac(secret, { purpose: `sign-up ${kind}`, macBytes: 16 }, utf8(text)))

const hostLabel = /^[a-z0-9-]{1,63}$/

/** A host name, which has no character with a meaning in a content security policy. */
const isHostName = (hostname: string): boolean => {
  const labels = hostname.split('.')
  return labels.length > 1 && labels.every((label) => hostLabel.test(label))
}

const localHosts: readonly string[] = ['localhost', '127.0.0.1']

/** The origin of a site. Null: the text is no `https` address of a whole site, and none of this machine. */
export function parseSite(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, origin, hostname, pathname, search, hash, username, password } = new URL(text)
  const isWholeSite = pathname === '/' && [search, hash, username, password].every((part) => part === '')
  const isLocal = localHosts.includes(hostname) && protocol === 'http:'
  return isWholeSite && (isLocal || (protocol === 'https:' && isHostName(hostname))) ? origin : null
}

const signer: TokenSigner = { purpose: 'signup-confirmation-links', macBytes: 16 }

export const buildSignupPageUrl = (publicUrl: string, formId: string): string => `${publicUrl}/signup/${formId}`
export const buildSignupConfirmationUrl = (publicUrl: string, token: string): string =>
  `${publicUrl}/signup/confirm/${token}`

/** The token of the link that confirms a request. */
export function mintSignupToken(secret: string, requestId: string): string {
  const bytes = idToBytes(idPrefixes.signup_request, requestId)
  if (!bytes) throw new Error(`${requestId} is not the id of a sign-up.`)
  return signToken(secret, signer, bytes)
}

/** The id of the request. Returns null for a forged token. */
export function readSignupToken(secrets: readonly string[], token: string): string | null {
  const content = openToken(secrets, signer, token)
  const id = content && idFromBytes(idPrefixes.signup_request, content, 0)
  return id && id.next === content.length ? id.id : null
}
