import type { Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { openContext, openOutput } from '../context.ts'
import { UsageError } from '../errors.ts'
import { explainSignature, type SignedRequest } from '../verify/explain.ts'

interface VerifyOptions {
  secret?: string
  headers?: string
  body?: string
  webhook?: string
  delivery?: string
  anyTime?: boolean
}

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

const readFileOf = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read.`, { cause: error })
  })

function parseJson(text: string): object {
  try {
    return JSON.parse(text) as object
  } catch {
    throw new UsageError('The headers are neither JSON nor lines such as webhook-id: evn_….')
  }
}

/** Reads headers as JSON, or as lines of `name: value`. */
function parseHeaders(text: string): Record<string, string> {
  const entries: [string, unknown][] = text.trimStart().startsWith('{')
    ? Object.entries(parseJson(text))
    : text.split(/\r?\n/).map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1)]
      })
  return Object.fromEntries(entries.map(([name, value]) => [name.trim().toLowerCase(), String(value).trim()]))
}

async function readRequest({ headers: path = '', body }: VerifyOptions): Promise<SignedRequest> {
  const fields = parseHeaders(await readFileOf(path))
  const missing = names.filter((name) => !fields[name])
  if (missing.length > 0) throw new UsageError(`${path} lacks ${missing.join(', ')}.`)
  const [id = '', timestamp = '', signature = ''] = names.map((name) => fields[name])
  return { id, timestamp, signature, body: body === undefined ? await readAll(process.stdin) : await readFileOf(body) }
}

/** Loads the latest attempt of a delivery, as it was sent. */
async function loadRequest(webhook: string, delivery: string, command: Command): Promise<SignedRequest> {
  const { client } = await openContext(command)
  const path = { id: webhook, delivery_id: delivery }
  const { data } = await client.GET('/v1/webhooks/{id}/deliveries/{delivery_id}', { params: { path } })
  if (data.signed_at === null) throw new UsageError('The delivery was not sent yet.')
  const timestamp = String(Math.floor(Date.parse(data.signed_at) / 1000))
  return { id: data.event_id, timestamp, signature: data.signature, body: data.payload }
}

async function verify(options: VerifyOptions, command: Command): Promise<void> {
  const { webhook, delivery, headers, body, anyTime = false } = options
  const secret = options.secret ?? process.env['WEBHOOK_SECRET']
  if (!secret) throw new UsageError('Say with --secret or WEBHOOK_SECRET which secret your receiver has.')
  if ((delivery === undefined) !== (webhook === undefined))
    throw new UsageError('A delivery is named by --webhook and --delivery together.')
  if ((delivery === undefined) === (headers === undefined))
    throw new UsageError('Give the headers of a request with --headers, or name a delivery.')
  const sent = delivery === undefined ? null : await loadRequest(webhook ?? '', delivery, command)
  const request =
    sent === null ? await readRequest(options) : { ...sent, body: body ? await readFileOf(body) : sent.body }
  const reasons = explainSignature(secret.trim(), request, {
    isAnyTime: anyTime || sent !== null,
    sentBody: sent?.body,
  })
  const { id, timestamp } = request
  const output = openOutput(command)
  output.object({ valid: reasons.length === 0, id, timestamp, reasons })
  if (reasons.length === 0) return
  for (const reason of reasons) output.note(reason)
  process.exitCode = 1
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('Check the signature of a webhook, and say why it is wrong')
    .option('--secret <secret>', 'secret of the endpoint, whsec_… (WEBHOOK_SECRET)')
    .option('--headers <file>', 'headers of the request, as lines or as JSON')
    .option('--body <file>', 'body of the request, as it was received; stdin by default')
    .option('--webhook <id>', 'endpoint of the delivery to check')
    .option('--delivery <id>', 'delivery to check instead of a request; --body compares what you received with it')
    .option('--any-time', 'accept a signature that is older than five minutes')
    .addHelpText(
      'after',
      `
Examples:
  ecm verify --secret whsec_… --headers headers.txt < body.json
  ecm verify --headers headers.txt --body body.json --any-time
  ecm verify --webhook whk_… --delivery whd_… --body received.json`,
    )
    .action((options: VerifyOptions, command: Command) => verify(options, command))
}
