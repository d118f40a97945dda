import type { Command } from 'commander'
import { text as readAll } from 'node:stream/consumers'
import { createClient } from '../../src/index.ts'
import { askText, canAsk } from '../ask.ts'
import { openContext, openOutput, readGlobals } from '../context.ts'
import { findConnection, forgetLogin, storeLogin } from '../credentials.ts'
import { UsageError } from '../errors.ts'

async function ask(question: string): Promise<string> {
  if (!canAsk()) throw new UsageError('Without a terminal, pass a token: `ecm login --token - < file`.')
  return askText(question)
}

async function signInByCode(url: string, email: string): Promise<string> {
  const client = createClient({ url })
  const { data } = await client.POST('/v1/auth/sign-in-codes', { body: { email } })
  const code = await ask(`The code of 8 digits that was sent to ${email}`)
  const session = await client.POST('/v1/auth/sessions', {
    body: { request_id: data.request_id, code: code.replaceAll(/\D/g, '') },
  })
  return session.data.token
}

async function findToken(url: string, { token, email }: { token?: string; email?: string }): Promise<string> {
  if (token === '-') return (await readAll(process.stdin)).trim()
  if (token !== undefined) return token
  return signInByCode(url, email ?? (await ask('Your e-mail address')))
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('Sign in with a code by e-mail, or store a token')
    .option('--email <address>', 'where the code is sent')
    .addHelpText(
      'after',
      `
The token is stored in a file that only you can read, and is sent to this address alone. A session by a code lasts 12 hours.

Examples:
  ecm login --url https://api.example.com
  ecm login --url https://api.example.com --token - < token.txt`,
    )
    .action(async (options: { email?: string }, command: Command) => {
      const globals = readGlobals(command)
      const { url } = await findConnection({ url: globals.url, token: 'none' })
      const token = await findToken(url, { ...globals, ...options })
      if (token === '') throw new UsageError('The token is empty.')
      const { data } = await createClient({ url, token }).GET('/v1/auth/user-info')
      const path = await storeLogin({ url, token })
      openOutput(command).note(`Signed in at ${url} as ${data.email ?? 'superuser'}. The token is in ${path}.`)
    })
  program
    .command('logout')
    .description('End the session and forget its token')
    .addHelpText(
      'after',
      '\nAn access token stays valid: `ecm api revokeAccessToken id=…` ends it.\n\nExample:\n  ecm logout',
    )
    .action(async (_options: object, command: Command) => {
      const { client, connection, output } = await openContext(command)
      if (connection.isDevelopment)
        throw new UsageError('This is the login of the local server of this folder. It ends when the server ends.')
      const { data } = await client.GET('/v1/auth/tokens', { params: { query: {} } }).catch(() => ({ data: null }))
      const session = data?.results.find(
        ({ kind, prefix }) => kind === 'session' && connection.token?.startsWith(prefix),
      )
      if (session) await client.DELETE('/v1/auth/tokens/{id}', { params: { path: { id: session.id } } })
      await forgetLogin(connection.url)
      output.note(`Signed out of ${connection.url}.`)
    })
}
