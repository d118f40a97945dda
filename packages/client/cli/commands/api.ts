import type { Command } from 'commander'
import { closest } from 'fastest-levenshtein'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Context, openContext, openOutput } from '../context.ts'
import { UsageError } from '../errors.ts'
import { findOperation, type Operation, operationTable } from '../operations.ts'
import { openByteOutput, toJson } from '../output.ts'

interface Input {
  path: Record<string, string>
  query: Record<string, string | string[]>
  body: Record<string, unknown>
}

const pathNames = ({ path }: Operation): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Sorts `name=value` (a text) and `name:=value` (JSON) into the parts of a request. */
function readInput(operation: Operation, words: readonly string[]): Input {
  const input: Input = { path: {}, query: {}, body: {} }
  const names = pathNames(operation)
  for (const word of words) {
    const [, name = '', isJson, value = ''] = /^([^:=]+)(:?)=(.*)$/s.exec(word) ?? []
    if (name === '') throw new UsageError(`"${word}" has to be name=value, or name:=value for JSON.`)
    if (names.includes(name)) input.path[name] = value
    else if (operation.query.includes(name)) input.query[name] = joinValues(input.query[name], value)
    else if (operation.fields.includes(name)) input.body[name] = isJson ? parseJson(name, value) : value
    else throw new UsageError(describeUnknown(operation, name))
  }
  const missing = names.filter((name) => !input.path[name])
  if (missing.length > 0) throw new UsageError(`Add ${missing.map((name) => `${name}=…`).join(' ')}.`)
  return input
}

const joinValues = (before: string | string[] | undefined, value: string): string | string[] =>
  before === undefined ? value : [before, value].flat()

function parseJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value) as unknown
  } catch {
    throw new UsageError(`The value of ${name} is not JSON. For a text write ${name}=${value}.`)
  }
}

function describeUnknown(operation: Operation, name: string): string {
  const names = [...pathNames(operation), ...operation.query, ...operation.fields]
  if (names.length === 0) return `The operation takes no ${name}, and nothing else.`
  return `The operation takes no ${name}. Did you mean ${closest(name, names)}? It takes ${names.join(', ')}.`
}

const types: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.avif': 'image/avif',
  '.zip': 'application/zip',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/** Reads the body of `-d`: JSON, `@file`, or `-` for stdin. */
async function readBody(data: string): Promise<Uint8Array> {
  if (data === '-') return Uint8Array.from(await buffer(process.stdin))
  if (!data.startsWith('@')) return new TextEncoder().encode(data)
  const path = data.slice(1)
  return Uint8Array.from(
    await readFile(path).catch((error: unknown) => {
      throw new UsageError(`${path} cannot be read.`, { cause: error })
    }),
  )
}

interface ApiOptions {
  data?: string
  all?: boolean
  ifMatch?: string
  idempotencyKey?: string
}

type Caller = (path: string, init: object) => Promise<{ data: unknown; response: Response }>

async function buildInit(operation: Operation, input: Input, { data, ifMatch, idempotencyKey }: ApiOptions) {
  const hasFields = Object.keys(input.body).length > 0
  if (data !== undefined && hasFields) throw new UsageError('Give the body with -d or with names, and not with both.')
  const headers: Record<string, string> = {
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  }
  const params = { path: input.path, query: input.query }
  const parseAs = operation.file === undefined ? 'json' : 'stream'
  if (data === undefined) return { params, headers, parseAs, ...(hasFields ? { body: input.body } : {}) }
  const body = await readBody(data)
  const extension = data.startsWith('@') ? extname(data).toLowerCase() : ''
  const type = operation.upload ? (types[extension] ?? 'application/octet-stream') : 'application/json'
  return { params, headers: { ...headers, 'Content-Type': type }, body, bodySerializer: () => body, parseAs }
}

async function printStream(data: unknown): Promise<void> {
  const write = openByteOutput()
  for await (const chunk of data as ReadableStream<Uint8Array>) await write(chunk)
}

interface Page {
  next: string | null
  results: Record<string, unknown>[]
}

const isPage = (data: unknown): data is Page =>
  typeof data === 'object' && data !== null && 'results' in data && 'next' in data && Array.isArray(data.results)

/** Prints all pages: a table for each on a terminal, or one array of JSON that begins before the last page is read. */
async function printAll(call: Caller, { path }: Operation, init: object, { output }: Context): Promise<void> {
  let isFirst = true
  if (!output.isTable) process.stdout.write('[')
  for (let next: string | null = ''; next !== null;) {
    const search: string = next === '' ? '' : new URL(next).searchParams.toString()
    const { data } = await call(path, search === '' ? init : { ...init, querySerializer: () => search })
    const page = data as Page
    if (output.isTable) output.rows(page.results)
    else
      for (const item of page.results) {
        process.stdout.write(`${isFirst ? '\n' : ',\n'}${toJson(item)}`)
        isFirst = false
      }
    next = page.next
  }
  if (!output.isTable) process.stdout.write('\n]\n')
}

async function callOperation(name: string, words: readonly string[], options: ApiOptions, command: Command) {
  const operation = findOperation(name)
  if (options.all && !operation.isList) throw new UsageError('--all is for operations that list.')
  const input = readInput(operation, words)
  const init = await buildInit(operation, input, options)
  const context = await openContext(command)
  const { client, output } = context
  const method = operation.method.toUpperCase() as keyof typeof client
  const call = client[method] as unknown as Caller
  const progress = output.progress('Waiting for the answer')
  try {
    if (options.all) return await printAll(call, operation, init, context)
    const { data } = await call(operation.path, init)
    progress.stop()
    if (operation.file) return await printStream(data)
    if (data === undefined) return output.note('Done.')
    if (!isPage(data) || !output.isTable) return output.object(data)
    output.rows(data.results)
    if (data.next !== null) output.note('There are more pages: add --all, or page=2.')
  } finally {
    progress.stop()
  }
}

const listOperations = (command: Command): void => {
  openOutput(command).rows(
    Object.entries(operationTable).map(([id, { method, path, summary }]) => ({
      id,
      call: `${method.toUpperCase()} ${path}`,
      summary,
    })),
    ['id', 'call', 'summary'],
  )
}

export function addApi(program: Command): void {
  program
    .command('api')
    .description('Call any operation of the API; without an operation, list them')
    .argument('[operation]', 'id of the operation, such as listOrders')
    .argument('[input...]', 'name=value for a text, name:=value for JSON')
    .option('-d, --data <body>', 'body of the request: JSON, @file, or - for stdin')
    .option('--all', 'follow all pages of a list')
    .option('--if-match <etag>', 'change only what still has this ETag')
    .option('--idempotency-key <key>', 'makes the call safe to repeat later')
    .addHelpText(
      'after',
      `
Examples:
  ecm api listOrders edition_id=edt_… ordering=-created
  ecm api listOrders edition_id=edt_… --all --json > orders.json
  ecm api updateCampaign id=cmp_… name="Late birds"
  ecm api createSegment -d @segment.json
  ecm api exportUser id=usr_… > person.json`,
    )
    .action(async (name: string | undefined, words: string[], options: ApiOptions, command: Command) => {
      if (name === undefined) listOperations(command)
      else await callOperation(name, words, options, command)
    })
}
