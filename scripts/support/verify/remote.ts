import { describeInstallation, firstEnvironment } from '../deploy/configuration.ts'
import { wranglerProgram } from '../paths.ts'
import { startNode } from '../processes.ts'
import { type ReadObjects, readObjectsByApi } from './campaigns.ts'
import type { ListKeys } from './files.ts'
import type { Query } from './query.ts'

/** A statement of D1 may take 30 seconds, and each one starts Wrangler once. */
const rowsAtOnce = 20_000

const noObjects =
  'not known: set PUBLIC_URL to the address of the service and ROOT_TOKEN to its token, and run the command again.'

interface Outcome<Row> {
  results: Row[]
}

/** Runs one statement by Wrangler, with the login or the token that Wrangler uses. */
function createWranglerQuery(configuration: readonly string[]): Query {
  return async function query<Row>(sql: string) {
    const args = [wranglerProgram, 'd1', 'execute', 'DB', '--remote', ...configuration, '--json', '--command', sql]
    let output = ''
    const { code } = await startNode(args, {
      env: { NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false' },
      onOutput: (text) => (output += text),
    }).ended
    if (code !== 0) throw new Error(`The database could not be read:\n${output}`)
    const [result] = JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1)) as Outcome<Row>[]
    return result?.results ?? []
  }
}

const noList =
  'The files are not listed: set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, a token that may read R2, to compare them.'

interface ObjectsPage {
  result: { key: string }[]
  result_info?: { cursor?: string; is_truncated?: boolean }
}

/** Lists the keys of the bucket by the platform's API. Wrangler has no command for it. */
function createBucketList(bucket: string, env: NodeJS.ProcessEnv): ListKeys | string {
  const { CLOUDFLARE_ACCOUNT_ID: account, CLOUDFLARE_API_TOKEN: token } = env
  if (!account || !token) return noList
  const base = env['CLOUDFLARE_API_BASE_URL'] ?? 'https://api.cloudflare.com/client/v4'
  return async function* listKeys(prefix) {
    let cursor = ''
    do {
      const search = new URLSearchParams({ prefix, per_page: '1000', ...(cursor ? { cursor } : {}) })
      const response = await fetch(`${base}/accounts/${account}/r2/buckets/${bucket}/objects?${search}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      if (!response.ok)
        throw new Error(`The files of ${bucket} could not be listed: the platform answered ${response.status}.`)
      const page = (await response.json()) as ObjectsPage
      yield page.result.map(({ key }) => key)
      cursor = page.result_info?.is_truncated ? (page.result_info.cursor ?? '') : ''
    } while (cursor)
  }
}

const readService = (url: string, token: string): ReadObjects =>
  readObjectsByApi(async (path) => {
    const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })
    return { status: response.status, body: (await response.json()) as { count: number } }
  })

/** Opens the database of an installation at Cloudflare. Others than the first have a configuration of their own. */
export function openRemote(environment: string | undefined) {
  const { PUBLIC_URL, ROOT_TOKEN } = process.env
  const { bucketName, configFile } = describeInstallation(environment ?? firstEnvironment)
  return {
    query: createWranglerQuery(environment === undefined ? [] : ['--config', configFile]),
    size: rowsAtOnce,
    files: createBucketList(bucketName, process.env),
    readObjects: PUBLIC_URL && ROOT_TOKEN ? readService(PUBLIC_URL, ROOT_TOKEN) : noObjects,
  }
}
