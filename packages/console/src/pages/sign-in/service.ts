import { type components, createClient } from '@event-commerce/client'

export type Methods = components['schemas']['AuthMethods']

/** Calls without a token. They are not in the list of calls, because their bodies are secrets. */
const service = createClient({ url: location.origin })

/** Names sessions of the console in lists of tokens. */
const name = 'Console'

export const loadMethods = async (): Promise<Methods> => (await service.GET('/v1/auth/methods')).data

export const requestCode = async (email: string, language: 'en' | 'da' | 'se' | 'nl' | 'pl') =>
  (await service.POST('/v1/auth/sign-in-codes', { body: { email, language } })).data

/** Without a secret, the header of Cloudflare Access signs in. */
export async function openSession(
  secret: { request_id: string; code: string } | { link: string } | { identity_token: string } | object,
): Promise<string> {
  const { data } = await service.POST('/v1/auth/sessions', { body: { ...secret, name } })
  return data.token
}

/** Tells whose token it is. Throws if the service does not accept it. */
export const loadPerson = async (token: string) =>
  (await createClient({ url: location.origin, token }).GET('/v1/auth/user-info')).data
