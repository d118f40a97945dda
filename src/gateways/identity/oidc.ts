import { createRemoteJWKSet, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { AppError } from '../../domain/errors.ts'
import { withTimeLimit } from '../time-limit/time-limit.ts'
import type { IdentityProvider } from './identity.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const keysKeptMs = 600_000
const discoveryMs = 5000
const clockToleranceSeconds = 60

/** Keys by issuer, shared by the requests of this isolate. A key id that is not there yet is fetched at once. */
const keysOf = new Map<string, JWTVerifyGetKey>()

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const known = keysOf.get(issuer)
  if (known) return known
  const jwksUri = await withTimeLimit(discoveryMs, async (signal) => {
    const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, { signal })
    if (!response.ok) throw new Error(`OIDC discovery of the issuer answered ${response.status}`)
    return (await response.json<{ jwks_uri: string }>()).jwks_uri
  })
  const keys = createRemoteJWKSet(new URL(jwksUri), { cacheMaxAge: keysKeptMs })
  keysOf.set(issuer, keys)
  return keys
}

/** What jose says of a provider that is at fault; everything else it says is about the token. */
const faultsOfProvider = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

function isAboutToken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('ERR_J') && !faultsOfProvider.has(code)
}

const unavailable = (cause: unknown) =>
  new AppError('identity_unavailable', 'The identity provider does not answer. Try again in a moment.', {
    headers: { 'retry-after': '5' },
    cause,
  })

/** Tokens of one OpenID Connect issuer, made for one audience. */
export const oidcProvider = (options: { issuer: string; audience: string }): IdentityProvider => ({
  async verifiedEmail(token, now) {
    try {
      const keys = await discover(options.issuer)
      const { payload } = await jwtVerify<{ email?: unknown; email_verified?: unknown }>(token, keys, {
        ...options,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'exp'],
      })
      return payload.email_verified === true && typeof payload.email === 'string' ? payload.email.toLowerCase() : null
    } catch (error) {
      if (isAboutToken(error)) return null
      throw unavailable(error)
    }
  },
})
