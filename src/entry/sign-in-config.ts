import type { Config } from '../context.ts'
import { type SignInMethod, signInMethods } from '../domain/accounts/sign-in.ts'
import { noProvider } from '../domain/messaging/messaging.ts'
import type { Bindings } from '../http/env.ts'

const isTeamDomain = (text: string): boolean => /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,5}$/.test(text)

function readAccess({
  CF_ACCESS_TEAM_DOMAIN: teamDomain,
  CF_ACCESS_AUDIENCE: audience,
}: Bindings): Config['signIn']['access'] {
  if (!teamDomain && !audience) return null
  if (!teamDomain) throw new Error('CF_ACCESS_TEAM_DOMAIN is not set. CF_ACCESS_AUDIENCE requires it.')
  if (!audience) throw new Error('CF_ACCESS_AUDIENCE is not set. CF_ACCESS_TEAM_DOMAIN requires it.')
  if (!isTeamDomain(teamDomain))
    throw new Error(`CF_ACCESS_TEAM_DOMAIN is "${teamDomain}". It must look like example.cloudflareaccess.com.`)
  return { teamDomain, audience }
}

/** Null: SIGN_IN_METHODS is empty. */
function readAllowedMethods(text: string): SignInMethod[] | null {
  if (text.trim() === '') return null
  return text.split(',').map((part) => {
    const method = signInMethods.find((name) => name === part.trim())
    if (method) return method
    throw new Error(
      `SIGN_IN_METHODS is "${text}". It must be a list of ${signInMethods.join(', ')}, separated by commas.`,
    )
  })
}

/** What a method requires that cannot come later. Without a provider of e-mails codes only wait for one. */
const requiredVariables = { oidc: 'OIDC_ISSUER', access: 'CF_ACCESS_TEAM_DOMAIN' } as const

/** Reads how members can sign in. */
export function readSignIn(
  env: Bindings,
  { oidc, email, linkSigningKey }: Pick<Config, 'oidc' | 'email' | 'linkSigningKey'>,
): Config['signIn'] {
  const access = readAccess(env)
  const isConfigured: Record<SignInMethod, boolean> = {
    code: email.name !== noProvider && linkSigningKey !== '',
    link: true,
    oidc: oidc !== null,
    access: access !== null,
  }
  const allowedMethods = readAllowedMethods(env.SIGN_IN_METHODS || '')
  for (const method of ['oidc', 'access'] as const)
    if (allowedMethods?.includes(method) && !isConfigured[method])
      throw new Error(`${requiredVariables[method]} is not set. SIGN_IN_METHODS=${method} requires it.`)
  return {
    methods: signInMethods.filter((method) => isConfigured[method] && (allowedMethods?.includes(method) ?? true)),
    clientId: env.OIDC_CLIENT_ID || null,
    access,
  }
}
