/** Verifies bearer tokens of an identity provider. */
export interface IdentityProvider {
  /** Returns the e-mail address that a valid token proves, in lower case, and null for any other token. */
  verifyEmail(token: string, now: number): Promise<string | null>
}
