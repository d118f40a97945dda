import { loadWords } from '../../words'

const authWords = await loadWords('auth')

/** The memory of the tab while the person is at the identity provider. */
interface Started {
  state: string
  verifier: string
  nonce: string
  to: string
}

interface Provider {
  issuer: string
  authorization_endpoint: string
  token_endpoint: string
}

/** The answer comes to the tab that asked, and to no other: another tab does not know the state. */
const key = 'ecm-identity-provider'
const randomBytes = 32

const toBase64Url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
const createSecret = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(randomBytes)))
const getAnswerAddress = (): string => `${location.origin}/console/sign-in`

/** A session lasts as long. With it, the provider says when the person signed in. */
const maxAgeSeconds = 12 * 60 * 60

/** The provider is somebody else's service, so its answer can be anything. */
async function loadJson<Body>(address: string, init?: RequestInit): Promise<Partial<Body>> {
  try {
    const response = await fetch(address, init)
    if (response.ok) return (await response.json()) as Partial<Body>
  } catch {
    // The same as an answer that is of no use.
  }
  throw new Error(authWords.providerFailed)
}

async function loadProvider(issuer: string): Promise<Provider> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const provider = (await loadJson<Provider>(address)) as Provider
  // Otherwise the document of another provider could name where the code goes.
  if (provider.issuer !== issuer) throw new Error(authWords.providerFailed)
  return provider
}

/** Leaves for the identity provider, with PKCE, state and nonce. */
export async function leaveForProvider(issuer: string, clientId: string, to: string): Promise<void> {
  const { authorization_endpoint } = await loadProvider(issuer)
  const started: Started = { state: createSecret(), verifier: createSecret(), nonce: createSecret(), to }
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(started.verifier))
  sessionStorage.setItem(key, JSON.stringify(started))
  const address = new URL(authorization_endpoint)
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: getAnswerAddress(),
    scope: 'openid email',
    state: started.state,
    nonce: started.nonce,
    code_challenge: toBase64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    max_age: String(maxAgeSeconds),
  }))
    address.searchParams.set(name, value)
  location.assign(address)
}

/** The answer of the provider can be used once. */
function takeStarted(): Started | null {
  const text = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return text === null ? null : (JSON.parse(text) as Started)
}

const readClaims = (token: string): { nonce?: string } => {
  const payload = token.split('.')[1] ?? ''
  const bytes = Uint8Array.fromBase64(payload, { alphabet: 'base64url' })
  return JSON.parse(new TextDecoder().decode(bytes)) as { nonce?: string }
}

/** Exchanges the code of the answer for an ID token, which the service verifies. */
export async function readAnswer(
  answer: URLSearchParams,
  issuer: string,
  clientId: string,
): Promise<{ token: string; to: string }> {
  const started = takeStarted()
  if (started === null || started.state !== answer.get('state')) throw new Error(authWords.otherTab)
  const sender = answer.get('iss')
  if (sender !== null && sender !== issuer) throw new Error(authWords.providerFailed)
  const code = answer.get('code')
  if (code === null)
    throw new Error(answer.get('error') === 'access_denied' ? authWords.providerRefused : authWords.providerFailed)
  const { token_endpoint } = await loadProvider(issuer)
  const { id_token: token } = await loadJson<{ id_token: string }>(token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: getAnswerAddress(),
      client_id: clientId,
      code_verifier: started.verifier,
    }),
  })
  if (token === undefined || readClaims(token).nonce !== started.nonce) throw new Error(authWords.providerFailed)
  return { token, to: started.to }
}
