import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findQueue, maxAttempts } from '../../src/domain/queues.ts'
import contract from '../contract/operations.json' with { type: 'json' }

it('each operation of the contract is described by its name in test/api, or among the slow tests', async () => {
  const listFiles = async (folder: string) => (await readdir(folder)).map((name) => join(folder, name))
  const files = [...(await listFiles('test/api')), ...(await listFiles('test/slow/worker'))]
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const titles = new Set(texts.flatMap((text) => [...text.matchAll(/^describe\('(\w+)'/gm)].map(([, title]) => title)))
  const operations = contract.operations.map(({ operation_id }) => operation_id)
  expect(operations.filter((operation) => !titles.has(operation))).toEqual([])
  expect(operations.length).toBeGreaterThan(0)
})

it('the platform keeps every line of the log, because the Worker chooses which requests it logs', async () => {
  const rates = [...(await readFile('wrangler.toml', 'utf8')).matchAll(/^head_sampling_rate = (.*)$/gm)]
  expect(new Set(rates.map(([, rate]) => rate))).toEqual(new Set(['1']))
})

it('the last attempt of a message is the one after which the platform gives it up', async () => {
  const consumers = (await readFile('wrangler.toml', 'utf8')).split('[[queues.consumers]]').slice(1)
  const retries = consumers.map((text) => [
    /^queue = "(.*)"$/m.exec(text)?.[1],
    /^max_retries = (\d+)$/m.exec(text)?.[1],
  ])
  const attempts = retries.flatMap(([queue = '', count]) =>
    findQueue(queue).isDead ? [] : [[queue, Number(count) + 1]],
  )
  expect(Object.fromEntries(attempts)).toEqual(maxAttempts)
})

async function readSources(folder: string): Promise<{ path: string; text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })))
}

it('every list is in the list.ts of its slice, or of a part of its slice', async () => {
  const sources = await readSources('src')
  const callers = sources.filter(({ path, text }) => path !== 'src/db/paginate.ts' && /\bpaginate\(/.test(text))
  expect(callers.map(({ path }) => path).filter((path) => !/^src\/modules\/.*\/list\.ts$/.test(path))).toEqual([])
  expect(callers.length).toBeGreaterThan(20)
})

it('every message of a queue is made in the enqueue.ts of a slice', async () => {
  const sources = await readSources('src/modules')
  const producers = sources.filter(({ text }) => text.includes('jobQueue.enqueue(')).map(({ path }) => path)
  expect(producers.filter((path) => !path.endsWith('/enqueue.ts'))).toEqual([])
  expect(producers.length).toBeGreaterThanOrEqual(7)
})

/** The operations in the `routes.ts` of a slice, each with the text of the function that handles it. */
function listMountedOperations(text: string): { id: string; handler: string }[] {
  const [, ...mounts] = text.split(/^mount(?:List|File|Stream)?\(\w+, (?:\w+\.)?/m)
  return mounts.map((mount) => ({
    id: /^\w+/.exec(mount)?.[0] ?? '',
    handler: /\b(?:handle|list): (.*(?:\n    .*)*)/.exec(mount)?.[1] ?? '',
  }))
}

it('the function that handles an operation has the name of the operation', async () => {
  const routes = (await readSources('src/modules')).filter(({ path }) => path.endsWith('/routes.ts'))
  const mounted = routes.flatMap(({ text }) => listMountedOperations(text))
  expect(mounted.map(({ id }) => id).toSorted()).toEqual(
    contract.operations.map(({ operation_id }) => operation_id).toSorted(),
  )
  // `get…` answers with what `find…` has loaded for the path, and two lists are constants.
  const comparedOperations = mounted.filter(
    ({ id }) => !/^get[A-Z]|^listTemplateVariables$|^listImportTargetFields$/.test(id),
  )
  expect(
    comparedOperations.filter(({ id, handler }) => !new RegExp(`\\b${id}\\b`).test(handler)).map(({ id }) => id),
  ).toEqual([])
})

it('a test runs every prepared statement', async () => {
  const sources = await readSources('src')
  const names = sources.flatMap(({ text }) => [...text.matchAll(/^(?:export )?const (\w+) = prepare\(/gm)])
  const test = await readFile('test/unit/prepared-statements.test.ts', 'utf8')
  const called = [...test.matchAll(/^ {2}\['(\w+)', /gm)]
  expect(called.map(([, name]) => name).toSorted()).toEqual(names.map(([, name]) => name).toSorted())
  expect(names.length).toBeGreaterThan(5)
})

/** Tables that only one slice reads and writes, as the schema declares them. */
const owners = {
  suppressions: 'src/modules/suppressions/',
  soft_bounces: 'src/modules/suppressions/',
  suppression_hashes: 'src/modules/suppressions/',
}

it.each(Object.entries(owners))('only the slice that owns %s names the table in statements', async (table, owner) => {
  const naming = new RegExp(`\\b(from|into|join|update|table)\\s+${table}\\b`)
  const sources = await readSources('src')
  const paths = sources
    .filter(({ path, text }) => !path.startsWith('src/db/schema/') && naming.test(text))
    .map(({ path }) => path)
  expect(paths.filter((path) => !path.startsWith(owner))).toEqual([])
  expect(paths.length).toBeGreaterThan(0)
})

/** `held`: its calls send, post or pay, and wait while OUTGOING is hold. Other calls read, or stay in this installation. */
const callers: Record<string, 'held' | 'in part' | 'goes on'> = {
  'src/app.ts': 'goes on',
  'src/gateways/dns/https.ts': 'goes on',
  'src/gateways/email/cloudflare.ts': 'held',
  'src/gateways/email/resend-domains.ts': 'goes on',
  'src/gateways/email/resend.ts': 'held',
  'src/gateways/file-scan/file-scan.ts': 'goes on',
  'src/gateways/identity/failure-cache-fetch.ts': 'goes on',
  'src/gateways/passes/apple-push.ts': 'held',
  'src/gateways/passes/google-api.ts': 'in part',
  'src/gateways/passes/google-keys.ts': 'goes on',
  'src/gateways/payments/stripe.ts': 'in part',
  'src/gateways/provider-api/call-api.ts': 'in part',
  'src/gateways/sms/gatewayapi.ts': 'held',
  'src/gateways/webhook-post/fetch-post.ts': 'held',
  'src/http/pages/console.ts': 'goes on',
}

it('each file that calls another service is held while OUTGOING is hold, or it says that it goes on', async () => {
  const callsOthers =
    /\bfetch\(|\bbinding\.send\(|\{[^}]*\b(?:callApi|(?:get|post|patch)Json)\b[^}]*\} from '.*call-api\.ts'/
  const files = (await readSources('src')).filter(({ text }) => callsOthers.test(text)).map(({ path }) => path)
  expect(files.toSorted()).toEqual(Object.keys(callers).toSorted())
})
