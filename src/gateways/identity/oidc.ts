import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { normalizeAccountEmail } from '../../domain/accounts/users.ts'
import { AppError } from '../../domain/errors.ts'
import { fetchWithFailureCache, ProviderFailure } from './failure-cache-fetch.ts'
import type { IdentityProvider } from './identity.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const keyCacheMs = 600_000
const clockToleranceSeconds = 60

const isObject = (json: unknown): json is Record<string, unknown> => typeof json === 'object' && json !== null

const isDiscovery = (json: unknown): json is { jwks_uri: string } =>
  isObject(json) && typeof json['jwks_uri'] === 'string' && URL.canParse(json['jwks_uri'])

const isKeySet = (json: unknown): json is { keys: object[] } =>
  isObject(json) && Array.isArray(json['keys']) && json['keys'].every(isObject)

/** Keys by issuer, in this isolate. An unknown key id is fetched at once. */
const keysByIssuer = new Map<string, JWTVerifyGetKey>()

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const cachedKeys = keysByIssuer.get(issuer)
  if (cachedKeys) return cachedKeys
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { jwks_uri } = await fetchWithFailureCache(address, isDiscovery)
  const keys = createRemoteJWKSet(new URL(jwks_uri), {
    cacheMaxAge: keyCacheMs,
    [customFetch]: async (url) => Response.json(await fetchWithFailureCache(url, isKeySet)),
  })
  keysByIssuer.set(issuer, keys)
  return keys
}

/** The header types of access tokens (RFC 9068) and ID tokens. */
const headerTypes = new Set(['jwt', 'at+jwt', 'id+jwt'])
/** The values of claims that also name the type: `typ` of Keycloak, `token_use` of Cognito. */
const claimTypes = new Set(['id', 'bearer', 'access'])

const isOneOf = (types: ReadonlySet<string>, type: unknown): boolean =>
  type === undefined || (typeof type === 'string' && types.has(type.toLowerCase().replace(/^application\//, '')))

/** False for refresh tokens, logout tokens and security events, which are signed with the same keys. */
const isSignIn = (header: { typ?: unknown }, claims: JWTPayload): boolean =>
  isOneOf(headerTypes, header.typ) &&
  isOneOf(claimTypes, claims['typ']) &&
  isOneOf(claimTypes, claims['token_use']) &&
  claims['events'] === undefined

/** The errors of jose that a faulty provider causes. All others are about the token. */
const providerErrors = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

function isAboutToken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('ERR_J') && !providerErrors.has(code)
}

const buildUnavailableError = (cause: unknown) =>
  new AppError('identity_unavailable', 'The identity provider does not answer. Try again in a moment.', {
    headers: { 'retry-after': String(cause instanceof ProviderFailure ? Math.ceil(cause.waitMs / 1000) : 5) },
    cause,
  })

/** Verifies tokens of one OpenID Connect issuer for one audience. */
export const createOidcProvider = (options: { issuer: string; audience: string }): IdentityProvider => ({
  async verifyEmail(token, now) {
    try {
      const keys = await discover(options.issuer)
      const { payload, protectedHeader } = await jwtVerify<{ email?: unknown; email_verified?: unknown }>(token, keys, {
        ...options,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'exp'],
      })
      const isFromFuture = (payload.iat ?? 0) > now / 1000 + clockToleranceSeconds
      if (isFromFuture || !isSignIn(protectedHeader, payload)) return null
      return payload.email_verified === true && typeof payload.email === 'string'
        ? normalizeAccountEmail(payload.email)
        : null
    } catch (error) {
      if (isAboutToken(error)) return null
      throw buildUnavailableError(error)
    }
  },
})
