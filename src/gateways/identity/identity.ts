/** Verifies bearer tokens of an identity provider. */
export interface IdentityProvider {
  /** The verified e-mail address of a valid token, in lower case; null for any other token. */
  verifiedEmail(token: string, now: number): Promise<string | null>
}
