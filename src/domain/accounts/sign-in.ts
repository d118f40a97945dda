import { toHex, utf8 } from '../text/encoding.ts'
import { hourMs, minuteMs } from '../time/instants.ts'
import { areEqual, computeMac } from './signed-tokens.ts'

/** The ways to get a session: a code by e-mail, a link, a token of the OpenID Connect issuer, and Cloudflare Access. */
export const signInMethods = ['code', 'link', 'oidc', 'access'] as const
export type SignInMethod = (typeof signInMethods)[number]

export const sessionMs = 12 * hourMs
/** A session can create tokens for this time after the sign-in. */
export const recentSignInMs = 10 * minuteMs
export const signInLinkMs = hourMs
export const signInCodeMs = 10 * minuteMs
export const maxCodeTries = 5

/** An address and a network can request this many codes in `codeWindowMs`. */
export const codesPerAddress = 5
export const codesPerNetwork = 20
export const codeWindowMs = hourMs

export const signInCodeLength = 8

const codeSigner = { purpose: 'sign-in code', macBytes: 8 }

/** The code of a request, which nobody can compute without both the secret of the Worker and the stored salt. */
export function deriveSignInCode(secret: string, { id, salt }: { id: string; salt: string }): string {
  const mac = computeMac(secret, codeSigner, utf8(`${id}\0${salt}`))
  const number = mac.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return String(number % 10n ** BigInt(signInCodeLength)).padStart(signInCodeLength, '0')
}

/** Compares in constant time. A code that was sent before the secret changed stays valid. */
export const isSignInCode = (
  secrets: readonly string[],
  request: { id: string; salt: string },
  code: string,
): boolean => secrets.some((secret) => areEqual(utf8(deriveSignInCode(secret, request)), utf8(code)))

/** Hashes an address or a network, so that requests can be counted without storing who made them. */
export const hashRequester = (secret: string, kind: 'address' | 'network', text: string): string =>
  toHex(computeMac(secret, { purpose: `sign-in ${kind}`, macBytes: 16 }, utf8(text)))

/** The page of the console that a link opens. The fragment is never sent to a server. */
export const buildSignInUrl = (publicUrl: string, secret: string): string => `${publicUrl}/console#link=${secret}`
