import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { describeInstallation, firstEnvironment, type Installation } from '../deploy/configuration.ts'
import { chooseAccount, createPlatform, loadCredentials, type Platform, PlatformError } from '../deploy/platform.ts'
import { type ReadObjects, readObjectsByApi } from './campaigns.ts'
import type { ListKeys } from './files.ts'
import type { Place } from './place.ts'
import type { Query } from './query.ts'

/** A statement of D1 may take 30 seconds. */
const rowsAtOnce = 20_000
const keysAtOnce = 1000

const noObjects =
  'not known. Set PUBLIC_URL to the address of the service and ROOT_TOKEN to its token, and run the command again.'

/** Finds the database by its name, as Wrangler does. */
async function createQuery(platform: Platform, account: string, installation: Installation): Promise<Query> {
  const { databaseName, environment } = installation
  const path = `${account}/d1/database`
  const databases = await platform.list<{ uuid: string; name: string }>(
    `${path}?per_page=100&name=${encodeURIComponent(databaseName)}`,
  )
  const database = databases.find(({ name }) => name === databaseName)
  if (!database)
    throw new Error(
      `The account has no database ${databaseName}. ${environment === firstEnvironment ? 'npm run deploy' : `npm run deploy -- --env ${environment}`} makes it.`,
    )
  return async function query<Row>(sql: string) {
    const [outcome] = await platform.call<{ results: Row[] }[]>('POST', `${path}/${database.uuid}/query`, { sql })
    return outcome?.results ?? []
  }
}

/** Lists the bucket by the platform's API, for which Wrangler has no command. */
async function createBucketList(platform: Platform, account: string, bucket: string): Promise<ListKeys | string> {
  const path = `${account}/r2/buckets/${bucket}/objects`
  try {
    await platform.call('GET', `${path}?per_page=1`)
  } catch (error) {
    if (!(error instanceof PlatformError) || ![401, 403].includes(error.status)) throw error
    return 'The files are not listed, because the login or CLOUDFLARE_API_TOKEN may not read R2.'
  }
  return async function* listKeys(prefix) {
    const search = new URLSearchParams({ prefix, per_page: String(keysAtOnce) })
    for await (const page of platform.walk<{ key: string }>(`${path}?${search.toString()}`))
      yield page.map(({ key }) => key)
  }
}

const readService = (url: string, token: string): ReadObjects =>
  readObjectsByApi(async (path) => {
    for (;;) {
      const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })
      const body = (await response.json()) as { count: number }
      if (response.status !== 429) return { status: response.status, body }
      await wait(Number(response.headers.get('retry-after') ?? 1) * 1000)
    }
  })

/** Reads a value of a JSON file that deploying has written. */
function readText(file: string, ...names: string[]): string | undefined {
  if (!existsSync(file)) return undefined
  let value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  for (const name of names) value = (value as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Opens the database of an installation at Cloudflare. */
export async function openRemote(environment = firstEnvironment): Promise<Place> {
  const installation = describeInstallation(environment)
  const platform = createPlatform(await loadCredentials())
  const { id } = await chooseAccount(platform, installation.file.account_id)
  const account = `/accounts/${id}`
  const url = process.env['PUBLIC_URL'] ?? readText(installation.configFile, 'vars', 'PUBLIC_URL')
  const token = process.env['ROOT_TOKEN'] ?? readText(installation.secretsFile, 'ROOT_TOKEN')
  return {
    query: await createQuery(platform, account, installation),
    size: rowsAtOnce,
    files: await createBucketList(platform, account, installation.bucketName),
    readObjects: url && token ? readService(url, token) : noObjects,
  }
}
