import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const clientId = 'console-of-the-tests'

interface Grant {
  email: string
  redirectUri: string
  challenge: string
  nonce: string | null
}

const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** A page on which a person says who they are. It sends the parameters of the request along. */
const buildForm = (query: URLSearchParams): string => {
  const fields = [...query].map(
    ([name, value]) => `<input type="hidden" name="${escapeAttribute(name)}" value="${escapeAttribute(value)}">`,
  )
  return `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Identity provider</title>
    <form method="post" action="/approve">${fields.join('')}
      <label>Your address <input name="person"></label>
      <button name="answer" value="yes">Continue</button> <button name="answer" value="no">Refuse</button>
    </form></html>`
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return new URLSearchParams(text)
}

/** Starts an OpenID Connect issuer on this machine, which believes everybody and insists on PKCE. */
export async function startIssuer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const keys = await generateKeyPair('RS256')
  const publicKey = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const grants = new Map<string, Grant>()
  let url = ''

  const sendJson = (response: ServerResponse, body: object, status = 200) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      .end(JSON.stringify(body))

  function approve(form: URLSearchParams, response: ServerResponse): void {
    const redirectUri = form.get('redirect_uri') ?? ''
    const answer = new URL(redirectUri)
    answer.searchParams.set('state', form.get('state') ?? '')
    answer.searchParams.set('iss', url)
    if (form.get('answer') === 'no') answer.searchParams.set('error', 'access_denied')
    else {
      const code = randomUUID()
      const challenge = form.get('code_challenge_method') === 'S256' ? (form.get('code_challenge') ?? '') : ''
      grants.set(code, { email: form.get('person') ?? '', redirectUri, challenge, nonce: form.get('nonce') })
      answer.searchParams.set('code', code)
    }
    response.writeHead(302, { location: answer.href }).end()
  }

  async function exchange(form: URLSearchParams, response: ServerResponse): Promise<unknown> {
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      grant !== undefined &&
      grant.challenge === challenge &&
      grant.redirectUri === form.get('redirect_uri') &&
      form.get('client_id') === clientId
    if (!isRight) return sendJson(response, { error: 'invalid_grant' }, 400)
    const now = Math.floor(Date.now() / 1000)
    const claims = { email: grant.email, email_verified: true, nonce: grant.nonce, auth_time: now, sub: grant.email }
    const token = await new SignJWT({ ...claims, iss: url, aud: clientId, iat: now, exp: now + 300 })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(keys.privateKey)
    return sendJson(response, { token_type: 'Bearer', access_token: 'opaque', id_token: token, expires_in: 300 })
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (pathname === '/.well-known/openid-configuration')
      return sendJson(response, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
      })
    if (pathname === '/keys') return sendJson(response, { keys: [publicKey] })
    if (pathname === '/authorize')
      return response.writeHead(200, { 'content-type': 'text/html' }).end(buildForm(searchParams))
    if (pathname === '/approve') return void readForm(request).then((form) => approve(form, response))
    if (pathname === '/token') return void readForm(request).then((form) => exchange(form, response))
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url, stop }
}
