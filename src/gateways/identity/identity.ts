export interface VerifiedIdentity {
  /** In lower case. */
  email: string
  /** When the person authenticated, in milliseconds UTC. Null: the token does not say it. */
  authenticated_at: number | null
}

/** Verifies tokens of an identity provider. */
export interface IdentityProvider {
  /** Returns what a valid token proves, and null for any other token. */
  verify(token: string, now: number): Promise<VerifiedIdentity | null>
}

/** The configured identity providers. */
export interface IdentityProviders {
  /** Verifies access tokens of the OpenID Connect issuer, which every operation accepts. */
  bearer: IdentityProvider | null
  /** Verifies what can be exchanged for a session: the same tokens, and ID tokens for the console. */
  oidc: IdentityProvider | null
  /** Verifies the assertion that Cloudflare Access adds to requests. */
  access: IdentityProvider | null
}
