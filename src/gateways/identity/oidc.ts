import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { normalizeAccountEmail } from '../../domain/accounts/users.ts'
import { AppError } from '../../domain/errors.ts'
import { fetchWithFailureCache, ProviderFailure } from './failure-cache-fetch.ts'
import type { IdentityProvider, IdentityProviders } from './identity.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const keyCacheMs = 600_000
const clockToleranceSeconds = 60

const isObject = (json: unknown): json is Record<string, unknown> => typeof json === 'object' && json !== null

const isDiscovery = (json: unknown): json is { jwks_uri: string } =>
  isObject(json) && typeof json['jwks_uri'] === 'string' && URL.canParse(json['jwks_uri'])

const isKeySet = (json: unknown): json is { keys: object[] } =>
  isObject(json) && Array.isArray(json['keys']) && json['keys'].every(isObject)

/** Keys by their source, in this isolate. An unknown key id is fetched at once. */
const keysBySource = new Map<string, JWTVerifyGetKey>()

async function loadKeys(source: string, findAddress: () => Promise<string>): Promise<JWTVerifyGetKey> {
  const cachedKeys = keysBySource.get(source)
  if (cachedKeys) return cachedKeys
  const keys = createRemoteJWKSet(new URL(await findAddress()), {
    cacheMaxAge: keyCacheMs,
    [customFetch]: async (url) => Response.json(await fetchWithFailureCache(url, isKeySet)),
  })
  keysBySource.set(source, keys)
  return keys
}

const discover = (issuer: string): Promise<JWTVerifyGetKey> =>
  loadKeys(issuer, async () => {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    return (await fetchWithFailureCache(address, isDiscovery)).jwks_uri
  })

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

type Claims = JWTPayload & Readonly<Record<string, unknown>>

interface ProviderOptions {
  issuer: string
  audience: string | string[]
  loadKeys: () => Promise<JWTVerifyGetKey>
  /** The address that the claims prove. Null: they prove none. */
  readEmail: (claims: Claims, header: { typ?: unknown }) => string | null
}

/** A provider renews tokens without a new sign-in, so `iat` does not say when the person authenticated. */
function readAuthenticationTime({ auth_time }: Claims, now: number): number | null {
  if (typeof auth_time !== 'number' || auth_time < 0 || auth_time > now / 1000 + clockToleranceSeconds) return null
  return Math.floor(auth_time * 1000)
}

const createProvider = ({ loadKeys: load, readEmail, issuer, audience }: ProviderOptions): IdentityProvider => ({
  async verify(token, now) {
    try {
      const { payload, protectedHeader } = await jwtVerify<Record<string, unknown>>(token, await load(), {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'exp'],
      })
      if ((payload.iat ?? 0) > now / 1000 + clockToleranceSeconds) return null
      const text = readEmail(payload, protectedHeader)
      const email = text === null ? null : normalizeAccountEmail(text)
      return email === null ? null : { email, authenticated_at: readAuthenticationTime(payload, now) }
    } catch (error) {
      if (isAboutToken(error)) return null
      throw buildUnavailableError(error)
    }
  },
})

/** Verifies tokens of an OpenID Connect issuer for one of these audiences. */
const createOidcProvider = (issuer: string, audience: string[]): IdentityProvider =>
  createProvider({
    issuer,
    audience,
    loadKeys: () => discover(issuer),
    readEmail: (claims, header) =>
      isSignIn(header, claims) && claims['email_verified'] === true && typeof claims['email'] === 'string'
        ? claims['email']
        : null,
  })

/**
 * Verifies the assertions of Cloudflare Access for one application. Access has authenticated the address itself. Tokens of
 * services have no address.
 */
function createAccessProvider({ teamDomain, audience }: { teamDomain: string; audience: string }): IdentityProvider {
  const issuer = `https://${teamDomain}`
  const keysUrl = `${issuer}/cdn-cgi/access/certs`
  return createProvider({
    issuer,
    audience,
    loadKeys: () => loadKeys(keysUrl, async () => keysUrl),
    readEmail: ({ type = 'app', email }) => (type === 'app' && typeof email === 'string' ? email : null),
  })
}

interface IdentityConfig {
  oidc: { issuer: string; audience: string } | null
  signIn: { clientId: string | null; access: { teamDomain: string; audience: string } | null }
}

export const createIdentityProviders = ({ oidc, signIn }: IdentityConfig): IdentityProviders => ({
  bearer: oidc && createOidcProvider(oidc.issuer, [oidc.audience]),
  oidc:
    oidc && createOidcProvider(oidc.issuer, [oidc.audience, ...(signIn.clientId === null ? [] : [signIn.clientId])]),
  access: signIn.access && createAccessProvider(signIn.access),
})
