import type { Command } from 'commander'
import { type Client, createClient } from '../src/index.ts'
import { type Connection, findConnection } from './credentials.ts'
import { UsageError } from './errors.ts'
import { createOutput, type Output } from './output.ts'

export interface Context {
  client: Client
  connection: Connection
  output: Output
}

interface GlobalOptions {
  url?: string
  token?: string
  json?: boolean
}

export const readGlobals = (command: Command): GlobalOptions => command.optsWithGlobals()

export const openOutput = (command: Command): Output => createOutput({ json: readGlobals(command).json === true })

/** Finds the address and the token of a command, and makes its client. */
export async function openContext(command: Command): Promise<Context> {
  const { url, token } = readGlobals(command)
  if (token === '-') throw new UsageError('Only `ecm login` reads the token from stdin.')
  const connection = await findConnection({ url, token })
  if (connection.token === null)
    throw new UsageError(`You are not signed in at ${connection.url}. Run \`ecm login --url ${connection.url}\`.`)
  // A person waits.
  const client = createClient({ url: connection.url, token: connection.token, maxRetries: 3 })
  return { client, connection, output: openOutput(command) }
}
