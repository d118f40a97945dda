import type { Config, Ctx } from '../../context.ts'
import type { SignInMethod } from '../../domain/accounts/sign-in.ts'
import { AppError } from '../../domain/errors.ts'

const descriptions: Readonly<Record<SignInMethod, string>> = {
  code: 'by a code',
  link: 'by a link',
  oidc: 'with a token of an identity provider',
  access: 'through Cloudflare Access',
}

export interface AuthMethodsState {
  methods: SignInMethod[]
  issuer: string | null
  client_id: string | null
}

/** Tokens of the issuer are exchanged only if the method is allowed, so others need not know the issuer. */
export async function listAuthMethods({ config }: Ctx): Promise<AuthMethodsState> {
  const { methods, clientId } = config.signIn
  const issuer = methods.includes('oidc') ? (config.oidc?.issuer ?? null) : null
  return { methods: [...methods], issuer, client_id: issuer === null ? null : clientId }
}

/** Refuses a way to sign in that is not configured, or that the operator does not allow. */
export function requireMethod({ signIn }: Config, method: SignInMethod): void {
  const { methods } = signIn
  if (methods.includes(method)) return
  const others = methods.length === 0 ? '' : ` Use one of: ${methods.join(', ')}.`
  throw new AppError('sign_in_method_unavailable', `You cannot sign in here ${descriptions[method]}.${others}`, {
    extra: { methods },
  })
}
